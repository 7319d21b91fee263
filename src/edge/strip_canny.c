/* Canny up to its bitmaps: gradients, magnitudes, maxima, row by row. */
#include <string.h>

#include "edge/canny_arith.h"
#include "edge/stable_arith.h"
#include "edge/strip.h"
#include "edge/strip_state.h"

/* Columns whose gradients stay in the first-level cache until their magnitudes are taken; a multiple of 64. */
#define BLOCK 512

/* Elements before the first and after the last become copies of them. */
static void replicate_left(char *row, int margin, size_t bytes)
{
    for (int i = 1; i <= margin; i++)
        memcpy(row - (size_t)i * bytes, row, bytes);
}

static void replicate_right(char *end, int margin, size_t bytes)
{
    for (int i = 0; i < margin; i++)
        memcpy(end + (size_t)i * bytes, end - bytes, bytes);
}

/* What a magnitude has to be above to count, raised or not. */
static int64_t lowest_threshold(const struct ec_strip *s)
{
    return s->raised ? ec_stable_lowered(s->low, s->plan->stable_boost) : s->low;
}

/* The window's columns start to start + n - 1, and the margin that the gradient looks at. */
static void gradient_block(struct ec_strip *s, char *smooth, char *derive, const struct ec_canny_gradients *gradients,
                           int start, int n)
{
    const int margin = s->plan->window_before, left = start > 0 ? margin : 0, right = ec_min_i32(margin, s->width - start - n);
    const size_t bytes = s->smooth.element_bytes;
    const void *rows[7];
    for (int j = 0; j < s->plan->window_size; j++)
        rows[j] = (const char *)s->windows[s->channel][j] + (start - left) * (ptrdiff_t)s->kind->pixel_bytes;
    const size_t offset = (size_t)left * bytes, end = (size_t)(n + right) * bytes;
    s->kind->gradient_down(smooth - offset, derive - offset, rows, left + n + right, s->plan);
    replicate_left(smooth - offset, margin - left, bytes);
    replicate_left(derive - offset, margin - left, bytes);
    replicate_right(smooth + end, margin - right, bytes);
    replicate_right(derive + end, margin - right, bytes);
    s->kind->canny_gradient(gradients, smooth, derive, n, s->plan);
}

void ec_strip_gradients(struct ec_strip *s, int y)
{
    ec_strip_gather(s, y, EC_BORDER_REPLICATE);
    for (int x = 0; x < s->width; x += BLOCK) {
        const struct ec_canny_gradients gradients = {(int32_t *)ec_strip_scratch(&s->gx) + x,
                                                     (int32_t *)ec_strip_scratch(&s->gy) + x, ec_strip_scratch(&s->sums)};
        gradient_block(s, ec_strip_scratch(&s->smooth), ec_strip_scratch(&s->derive), &gradients, x,
                       ec_min_i32(BLOCK, s->width - x));
    }
}

/* Rows that the processor's own prefetching does not reach in time, as it stops at each page. */
#define PREFETCH_ROWS 4

static void prefetch(const struct ec_strip *s, int y, int start, int n)
{
    const char *plane = (const char *)s->in->data + s->channel * s->in->plane_bytes;
    const char *row = plane + ec_min_i32(y, s->height - 1) * s->in->pitch_bytes;
    const char *first = row + start * (ptrdiff_t)s->kind->pixel_bytes;
    for (ptrdiff_t i = 0; i < n * (ptrdiff_t)s->kind->pixel_bytes; i += 64)
        __builtin_prefetch(first + i);
}

/* Columns start to start + n - 1, of the channel whose rows are asked for. */
static void measure_channel(struct ec_strip *s, const struct ec_canny_gradients *gradients, int y, int start, int n)
{
    prefetch(s, y + PREFETCH_ROWS, start, n);
    gradient_block(s, ec_strip_scratch(&s->smooth), ec_strip_scratch(&s->derive), gradients, start, n);
}

/* In each pixel the gradients of the channel that has the largest. */
static void measure_channels(struct ec_strip *s, const struct ec_canny_gradients *gradients, int channels, int y, int start,
                             int n)
{
    s->channel = 0;
    measure_channel(s, gradients, y, start, n);
    for (s->channel = 1; s->channel < channels; s->channel++) {
        const struct ec_canny_gradients others = {ec_strip_scratch(&s->other_gx), ec_strip_scratch(&s->other_gy),
                                                  ec_strip_scratch(&s->other_sums)};
        measure_channel(s, &others, y, start, n);
        s->canny->take_larger(gradients, &others, n, lowest_threshold(s));
    }
}

/* Magnitudes and directions of row y, in slot y % 3; above and below the image magnitudes are 0. */
static struct ec_canny_row measure_row(struct ec_strip *s, int y)
{
    bool fresh;
    if (y < 0 || y >= s->height)
        return (struct ec_canny_row){.magnitudes = ec_strip_scratch(&s->zeros)};
    const struct ec_canny_row row = {ec_ring_row(&s->magnitudes, y, &fresh), ec_ring_row(&s->directions, y, &fresh),
                                     ec_ring_row(&s->active, y, &fresh)};
    struct ec_canny_gradients gradients = {ec_strip_scratch(&s->gx), ec_strip_scratch(&s->gy), ec_strip_scratch(&s->sums)};
    const struct ec_canny_raise raise = {
        .bits = s->raised ? s->raised->kept + y * s->raised->stride : NULL,
        .boost = s->plan->stable_boost,
        .lowered = ec_stable_lowered(s->low, s->plan->stable_boost),
    };
    const struct ec_canny_raise *raises = s->raised ? &raise : NULL;
    const int channels = s->in->plane_bytes ? s->plan->channels : 1;
    for (s->channel = 0; s->channel < channels; s->channel++)
        ec_strip_gather(s, y, EC_BORDER_REPLICATE);
    for (int x = 0, columns; x < s->width; x += columns) {
        columns = ec_min_i32(BLOCK, s->width - x);
        if (s->plan->norm == EC_NORM_L1)
            gradients.sums = (int32_t *)row.magnitudes + x;
        measure_channels(s, &gradients, channels, y, x, columns);
        s->canny->measure(&row, x, &gradients, columns, s->low, raises);
    }
    return row;
}

void ec_strip_run_canny(struct ec_strip *strip, const struct ec_image *in, bool limited_range,
                        const struct ec_canny_thresholds *thresholds, struct ec_edge_map *map, int first, int end)
{
    ec_strip_begin(strip, in, limited_range);
    if (strip->canny_tall) {
        ec_strip_run_canny_tall(strip, thresholds, map, first, end);
        return;
    }
    strip->raised = map->kept ? map : NULL;
    strip->low = thresholds->low;
    struct ec_canny_row rows[3] = {measure_row(strip, first - 1), measure_row(strip, first)};
    for (int y = first; y < end; y++) {
        rows[2] = measure_row(strip, y + 1);
        strip->canny->maxima(map->candidates + y * map->stride, map->edges + y * map->stride, rows, strip->width,
                             thresholds->low, thresholds->high);
        rows[0] = rows[1];
        rows[1] = rows[2];
    }
}
