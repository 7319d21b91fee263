#include "edge/strip.h"

#include <stdlib.h>

#include "edge/arith.h"
#include "edge/group_taps.h"
#include "edge/strip_state.h"

/* Sums below 2^24 in size are exact in float32. */
#define FLOAT_EXACT_MAX 16777215

/* Up to here one pass over all weights in small integers beats two passes in floats. */
#define NARROW_SEPARABLE_MAX 5

static enum ec_family choose_convolution(const struct ec_plan *plan, const struct ec_rows *rows, const struct ec_row_kind *kind)
{
    const struct ec_convolution_taps *taps = &plan->convolution;
    if (!taps->integer)
        return FAMILY_FUSED;
    int64_t largest = 0;
    int32_t largest_weight = 0, weights = 0;
    for (int k = 0; k < taps->size * taps->size; k++) {
        largest += abs(taps->integer_weights[k]);
        weights += taps->integer_weights[k] != 0;
        largest_weight = ec_max_i32(largest_weight, abs(taps->integer_weights[k]));
    }
    largest *= plan->finish.max;
    const bool sparse = 5 * weights + 25 < taps->size * taps->size; /* below, terms one at a time are faster */
    if (rows->sum_dots && plan->depth_bits == 8 && largest_weight <= EC_DOT_MAX && !sparse)
        return FAMILY_DOTS;
    if (largest <= ec_min_i32(kind->narrow_max, FLOAT_EXACT_MAX) && (taps->size <= NARROW_SEPARABLE_MAX || !taps->separable))
        return FAMILY_NARROW;
    if (largest > FLOAT_EXACT_MAX)
        return rows->sum_split && plan->depth_bits == 8 && !sparse ? FAMILY_SPLIT : FAMILY_DOUBLE;
    return taps->separable ? FAMILY_SEPARABLE : FAMILY_EXACT;
}

static enum ec_family choose_family(const struct ec_plan *plan, const struct ec_rows *rows, const struct ec_row_kind *kind)
{
    switch (plan->op) {
    case EC_OPERATOR_SOBEL:
    case EC_OPERATOR_SCHARR:
    case EC_OPERATOR_PREWITT:
        return FAMILY_GRADIENT;
    case EC_OPERATOR_CANNY:
        return FAMILY_CANNY;
    case EC_OPERATOR_DOG:
        return FAMILY_DIFFERENCE;
    case EC_OPERATOR_CONVOLUTION:
        return choose_convolution(plan, rows, kind);
    default:
        return FAMILY_WINDOW;
    }
}

static void collect_terms(struct ec_strip *strip)
{
    const struct ec_convolution_taps *taps = &strip->plan->convolution;
    for (int k = 0; k < taps->size * taps->size; k++) {
        if (taps->float_weights[k] == 0)
            continue;
        strip->term_rows[strip->term_count] = k / taps->size;
        strip->term_columns[strip->term_count] = k % taps->size - taps->size / 2;
        strip->weights[strip->term_count++] = taps->float_weights[k];
    }
    for (int i = 0; i < taps->size; i++) {
        strip->column[i] = (float)taps->column[i];
        strip->row[i] = (float)taps->row[i];
    }
}

/* Where most weights are 0, terms one at a time skip them, and are faster. */
static bool is_grouped(const struct ec_strip *s)
{
    const int size = s->plan->window_size;
    const bool sparse = 2 * s->term_count + 12 <= size * size;
    return s->family == FAMILY_DOTS || s->family == FAMILY_SPLIT ||
           (s->kind->convolve && !sparse && (s->family == FAMILY_EXACT || s->family == FAMILY_FUSED));
}

/* Sums of a blur; outside, where nothing is written for a constant border, they are 0. */
static bool open_blur_sums(struct ec_ring *ring, const struct ec_strip *s, int size)
{
    const int margin = size / 2 + EC_BLUR_SLACK;
    if (!ec_ring_open(ring, 1, s->width, s->kind->blur_bytes, margin, margin))
        return false;
    if (s->kind->blur_biased)
        for (int x = -margin; x < s->width + margin; x++)
            ((int16_t *)ec_strip_scratch(ring))[x] = INT16_MIN;
    return true;
}

