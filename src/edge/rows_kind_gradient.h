/* Separable gradients, a part of rows_kind.h: the terms are explained there. */

INLINE void NAME(gradient3_down)(SUM *restrict smooth, SUM *restrict derive, const void *const *rows, int n, int side,
                                 int middle)
{
    const PIXEL *restrict a = rows[0], *restrict b = rows[1], *restrict c = rows[2];
    for (int x = 0; x < n; x++) {
        smooth[x] = (SUM)(side * (a[x] + c[x]) + middle * b[x]);
        derive[x] = (SUM)(c[x] - a[x]);
    }
}

INLINE void NAME(gradient3_across)(PIXEL *restrict out, int32_t *restrict response, const SUM *restrict smooth,
                                   const SUM *restrict derive, int n, int side, int middle, enum magnitude magnitude,
                                   bool plain, const struct ec_plan *plan)
{
    const SUM max = (SUM)plan->finish.max;
    const int32_t cap = square_of_saturation(plan);
    for (int x = 0; x < n; x++) {
        const SUM gx = (SUM)(smooth[x + 1] - smooth[x - 1]);
        const SUM gy = (SUM)(side * (derive[x - 1] + derive[x + 1]) + middle * derive[x]);
        NAME(put)(out, response, x, NAME(measure)(gx, gy, magnitude, cap), max, plain);
    }
}

INLINE void NAME(gradient_large_down)(int32_t *restrict smooth, int32_t *restrict derive, const void *const *rows, int n,
                                      int size, const struct ec_gradient_taps *taps)
{
    const struct ec_gradient_taps t = *taps;
    const PIXEL *r[7];
    for (int j = 0; j < size; j++)
        r[j] = rows[j];
    for (int x = 0; x < n; x++) {
        int32_t s = 0, d = 0;
        for (int j = 0; j < size; j++) {
            s += t.smooth[j] * r[j][x];
            d += t.derive[j] * r[j][x];
        }
        smooth[x] = s;
        derive[x] = d;
    }
}

INLINE void NAME(gradient_large_across)(int32_t *restrict response, const int32_t *restrict smooth,
                                        const int32_t *restrict derive, int n, int size, bool l1,
                                        const struct ec_gradient_taps *taps)
{
    const struct ec_gradient_taps t = *taps;
    for (int x = 0; x < n; x++) {
        int32_t gx = 0, gy = 0;
        for (int i = 0; i < size; i++) {
            gx += t.derive[i] * smooth[x + i - size / 2];
            gy += t.smooth[i] * derive[x + i - size / 2];
        }
        response[x] = l1 ? ec_abs_i32(gx) + ec_abs_i32(gy) : root_large(gx, gy);
    }
}

static void NAME(gradient_down)(void *smooth, void *derive, const void *const *rows, int n, const struct ec_plan *plan)
{
    const struct ec_gradient_taps *taps = &plan->gradient;
    if (taps->size == 7)
        NAME(gradient_large_down)(smooth, derive, rows, n, 7, taps);
    else if (taps->size == 5)
        NAME(gradient_large_down)(smooth, derive, rows, n, 5, taps);
    else if (plan->op == EC_OPERATOR_SOBEL || plan->op == EC_OPERATOR_CANNY)
        NAME(gradient3_down)(smooth, derive, rows, n, 1, 2);
    else
        NAME(gradient3_down)(smooth, derive, rows, n, taps->smooth[0], taps->smooth[1]);
}

static void NAME(gradient_across)(void *out, int32_t *response, const void *smooth, const void *derive, int n,
                                  const struct ec_plan *plan)
{
    const struct ec_gradient_taps *taps = &plan->gradient;
    const enum magnitude magnitude = magnitude_of(plan);
    const bool plain = ec_rows_plain(&plan->finish), l1 = plan->norm == EC_NORM_L1;
    if (taps->size > 3) {
        if (taps->size == 5 && l1)
            NAME(gradient_large_across)(response, smooth, derive, n, 5, true, taps);
        else if (taps->size == 5)
            NAME(gradient_large_across)(response, smooth, derive, n, 5, false, taps);
        else if (l1)
            NAME(gradient_large_across)(response, smooth, derive, n, 7, true, taps);
        else
            NAME(gradient_large_across)(response, smooth, derive, n, 7, false, taps);
        if (plain)
            NAME(finish)(out, response, n, &plan->finish);
        return;
    }
#define ACROSS(side, middle, kind, is_plain)                                                                                   \
    NAME(gradient3_across)(out, response, smooth, derive, n, side, middle, kind, is_plain, plan)
    const int side = taps->smooth[0], middle = taps->smooth[1];
    if (plain && plan->op == EC_OPERATOR_SOBEL && magnitude == MAGNITUDE_L1)
        ACROSS(1, 2, MAGNITUDE_L1, true);
    else if (plain && plan->op == EC_OPERATOR_SOBEL && magnitude == MAGNITUDE_L2_SMALL)
        ACROSS(1, 2, MAGNITUDE_L2_SMALL, true);
    else if (plain && magnitude == MAGNITUDE_L1)
        ACROSS(side, middle, MAGNITUDE_L1, true);
    else if (plain && magnitude == MAGNITUDE_L2_SMALL)
        ACROSS(side, middle, MAGNITUDE_L2_SMALL, true);
    else if (plain)
        ACROSS(side, middle, MAGNITUDE_L2, true);
    else if (magnitude == MAGNITUDE_L1)
        ACROSS(side, middle, MAGNITUDE_L1, false);
    else if (magnitude == MAGNITUDE_L2_SMALL)
        ACROSS(side, middle, MAGNITUDE_L2_SMALL, false);
    else
        ACROSS(side, middle, MAGNITUDE_L2, false);
#undef ACROSS
}

INLINE void NAME(canny_gradient_large)(const struct ec_canny_gradients *out, const int32_t *restrict smooth,
                                       const int32_t *restrict derive, int n, int size, const struct ec_gradient_taps *taps)
{
    const struct ec_gradient_taps t = *taps;
    int32_t *restrict gx = out->gx, *restrict gy = out->gy, *restrict sums = out->sums;
    for (int x = 0; x < n; x++) {
        int32_t along = 0, across = 0;
        for (int i = 0; i < size; i++) {
            along += t.derive[i] * smooth[x + i - size / 2];
            across += t.smooth[i] * derive[x + i - size / 2];
        }
        gx[x] = size == 7 ? ec_sixteenth(along) : along;
        gy[x] = size == 7 ? ec_sixteenth(across) : across;
        sums[x] = ec_abs_i32(gx[x]) + ec_abs_i32(gy[x]);
    }
}

static void NAME(canny_gradient)(const struct ec_canny_gradients *out, const void *smooth_row, const void *derive_row, int n,
                                 const struct ec_plan *plan)
{
    if (plan->gradient.size == 7) {
        NAME(canny_gradient_large)(out, smooth_row, derive_row, n, 7, &plan->gradient);
        return;
    }
    if (plan->gradient.size == 5) {
        NAME(canny_gradient_large)(out, smooth_row, derive_row, n, 5, &plan->gradient);
        return;
    }
    int32_t *restrict gx = out->gx, *restrict gy = out->gy, *restrict sums = out->sums;
    const SUM *restrict smooth = smooth_row, *restrict derive = derive_row;
    for (int x = 0; x < n; x++) {
        gx[x] = smooth[x + 1] - smooth[x - 1];
        gy[x] = derive[x - 1] + 2 * derive[x] + derive[x + 1];
        sums[x] = ec_abs_i32(gx[x]) + ec_abs_i32(gy[x]);
    }
}
