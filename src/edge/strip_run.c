/* The steps of one row, each asking the one before it for the rows that it looks at. */
#include "edge/arith.h"
#include "edge/strip.h"
#include "edge/strip_state.h"

/* Row y of the input: prepared in the ring, or the image's own where there is nothing to prepare. */
const void *ec_strip_input(struct ec_strip *s, int y)
{
    const struct ec_plan *plan = s->plan;
    struct ec_ring *ring = &s->input[s->channel];
    const void *pixels = (const uint8_t *)s->in->data + s->channel * s->in->plane_bytes + y * s->in->pitch_bytes;
    const bool clamps = s->tall || (s->canny_tall && plan->automatic.kind == EC_AUTO_OFF);
    const bool any_value_fits = (clamps && !plan->blur.size) || plan->depth_bits == 8 * (int)s->kind->pixel_bytes;
    const bool extend = ring->left || ring->right;
    if (!s->limited_range && any_value_fits && !extend)
        return pixels;
    bool fresh;
    void *row = ec_ring_row(ring, y, &fresh);
    if (!fresh) {
        s->kind->prepare(row, pixels, s->width, &plan->luma, s->limited_range);
        ec_ring_extend(ring, row, plan->border);
    }
    return row;
}

typedef const void *row_getter(struct ec_strip *strip, int y);

/* Fills rows[] with a window whose first row is y, by the border rule. */
static void gather(struct ec_strip *s, row_getter *get, int y, int count, enum ec_border border, const void **rows)
{
    for (int j = 0; j < count; j++) {
        const int row = ec_border_index(y + j, s->height, border);
        rows[j] = row < 0 ? ec_strip_scratch(&s->zeros) : get(s, row);
    }
}

static void blur_row(struct ec_strip *s, int y, const struct ec_blur_taps *taps, struct ec_ring *sums_ring, void *out)
{
    void *sums = ec_strip_scratch(sums_ring);
    gather(s, ec_strip_input, y - taps->size / 2, taps->size, s->plan->border, s->blur_window);
    s->kind->blur_down(sums, s->blur_window, s->width, taps);
    ec_ring_extend(sums_ring, sums, s->plan->border);
    s->kind->blur_across(out, sums, s->width, taps);
}

static const void *blurred_row(struct ec_strip *s, int y)
{
    bool fresh;
    struct ec_ring *ring = &s->blurred[s->channel];
    void *row = ec_ring_row(ring, y, &fresh);
    if (!fresh) {
        blur_row(s, y, &s->plan->blur, &s->blur_sums, row);
        ec_ring_extend(ring, row, s->plan->border);
    }
    return row;
}

const void *ec_strip_row(struct ec_strip *s, int y)
{
    return s->plan->blur.size ? blurred_row(s, y) : ec_strip_input(s, y);
}

static const void *converted_row(struct ec_strip *s, int y)
{
    bool fresh;
    void *row = ec_ring_row(&s->converted, y, &fresh);
    if (fresh)
        return row;
    if (s->family == FAMILY_SPLIT)
        s->kind->to_short(row, ec_strip_row(s, y), s->width);
    else
        s->kind->to_float(row, ec_strip_row(s, y), s->width);
    ec_ring_extend(&s->converted, row, s->plan->border);
    return row;
}

/* Where each weight's row of pixels or floats begins. */
static void place_terms(struct ec_strip *s)
{
    for (int k = 0; k < s->term_count; k++)
        s->terms[k] = (const uint8_t *)s->windows[0][s->term_rows[k]] + s->term_columns[k] * (ptrdiff_t)s->kind->pixel_bytes;
}

static void place_float_terms(struct ec_strip *s)
{
    for (int k = 0; k < s->term_count; k++)
        s->float_terms[k] = (const float *)s->windows[0][s->term_rows[k]] + s->term_columns[k];
}

static void sum_separable(struct ec_strip *s, float *sums)
{
    const int size = s->plan->window_size;
    const float *terms[EC_KERNEL_MAX_SIZE];
    float *column_sums = ec_strip_scratch(&s->column_sums);
    for (int j = 0; j < size; j++)
        terms[j] = s->windows[0][j];
    s->rows->sum_exact(column_sums, terms, s->column, size, s->width);
    ec_ring_extend(&s->column_sums, column_sums, s->plan->border);
    for (int i = 0; i < size; i++)
        terms[i] = column_sums + i - size / 2;
    s->rows->sum_exact(sums, terms, s->row, size, s->width);
}

