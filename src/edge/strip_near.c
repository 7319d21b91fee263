/* Convolutions of bytes that are computed as defined only where integers close to the weights do not settle the pixel.
 *
 * A pixel is a function of the sum that nowhere turns back, so where a number below the sum and one above it give the same
 * pixel, so does the sum. */
#include <stdlib.h>
#include <string.h>

#include "edge/arith.h"
#include "edge/near_taps.h"
#include "edge/strip.h"
#include "edge/strip_state.h"

/* Below, the other ways are not slower: of weights in two parts, and of floats. */
#define MIN_SPLIT_SIZE 3
#define MIN_SIZE 5

/* Columns whose intermediate results stay in the first-level cache. */
#define BLOCK 512

/* Where more than a share of size / SHARE of the pixels of a group is not settled, the other ways are faster, also for
 * groups to come. */
#define SHARE 256
#define PAUSE_GROUPS 32

/* EC_NEAR_ROWS rows of output, of which `count` are there. */
struct group {
    const void *rows[EC_NEAR_INPUT_ROWS]; /* of bytes, extended */
    const void *pairs[EC_NEAR_PAIRS_MAX];
    uint8_t *out[EC_NEAR_ROWS];
    int count, unsettled;
};

static int pair_count(const struct ec_strip *s)
{
    return (s->plan->window_size + EC_NEAR_ROWS) / 2;
}

/* Integers are rounded before they are finished, so only where finishing does not round again. */
static bool is_served(const struct ec_strip *s)
{
    const bool family = s->family == FAMILY_FUSED || (s->plain && (s->family == FAMILY_EXACT || s->family == FAMILY_SPLIT));
    return family && s->grouped && s->rows->sum_near && s->plan->depth_bits == 8 &&
           s->plan->window_size >= (s->family == FAMILY_SPLIT ? MIN_SPLIT_SIZE : MIN_SIZE);
}

bool ec_strip_open_near(struct ec_strip *s)
{
    struct ec_near *near = &s->near;
    const int before = s->plan->window_before, floats = BLOCK + EC_NEAR_COLUMNS;
    near->is_used = is_served(s) && ec_near_taps_make(&near->taps, &s->plan->convolution);
    return !near->is_used || (ec_ring_open(&near->pairs, pair_count(s), s->width, sizeof(int32_t), before, before) &&
                              ec_ring_open(&near->low, EC_NEAR_ROWS, floats, sizeof(float), 0, 0) &&
                              ec_ring_open(&near->high, EC_NEAR_ROWS, floats, sizeof(float), 0, 0) &&
                              ec_ring_open(&near->pixels, 2, floats, sizeof(uint8_t), 0, 0));
}

void ec_strip_close_near(struct ec_strip *s)
{
    struct ec_ring *rings[] = {&s->near.pairs, &s->near.low, &s->near.high, &s->near.pixels};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
        ec_ring_close(rings[i]);
}

/* The group of row y, where the strip's first is `first`: pairs of rows of input are counted from there. */
static void gather(struct ec_strip *s, struct group *group, int y, int first)
{
    const int before = s->plan->window_before, width = s->width + 2 * before;
    for (int j = 0; j < s->plan->window_size + EC_NEAR_ROWS - 1; j++) {
        const int row = ec_border_index(y - before + j, s->height, s->plan->border);
        group->rows[j] = row < 0 ? ec_strip_scratch(&s->zeros) : ec_strip_row(s, row);
    }
    for (int p = 0; p < (s->near.taps.separable ? 0 : pair_count(s)); p++) {
        bool is_there;
        int32_t *pairs = ec_ring_row(&s->near.pairs, (y - first) / 2 + p, &is_there);
        group->pairs[p] = pairs;
        if (!is_there)
            s->rows->pair_rows(pairs - before, (const uint8_t *)group->rows[2 * p] - before,
                               (const uint8_t *)group->rows[2 * p + 1] - before, width);
    }
}

