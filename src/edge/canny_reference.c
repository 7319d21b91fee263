#include "edge/canny_reference.h"

#include <stdlib.h>

#include "edge/auto_arith.h"
#include "edge/canny_arith.h"

enum mark { MARK_NONE, MARK_CANDIDATE, MARK_EDGE };

struct work {
    const struct ec_plan *plan;
    const int32_t *const *pixels;
    int channels;
    struct ec_canny_thresholds thresholds;
    int width, height;
    int64_t *magnitudes;
    uint8_t *directions, *marks;
    size_t *edges; /* those whose neighbours are still to be looked at */
    size_t edge_count;
};

static size_t place(const struct work *w, int x, int y)
{
    return (size_t)y * (size_t)w->width + (size_t)x;
}

static bool inside(const struct work *w, int x, int y)
{
    return x >= 0 && x < w->width && y >= 0 && y < w->height;
}

static int64_t magnitude_at(const struct work *w, int x, int y)
{
    return inside(w, x, y) ? w->magnitudes[place(w, x, y)] : 0;
}

static void gradient_at(const struct work *w, const int32_t *pixels, int x, int y, int32_t *gx, int32_t *gy)
{
    const struct ec_gradient_taps *taps = &w->plan->gradient;
    const int before = taps->size / 2;
    int32_t window[49];
    for (int j = 0; j < taps->size; j++)
        for (int i = 0; i < taps->size; i++)
            window[j * taps->size + i] = pixels[place(w, ec_border_index(x + i - before, w->width, EC_BORDER_REPLICATE),
                                                      ec_border_index(y + j - before, w->height, EC_BORDER_REPLICATE))];
    ec_canny_gradient(window, taps, gx, gy);
}

static void measure(struct work *w, int x, int y)
{
    int64_t largest = -1;
    for (int c = 0; c < w->channels; c++) {
        int32_t gx = 0, gy = 0;
        gradient_at(w, w->pixels[c], x, y, &gx, &gy);
        const int64_t m = ec_canny_magnitude(gx, gy, w->plan->norm);
        if (m <= largest)
            continue;
        largest = m;
        w->magnitudes[place(w, x, y)] = m;
        w->directions[place(w, x, y)] = (uint8_t)ec_canny_direction(gx, gy);
    }
}

static void choose_thresholds(struct work *w)
{
    struct ec_auto_counts counts = {0};
    struct ec_auto_state state = {0};
    struct ec_auto_choice choice;
    for (int y = 0; y < w->height; y += EC_AUTO_ROW_STEP)
        for (int x = 0; x < w->width; x += EC_AUTO_COLUMN_STEP) {
            for (int c = 0; c < w->channels; c++)
                counts.grays[ec_auto_gray_bin(w->pixels[c][place(w, x, y)], w->plan->depth_bits)]++;
            counts.magnitudes[ec_auto_magnitude_bin(magnitude_at(w, x, y), w->plan)]++;
        }
    ec_auto_choose(&choice, &state, &counts, w->plan, EC_AUTO_WHOLE);
    w->thresholds = choice.thresholds;
}

static void take_edge(struct work *w, int x, int y)
{
    w->marks[place(w, x, y)] = MARK_EDGE;
    w->edges[w->edge_count++] = place(w, x, y);
}

static void classify(struct work *w, int x, int y)
{
    static const int before[4][2] = {{-1, 0}, {0, -1}, {-1, -1}, {1, -1}};
    const enum ec_direction direction = (enum ec_direction)w->directions[place(w, x, y)];
    const int dx = before[direction][0], dy = before[direction][1];
    const int64_t m = magnitude_at(w, x, y);
    if (m <= w->thresholds.low ||
        !ec_canny_is_maximum(m, magnitude_at(w, x + dx, y + dy), magnitude_at(w, x - dx, y - dy), direction))
        return;
    w->marks[place(w, x, y)] = MARK_CANDIDATE;
    if (m > w->thresholds.high)
        take_edge(w, x, y);
}

static void follow_edges(struct work *w)
{
    while (w->edge_count > 0) {
        const size_t at = w->edges[--w->edge_count];
        const int x = (int)(at % (size_t)w->width), y = (int)(at / (size_t)w->width);
        for (int j = y - 1; j <= y + 1; j++)
            for (int i = x - 1; i <= x + 1; i++)
                if (inside(w, i, j) && w->marks[place(w, i, j)] == MARK_CANDIDATE)
                    take_edge(w, i, j);
    }
}

static void store(const struct work *w, struct ec_image *out)
{
    const uint32_t white = ec_finish_integer(w->plan->finish.max, &w->plan->finish);
    for (int y = 0; y < w->height; y++) {
        uint8_t *row = (uint8_t *)out->data + y * out->pitch_bytes;
        for (int x = 0; x < w->width; x++) {
            const uint32_t value = w->marks[place(w, x, y)] == MARK_EDGE ? white : 0;
            if (out->depth_bits == 8)
                row[x] = (uint8_t)value;
            else
                ((uint16_t *)(void *)row)[x] = (uint16_t)value;
        }
    }
}

bool ec_canny_reference(const struct ec_plan *plan, const int32_t *const *pixels, int channels, struct ec_image *out)
{
    struct work w = {.plan = plan,
                     .pixels = pixels,
                     .channels = channels,
                     .thresholds = plan->canny,
                     .width = out->width_px,
                     .height = out->height_px};
    const size_t count = (size_t)w.width * (size_t)w.height;
    w.magnitudes = calloc(count, sizeof *w.magnitudes);
    w.directions = calloc(count, 1);
    w.marks = calloc(count, 1);
    w.edges = calloc(count, sizeof *w.edges);
    const bool ok = w.magnitudes && w.directions && w.marks && w.edges;
    if (ok) {
        for (int y = 0; y < w.height; y++)
            for (int x = 0; x < w.width; x++)
                measure(&w, x, y);
        if (plan->automatic.kind != EC_AUTO_OFF)
            choose_thresholds(&w);
        for (int y = 0; y < w.height; y++)
            for (int x = 0; x < w.width; x++)
                classify(&w, x, y);
        follow_edges(&w);
        store(&w, out);
    }
    free(w.magnitudes);
    free(w.directions);
    free(w.marks);
    free(w.edges);
    return ok;
}
