/* Convolutions that take several rows of output at a time. */
#include "edge/arith.h"
#include "edge/strip.h"
#include "edge/strip_state.h"

/* Whether rows are finished without sums of them in memory. */
static bool finishes_at_once(const struct ec_strip *s)
{
    return s->plain && (s->family == FAMILY_DOTS ? s->dots.divisor != 0 : s->plan->convolution.divisor <= 1);
}

static void convolve(struct ec_strip *s, void *const *out, const void *const *rows)
{
    uint8_t *const bytes[EC_GROUP_ROWS] = {out[0], out[1]};
    if (s->family == FAMILY_DOTS)
        s->rows->sum_dots(bytes, rows, s->width, &s->dots);
    else if (s->family == FAMILY_SPLIT)
        s->rows->sum_split(bytes, rows, s->width, &s->split);
    else
        s->kind->convolve(out, rows, s->width, &s->fused, s->plan->finish.max);
}

static void sum(struct ec_strip *s, void *const *sums, const void *const *rows)
{
    float *const floats[EC_GROUP_ROWS] = {sums[0], sums[1]};
    double *const doubles[EC_GROUP_ROWS] = {sums[0], sums[1]};
    if (s->family == FAMILY_DOTS)
        s->rows->sum_dots_wide(floats, rows, s->width, &s->dots);
    else if (s->family == FAMILY_SPLIT)
        s->rows->sum_split_wide(doubles, rows, s->width, &s->split);
    else
        s->rows->sum_group(floats, rows, s->width, &s->fused);
}

static void finish(struct ec_strip *s, void *out, const void *sums)
{
    const struct ec_plan *plan = s->plan;
    int32_t *response = ec_strip_scratch(&s->response);
    if (s->family == FAMILY_FUSED) {
        s->kind->finish_float(out, sums, s->width, &plan->finish);
        return;
    }
    if (s->family == FAMILY_SPLIT)
        s->rows->divide_double(response, sums, s->width, plan->convolution.divisor);
    else
        s->rows->divide_float(response, sums, s->width, plan->convolution.divisor);
    s->kind->finish(out, response, s->width, &plan->finish);
}

void ec_strip_run_grouped(struct ec_strip *s, const struct ec_image *out, int first, int end)
{
    for (int y = first; y < end; y += EC_GROUP_ROWS) {
        const int count = ec_min_i32(EC_GROUP_ROWS, end - y);
        const void *const *rows = s->windows[0];
        void *to[EC_GROUP_ROWS], *sums[EC_GROUP_ROWS];
        bool fresh;
        for (int r = 0; r < EC_GROUP_ROWS; r++) {
            to[r] = r < count ? (uint8_t *)out->data + (y + r) * out->pitch_bytes : (uint8_t *)ec_strip_scratch(&s->response);
            sums[r] = ec_ring_row(&s->sums, r, &fresh);
        }
        ec_strip_gather(s, y, s->plan->border);
        if (finishes_at_once(s)) {
            convolve(s, to, rows);
            continue;
        }
        sum(s, sums, rows);
        for (int r = 0; r < count; r++)
            finish(s, to[r], sums[r]);
    }
}