static uint8_t integer_pixel(const struct ec_strip *s, const struct group *group, struct ec_place place)
{
    const struct ec_convolution_taps *taps = &s->plan->convolution;
    const int size = taps->size;
    int64_t sum = 0;
    for (int j = 0; j < size; j++) {
        const uint8_t *pixels = (const uint8_t *)group->rows[place.row + j] + place.x - size / 2;
        for (int i = 0; i < size; i++)
            sum += (int64_t)taps->integer_weights[j * size + i] * pixels[i];
    }
    return (uint8_t)ec_finish(ec_divide_half_even(sum, taps->divisor), &s->plan->finish);
}

/* Computes the group's pixels at the places. */
static void settle(struct ec_strip *s, const struct group *group)
{
    struct ec_near *near = &s->near;
    const struct ec_plan *plan = s->plan;
    uint8_t pixels[EC_NEAR_PLACES];
    if (plan->convolution.integer)
        for (int k = 0; k < near->place_count; k++)
            pixels[k] = integer_pixel(s, group, near->places[k]);
    else if (near->place_count) {
        float sums[EC_NEAR_PLACES];
        for (int k = near->place_count; k < EC_NEAR_PLACES; k++)
            near->places[k] = near->places[0];
        s->rows->sum_places(sums, group->rows, near->places, near->place_count, plan->convolution.float_weights,
                            plan->window_size);
        s->kind->finish_float(pixels, sums, near->place_count, &plan->finish);
    }
    for (int k = 0; k < near->place_count; k++)
        group->out[near->places[k].row][near->places[k].x] = pixels[k];
    near->place_count = 0;
}

/* Takes down where n pixels from a place on are not the others. */
static void compare(struct ec_strip *s, struct group *group, struct ec_place place, const uint8_t *pixels,
                    const uint8_t *others, int n)
{
    struct ec_near *near = &s->near;
    uint16_t columns[BLOCK];
    const int count = s->rows->find_others(columns, pixels, others, n);
    for (int k = 0; k < count; k++) {
        near->places[near->place_count++] = (struct ec_place){place.row, place.x + columns[k]};
        if (near->place_count == EC_NEAR_PLACES)
            settle(s, group);
    }
    group->unsettled += count;
}

/* Of numbers below and above sums, those below and above their magnitudes. */
static void make_absolute(float *restrict low, float *restrict high, int n)
{
    for (int x = 0; x < n; x++) {
        const float nearest = low[x] > -high[x] ? low[x] : -high[x], furthest = -low[x] > high[x] ? -low[x] : high[x];
        low[x] = nearest > 0 ? nearest : 0;
        high[x] = furthest;
    }
}

/* Finishes numbers below and above the sums of a row. */
static void finish(struct ec_strip *s, struct group *group, struct ec_place place, float *low, float *high, int n)
{
    const struct ec_finish *f = &s->plan->finish;
    bool is_there;
    uint8_t *pixels = ec_ring_row(&s->near.pixels, 0, &is_there), *others = ec_ring_row(&s->near.pixels, 1, &is_there);
    if (f->absolute)
        make_absolute(low, high, n);
    s->kind->finish_float(pixels, low, n, f);
    s->kind->finish_float(others, high, n, f);
    memcpy(group->out[place.row] + place.x, pixels, (size_t)n);
    compare(s, group, place, pixels, others, n);
}

static void run_columns(struct ec_strip *s, struct group *group, int start, int n)
{
    const void *pairs[EC_NEAR_PAIRS_MAX];
    void *low[EC_NEAR_ROWS], *high[EC_NEAR_ROWS];
    bool is_there;
    for (int p = 0; p < pair_count(s); p++)
        pairs[p] = (const int32_t *)group->pairs[p] + start;
    for (int r = 0; r < EC_NEAR_ROWS; r++) {
        low[r] = ec_ring_row(&s->near.low, r, &is_there);
        high[r] = ec_ring_row(&s->near.high, r, &is_there);
    }
    if (s->plain) {
        if (n == BLOCK)
            for (int r = 0; r < group->count; r++)
                low[r] = group->out[r] + start;
        uint8_t *const low_bytes[EC_NEAR_ROWS] = {low[0], low[1], low[2], low[3]};
        uint8_t *const high_bytes[EC_NEAR_ROWS] = {high[0], high[1], high[2], high[3]};
        s->rows->round_near(low_bytes, high_bytes, pairs, n, &s->near.taps);
        for (int r = 0; r < group->count; r++) {
            if (n < BLOCK)
                memcpy(group->out[r] + start, low[r], (size_t)n);
            compare(s, group, (struct ec_place){r, start}, low[r], high[r], n);
        }
    } else {
        float *const low_floats[EC_NEAR_ROWS] = {low[0], low[1], low[2], low[3]};
        float *const high_floats[EC_NEAR_ROWS] = {high[0], high[1], high[2], high[3]};
        s->rows->sum_near(low_floats, high_floats, pairs, n, &s->near.taps);
        for (int r = 0; r < group->count; r++)
            finish(s, group, (struct ec_place){r, start}, low[r], high[r], n);
    }
}

