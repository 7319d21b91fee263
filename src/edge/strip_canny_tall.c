/* Canny up to its bitmaps on several rows at once: blocks of columns are measured, and those before them thinned while what
 * they look at is in the first-level cache. */
#include <math.h>
#include <string.h>

#include "edge/arith.h"
#include "edge/stable_arith.h"
#include "edge/strip.h"
#include "edge/strip_state.h"

#define INPUT_ROWS (EC_TALL_ROWS + 2)
#define BLOCK 64

/* Rows of the image around `y`, the first of EC_TALL_ROWS, and where their results are. */
struct step {
    int y;
    const void *rows[EC_CHANNELS_MAX * INPUT_ROWS];
    struct ec_canny_group measured, looked_at; /* the same, but outside the image nothing counts */
    uint64_t *candidates[EC_TALL_ROWS], *edges[EC_TALL_ROWS];
};

/* Elements from the keys of even columns to those of odd ones; in between there is what does not count on either side. */
static int odd_columns(const struct ec_strip *s)
{
    return s->kind->pixel_bytes == 1 ? (s->width + BLOCK - 1) / BLOCK * (BLOCK / 2) + 32 : 0;
}

bool ec_strip_open_canny_tall(struct ec_strip *s)
{
    const int blocks = (s->width + BLOCK - 1) / BLOCK, keys = blocks * BLOCK + 2 * 32;
    bool ok = ec_ring_open(&s->keys, INPUT_ROWS, keys, sizeof(int16_t), 1, 1) &&
              ec_ring_open(&s->no_keys, 1, keys, sizeof(int16_t), 1, 1) &&
              ec_ring_open(&s->courses, INPUT_ROWS, blocks, s->kind->course_bytes, 0, 0) &&
              ec_ring_open(&s->no_bits, 1, blocks, sizeof(uint64_t), 0, 0) &&
              ec_ring_open(&s->active, 1, blocks, sizeof(uint16_t), 0, 0) &&
              ec_ring_open(&s->side_rows, INPUT_ROWS * s->plan->channels, BLOCK, s->kind->pixel_bytes, 1, 1);
    if (s->plan->norm == EC_NORM_L2)
        ok = ok && ec_ring_open(&s->rests, INPUT_ROWS, keys, sizeof(int16_t), 1, 1);
    if (!ok)
        return false;
    ec_ring_fill(&s->keys, 0xff);
    ec_ring_fill(&s->no_keys, 0xff);
    return true;
}

/* The largest sum whose square, which no magnitude is above, does not count. */
static int idle_sum(int64_t low, enum ec_norm norm)
{
    int64_t sum = norm == EC_NORM_L1 ? low : (int64_t)sqrt((double)low);
    if (norm == EC_NORM_L2 && sum * sum > low)
        sum--;
    return (int)(sum < INT16_MAX ? sum : INT16_MAX);
}

/* Magnitudes are up to 2^21 with 8 bits, with each bit 4 times larger, and raised 4 times. */
static struct ec_canny_limits limits_of(const struct ec_strip *s, const struct ec_canny_thresholds *thresholds)
{
    const bool l1 = s->plan->norm == EC_NORM_L1;
    const int64_t most = l1 ? INT16_MAX : INT32_MAX;
    const int shift = l1 ? 0 : 6 + 2 * (s->plan->depth_bits - 8) + (s->plan->stable_boost ? 2 : 0);
    const int64_t low = thresholds->low < most ? thresholds->low : most;
    const int64_t high = (thresholds->high < most ? thresholds->high : most) - low - 1;
    return (struct ec_canny_limits){
        .low = (int32_t)low,
        .high_key = (int)(high >> shift < INT16_MAX ? high >> shift : INT16_MAX),
        .high_rest = (int)(high & ((1 << shift) - 1)),
        .shift = shift,
        .sum = idle_sum(thresholds->low, s->plan->norm),
        .boost = s->plan->stable_boost,
        .lowered_sum = idle_sum(ec_stable_lowered(thresholds->low, s->plan->stable_boost), s->plan->norm),
    };
}

static void *row_of(struct ec_ring *ring, int y)
{
    bool fresh;
    return ring->slots ? ec_ring_row(ring, y + INPUT_ROWS, &fresh) : NULL;
}

static struct ec_canny_lines lines_of(struct ec_strip *s, int y)
{
    return (struct ec_canny_lines){row_of(&s->keys, y), row_of(&s->rests, y), row_of(&s->courses, y),
                                   (uint16_t)(1u << (unsigned)(y + INPUT_ROWS) % INPUT_ROWS)};
}