static void convolution_row(struct ec_strip *s, void *out, int32_t *response)
{
    const int64_t divisor = s->plan->convolution.divisor;
    void *sums = ec_strip_scratch(&s->sums);
    switch (s->family) {
    case FAMILY_NARROW:
        place_terms(s);
        s->kind->sum_narrow(sums, s->terms, s->weights, s->term_count, s->width);
        break;
    case FAMILY_DOUBLE:
        place_terms(s);
        s->kind->sum_double(sums, s->terms, s->weights, s->term_count, s->width);
        s->rows->divide_double(response, sums, s->width, divisor);
        s->kind->finish(out, response, s->width, &s->plan->finish);
        return;
    case FAMILY_SEPARABLE:
        sum_separable(s, sums);
        break;
    case FAMILY_EXACT:
        place_float_terms(s);
        s->rows->sum_exact(sums, s->float_terms, s->weights, s->term_count, s->width);
        break;
    default:
        place_float_terms(s);
        s->rows->sum_fused(sums, s->float_terms, s->weights, s->term_count, s->width);
        s->kind->finish_float(out, sums, s->width, &s->plan->finish);
        return;
    }
    s->rows->divide_float(response, sums, s->width, divisor);
    s->kind->finish(out, response, s->width, &s->plan->finish);
}

void ec_strip_gather(struct ec_strip *s, int y, enum ec_border border)
{
    const bool takes_converted = s->converted.slots;
    const int group = s->near.is_used ? EC_NEAR_ROWS : s->grouped ? EC_GROUP_ROWS : 1;
    const int count = s->plan->window_size + group - 1;
    gather(s, takes_converted ? converted_row : ec_strip_row, y - s->plan->window_before, count, border,
           s->windows[s->channel]);
}

static void run_row(struct ec_strip *s, int y, void *out)
{
    const struct ec_plan *plan = s->plan;
    int32_t *response = ec_strip_scratch(&s->response);
    if (s->family == FAMILY_DIFFERENCE) {
        void *near_row = ec_strip_scratch(&s->near_row), *far_row = ec_strip_scratch(&s->far_row);
        blur_row(s, y, &plan->blur, &s->blur_sums, near_row);
        blur_row(s, y, &plan->blur_wide, &s->wide_sums, far_row);
        s->kind->difference(out, response, near_row, far_row, s->width, plan);
    } else {
        ec_strip_gather(s, y, plan->border);
        if (s->family == FAMILY_GRADIENT) {
            void *smooth = ec_strip_scratch(&s->smooth), *derive = ec_strip_scratch(&s->derive);
            s->kind->gradient_down(smooth, derive, s->windows[0], s->width, plan);
            ec_ring_extend(&s->smooth, smooth, plan->border);
            ec_ring_extend(&s->derive, derive, plan->border);
            s->kind->gradient_across(out, response, smooth, derive, s->width, plan);
        } else if (s->family == FAMILY_WINDOW) {
            s->kind->window(out, response, s->windows[0], s->width, plan);
        } else {
            convolution_row(s, out, response);
            return;
        }
    }
    if (!s->plain)
        s->kind->finish(out, response, s->width, &plan->finish);
}

void ec_strip_begin(struct ec_strip *strip, const struct ec_image *in, bool limited_range)
{
    strip->in = in;
    strip->limited_range = limited_range;
    strip->channel = 0;
    strip->blur_begun = false;
    for (int c = 0; c < strip->plan->channels; c++) {
        ec_ring_clear(&strip->input[c]);
        if (strip->blurred[c].slots)
            ec_ring_clear(&strip->blurred[c]);
        if (strip->blur_pairs[c].slots)
            ec_ring_clear(&strip->blur_pairs[c]);
    }
    if (strip->converted.slots)
        ec_ring_clear(&strip->converted);
}

void ec_strip_run(struct ec_strip *strip, const struct ec_image *in, bool limited_range, const struct ec_image *out, int first,
                  int end)
{
    ec_strip_begin(strip, in, limited_range);
    if (strip->tall) {
        ec_strip_run_tall(strip, out, first, end);
        return;
    }
    if (strip->near.is_used) {
        ec_strip_run_near(strip, out, first, end);
        return;
    }
    if (strip->grouped) {
        ec_strip_run_grouped(strip, out, first, end);
        return;
    }
    for (int y = first; y < end; y++)
        run_row(strip, y, (uint8_t *)out->data + y * out->pitch_bytes);
}