static bool open_canny_rings(struct ec_strip *s)
{
    const int width = s->width, blocks = (width + 63) / 64;
    struct ec_ring *gradients[] = {&s->gx, &s->gy, &s->sums, &s->other_gx, &s->other_gy, &s->other_sums};
    for (int i = 0; i < (s->plan->channels > 1 ? 6 : 3); i++)
        if (!ec_ring_open(gradients[i], 1, width, sizeof(int32_t), 0, 0))
            return false;
    const int samples = (width + EC_AUTO_COLUMN_STEP - 1) / EC_AUTO_COLUMN_STEP;
    if (s->plan->automatic.kind == EC_AUTO_PERCENTILE && !ec_ring_open(&s->lengths, 1, samples, sizeof(int32_t), 0, 0))
        return false;
    if (s->canny_tall)
        return ec_strip_open_canny_tall(s);
    s->canny = s->rows->canny[ec_rows_canny(s->plan)];
    return ec_ring_open(&s->magnitudes, 3, width, s->canny->magnitude_bytes, 1, 1) &&
           ec_ring_open(&s->directions, 3, width, s->canny->magnitude_bytes, 0, 0) &&
           ec_ring_open(&s->active, 3, blocks, 1, 0, 0);
}

static bool open_rings(struct ec_strip *s)
{
    const struct ec_plan *plan = s->plan;
    const int width = s->width, before = plan->window_before, after = plan->window_size - 1 - before;
    const size_t pixel = s->kind->pixel_bytes;
    const int blur = plan->blur.size, wide = plan->blur_wide.size, widest = ec_max_i32(blur, wide);
    const int group = s->near.is_used ? EC_NEAR_ROWS : s->grouped ? EC_GROUP_ROWS : 1; /* rows of sums */
    const int window = s->tall || s->canny_tall ? EC_TALL_ROWS + 2 : plan->window_size + group - 1; /* looked at together */
    const int rows = blur ? ec_max_i32(widest, ec_strip_blur_pair_rows(s)) : window;
    const int left = s->takes_extended ? before : 0, right = s->takes_extended ? after : 0;
    bool ok = ec_ring_open(&s->zeros, 1, width, sizeof(double), EC_KERNEL_MAX_SIZE, EC_KERNEL_MAX_SIZE) &&
              ec_ring_open(&s->response, 1, width, sizeof(int32_t), 0, 0);
    for (int c = 0; ok && c < plan->channels; c++)
        ok = ec_ring_open(&s->input[c], ec_min_i32(rows, s->height), width, pixel, blur ? 0 : left, blur ? 0 : right) &&
             (!blur || ec_ring_open(&s->blurred[c], ec_min_i32(window, s->height), width, pixel, left, right));
    if (blur)
        ok = ok && open_blur_sums(&s->blur_sums, s, blur) && (!ec_strip_blur_pair_rows(s) || ec_strip_open_blur_pairs(s));
    if (s->tall)
        return ok && ec_ring_open(&s->side_rows, EC_TALL_ROWS + 2, EC_TALL_COLUMNS, pixel, 1, 1) &&
               ec_ring_open(&s->side_results, EC_TALL_ROWS, EC_TALL_COLUMNS, pixel, 0, 0);
    if (s->family == FAMILY_CANNY)
        ok = ok && open_canny_rings(s);
    switch (s->family) {
    case FAMILY_GRADIENT:
    case FAMILY_CANNY: {
        const size_t bytes = plan->gradient.size > 3 ? sizeof(int32_t) : s->kind->gradient_bytes;
        return ok && ec_ring_open(&s->smooth, 1, width, bytes, before, after) &&
               ec_ring_open(&s->derive, 1, width, bytes, before, after);
    }
    case FAMILY_WINDOW:
        return ok;
    case FAMILY_DIFFERENCE:
        return ok && open_blur_sums(&s->wide_sums, s, wide) && ec_ring_open(&s->near_row, 1, width, pixel, 0, 0) &&
               ec_ring_open(&s->far_row, 1, width, pixel, 0, 0);
    case FAMILY_DOTS:
    case FAMILY_NARROW:
        return ok && ec_ring_open(&s->sums, group, width, sizeof(float), 0, 0);
    case FAMILY_SPLIT:
        return ok && ec_ring_open(&s->converted, ec_min_i32(window, s->height), width, sizeof(int16_t), before, after) &&
               ec_ring_open(&s->sums, group, width, sizeof(double), 0, 0);
    case FAMILY_DOUBLE:
        return ok && ec_ring_open(&s->sums, 1, width, sizeof(double), 0, 0);
    default:
        return ok && ec_ring_open(&s->converted, ec_min_i32(window, s->height), width, sizeof(float), before, after) &&
               ec_ring_open(&s->column_sums, 1, width, sizeof(float), before, after) &&
               ec_ring_open(&s->sums, group, width, sizeof(float), 0, 0);
    }
}