static void prepare(struct ec_strip *s, struct step *step, const struct ec_edge_map *map, int first, int end)
{
    const int channels = s->in->plane_bytes ? s->plan->channels : 1;
    for (s->channel = 0; s->channel < channels; s->channel++) {
        const int last = ec_min_i32(step->y + EC_TALL_ROWS, end + 1);
        if (s->blur_pairs[0].slots)
            ec_strip_blur(s, ec_max_i32(step->y - 1, 0), ec_min_i32(last, s->height - 1));
        for (int j = 0; j < INPUT_ROWS; j++) {
            const int y = ec_border_index(ec_min_i32(step->y - 1 + j, last), s->height, EC_BORDER_REPLICATE);
            step->rows[s->channel * INPUT_ROWS + j] = ec_strip_row(s, y);
        }
    }
    for (int j = 0; j < INPUT_ROWS; j++) {
        const int y = step->y - 2 + j;
        step->measured.rows[j] = step->looked_at.rows[j] = lines_of(s, y);
        if (y < 0 || y >= s->height)
            step->looked_at.rows[j].keys = ec_strip_scratch(&s->no_keys);
    }
    for (int i = 0; i < EC_TALL_ROWS; i++) {
        const int y = step->y + i, thinned = y - 1;
        const bool inside = thinned >= first && thinned < end;
        step->candidates[i] = inside ? map->candidates + thinned * map->stride : ec_strip_scratch(&s->no_bits);
        step->edges[i] = inside ? map->edges + thinned * map->stride : ec_strip_scratch(&s->no_bits);
        /* The rows above and below the image have no bits. */
        step->measured.raised[i] = map->kept ? map->kept + ec_min_i32(y, s->height) * map->stride : NULL;
    }
}

static void measure(const struct ec_strip *s, const struct step *step, int start, int n)
{
    const int channels = s->in->plane_bytes ? s->plan->channels : 1;
    const void *rows[EC_CHANNELS_MAX * INPUT_ROWS];
    for (int j = 0; j < channels * INPUT_ROWS; j++)
        rows[j] = (const uint8_t *)step->rows[j] + start * (ptrdiff_t)s->kind->pixel_bytes;
    s->kind->canny_measure(&step->measured, rows, channels, start, n);
}

/* Up to a block of which some neighbours are outside the image, where all pixels are copies of the last inside. */
static void measure_side(struct ec_strip *s, const struct step *step, int start, int n)
{
    const int channels = s->in->plane_bytes ? s->plan->channels : 1;
    const ptrdiff_t bytes = (ptrdiff_t)s->kind->pixel_bytes;
    const void *rows[EC_CHANNELS_MAX * INPUT_ROWS];
    const int right = ec_min_i32(BLOCK + 1, s->width - start); /* columns there are from `start` on */
    for (int j = 0; j < channels * INPUT_ROWS; j++) {
        const uint8_t *pixels = (const uint8_t *)step->rows[j] + start * bytes;
        bool fresh;
        uint8_t *row = ec_ring_row(&s->side_rows, j, &fresh);
        memcpy(row - bytes, pixels - (start > 0 ? bytes : 0), (size_t)bytes);
        memcpy(row, pixels, (size_t)(right * bytes));
        for (int x = right; x <= BLOCK; x++)
            memcpy(row + x * bytes, pixels + (right - 1) * bytes, (size_t)bytes);
        rows[j] = row;
    }
    s->kind->canny_measure(&step->measured, rows, channels, start, n);
}

static void run_step(struct ec_strip *s, const struct step *step)
{
    const int width = s->width, inner = (width - 1) / BLOCK * BLOCK; /* the last column before it has a neighbour inside */
    for (int x = 0, n, thinned = 0; x < width; x += n) {
        n = x == 0 || x == inner ? ec_min_i32(BLOCK, width - x) : ec_min_i32(EC_CANNY_COLUMNS_MAX, inner - x);
        if (x == 0 || x == inner)
            measure_side(s, step, x, n);
        else
            measure(s, step, x, n);
        const int known = x + n == width ? width : x + n - BLOCK;
        s->kind->canny_thin(&step->looked_at, step->candidates, step->edges, thinned, known - thinned);
        thinned = known;
    }
}

void ec_strip_run_canny_tall(struct ec_strip *s, const struct ec_canny_thresholds *thresholds, struct ec_edge_map *map,
                             int first, int end)
{
    const struct ec_canny_limits limits = limits_of(s, thresholds);
    struct step step = {.y = first - 1};
    step.measured = step.looked_at = (struct ec_canny_group){
        .limits = &limits,
        .norm = s->plan->norm,
        .max = s->plan->finish.max,
        .active = ec_strip_scratch(&s->active),
        .odd = odd_columns(s),
    };
    /* What is left from another frame may count. */
    memset(step.measured.active, 0xff, (size_t)((s->width + BLOCK - 1) / BLOCK) * sizeof *step.measured.active);
    for (; step.y - 1 < end; step.y += EC_TALL_ROWS) {
        prepare(s, &step, map, first, end);
        run_step(s, &step);
    }
}