/* A row of the group by two passes. */
static void run_separable(struct ec_strip *s, struct group *group, int row)
{
    const struct ec_near_taps *taps = &s->near.taps;
    const int size = taps->size;
    const float *terms[EC_KERNEL_MAX_SIZE];
    float *columns = ec_strip_scratch(&s->column_sums), *sums = ec_strip_scratch(&s->sums);
    float *low = ec_strip_scratch(&s->near.low), *high = ec_strip_scratch(&s->near.high);
    for (int j = 0; j < size; j++)
        terms[j] = s->windows[0][row + j];
    s->rows->sum_exact(columns, terms, taps->column, size, s->width);
    ec_ring_extend(&s->column_sums, columns, s->plan->border);
    for (int i = 0; i < size; i++)
        terms[i] = columns + i - size / 2;
    s->rows->sum_exact(sums, terms, taps->row, size, s->width);
    for (int start = 0; start < s->width; start += BLOCK) {
        const int n = ec_min_i32(BLOCK, s->width - start);
        for (int x = 0; x < n; x++) {
            low[x] = sums[start + x] - taps->separable_radius;
            high[x] = sums[start + x] + taps->separable_radius;
        }
        finish(s, group, (struct ec_place){row, start}, low, high, n);
    }
}

/* Whether so many pixels of the group that it had better be computed the other way are not settled, of `columns` columns. */
static bool are_unsettled(const struct ec_strip *s, const struct group *group, int rows, int columns)
{
    return (int64_t)group->unsettled * SHARE > (int64_t)s->plan->window_size * rows * columns;
}

/* False if the group had better be computed the other way. */
static bool run_group(struct ec_strip *s, struct group *group)
{
    bool is_settled = true;
    if (s->near.taps.separable)
        for (int r = 0; is_settled && r < group->count; r++) {
            run_separable(s, group, r);
            is_settled = !are_unsettled(s, group, r + 1, s->width);
        }
    else
        for (int x = 0, n; is_settled && x < s->width; x += n) {
            n = ec_min_i32(BLOCK, s->width - x);
            run_columns(s, group, x, n);
            is_settled = !are_unsettled(s, group, group->count, x + n);
        }
    if (is_settled)
        settle(s, group);
    s->near.place_count = 0;
    return is_settled;
}

void ec_strip_run_near(struct ec_strip *s, const struct ec_image *out, int first, int end)
{
    ec_ring_clear(&s->near.pairs);
    for (int y = first; y < end; y += EC_NEAR_ROWS) {
        struct group group = {.count = ec_min_i32(EC_NEAR_ROWS, end - y)};
        if (s->near.paused_groups) {
            s->near.paused_groups--;
            ec_strip_run_grouped(s, out, y, y + group.count);
            continue;
        }
        for (int r = 0; r < group.count; r++)
            group.out[r] = (uint8_t *)out->data + (y + r) * out->pitch_bytes;
        gather(s, &group, y, first);
        if (s->near.taps.separable)
            ec_strip_gather(s, y, s->plan->border);
        if (!run_group(s, &group)) {
            ec_strip_run_grouped(s, out, y, y + group.count);
            s->near.paused_groups = PAUSE_GROUPS;
        }
    }
}