enum ec_status ec_strip_open(struct ec_strip **out, const struct ec_plan *plan, const struct ec_rows *rows, int width_px,
                             int height_px, struct ec_error *error)
{
    *out = NULL;
    struct ec_strip *strip = calloc(1, sizeof *strip);
    if (!strip)
        goto fail;
    strip->plan = plan;
    strip->rows = rows;
    strip->kind = ec_rows_kind(rows, plan->depth_bits);
    strip->family = choose_family(plan, rows, strip->kind);
    strip->width = width_px;
    strip->height = height_px;
    strip->plain = ec_rows_plain(&plan->finish);
    strip->tall = ec_rows_tall_of(strip->kind, plan);
    strip->canny_tall = ec_rows_canny_is_tall(strip->kind, plan);
    if (plan->op == EC_OPERATOR_CONVOLUTION)
        collect_terms(strip);
    strip->grouped = is_grouped(strip);
    if (!ec_strip_open_near(strip))
        goto fail;
    strip->takes_extended =
        !strip->tall && (strip->near.is_used || strip->family == FAMILY_WINDOW || strip->family == FAMILY_DOTS ||
                         strip->family == FAMILY_NARROW || strip->family == FAMILY_DOUBLE);
    if (strip->family == FAMILY_DOTS)
        ec_dot_taps_make(&strip->dots, &plan->convolution);
    else if (strip->family == FAMILY_SPLIT)
        ec_split_taps_make(&strip->split, &plan->convolution);
    else if (strip->grouped)
        ec_fused_taps_make(&strip->fused, &plan->convolution);
    if (!open_rings(strip))
        goto fail;
    *out = strip;
    return EC_OK;
fail:
    ec_strip_close(&strip);
    return ec_fail(error, EC_ERROR_MEMORY, "there is no memory for the rows of a %dx%d image", width_px, height_px);
}

void ec_strip_close(struct ec_strip **strip)
{
    struct ec_strip *s = *strip;
    if (!s)
        return;
    for (int c = 0; c < EC_CHANNELS_MAX; c++) {
        ec_ring_close(&s->input[c]);
        ec_ring_close(&s->blurred[c]);
        ec_ring_close(&s->blur_pairs[c]);
    }
    struct ec_ring *rings[] = {&s->converted,  &s->blur_sums, &s->wide_sums, &s->smooth,       &s->derive,    &s->column_sums,
                               &s->near_row,   &s->far_row,   &s->response,  &s->sums,         &s->zeros,     &s->magnitudes,
                               &s->directions, &s->active,    &s->gx,        &s->gy,           &s->other_gx,  &s->other_gy,
                               &s->other_sums, &s->lengths,   &s->side_rows, &s->side_results, &s->keys,      &s->rests,
                               &s->courses,    &s->no_keys,   &s->no_bits,   &s->blur_sides,   &s->blur_spare};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
        ec_ring_close(rings[i]);
    ec_strip_close_near(s);
    free(s);
    *strip = NULL;
}
