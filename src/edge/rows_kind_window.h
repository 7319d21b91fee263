/* Operators that look at 2x2 or 3x3 pixels at once, and the difference of two rows, a part of rows_kind.h: the terms are
 * explained there. */

INLINE void NAME(roberts)(PIXEL *restrict out, int32_t *restrict response, const void *const *rows, int n,
                          enum magnitude magnitude, bool plain, const struct ec_plan *plan)
{
    const PIXEL *restrict a = rows[0], *restrict b = rows[1];
    const SUM max = (SUM)plan->finish.max;
    const int32_t cap = square_of_saturation(plan);
    for (int x = 0; x < n; x++) {
        const SUM gx = (SUM)(a[x] - b[x + 1]), gy = (SUM)(a[x + 1] - b[x]);
        NAME(put)(out, response, x, NAME(measure)(gx, gy, magnitude, cap), max, plain);
    }
}

/* Sums of three neighbours share the pairs they have in common. */
INLINE void NAME(kirsch)(PIXEL *restrict out, int32_t *restrict response, const void *const *rows, int n, bool plain,
                         const struct ec_plan *plan)
{
    const PIXEL *restrict a = rows[0], *restrict b = rows[1], *restrict c = rows[2];
    const SUM max = (SUM)plan->finish.max;
    for (int x = 0; x < n; x++) {
        const SUM p0 = a[x - 1], p1 = a[x], p2 = a[x + 1], p3 = b[x + 1];
        const SUM p4 = c[x + 1], p5 = c[x], p6 = c[x - 1], p7 = b[x - 1];
        const SUM p01 = (SUM)(p0 + p1), p23 = (SUM)(p2 + p3), p45 = (SUM)(p4 + p5), p67 = (SUM)(p6 + p7);
        const SUM all = (SUM)(p01 + p23 + p45 + p67);
        /* Of p + pair and pair + q the larger has the larger of p and q. */
        const SUM best = NAME(maximum)(NAME(maximum)((SUM)(p01 + NAME(maximum)(p7, p2)), (SUM)(p23 + NAME(maximum)(p1, p4))),
                                       NAME(maximum)((SUM)(p45 + NAME(maximum)(p3, p6)), (SUM)(p67 + NAME(maximum)(p5, p0))));
        NAME(put)(out, response, x, (SUM)(8 * best - 3 * all), max, plain);
    }
}

INLINE void NAME(robinson)(PIXEL *restrict out, int32_t *restrict response, const void *const *rows, int n, bool plain,
                           const struct ec_plan *plan)
{
    const PIXEL *restrict a = rows[0], *restrict b = rows[1], *restrict c = rows[2];
    const SUM max = (SUM)plan->finish.max;
    for (int x = 0; x < n; x++) {
        /* Differences across the centre, in the order of the ring; each mask weighs three in a row 1 2 1. */
        const SUM d0 = (SUM)(a[x - 1] - c[x + 1]), d1 = (SUM)(a[x] - c[x]);
        const SUM d2 = (SUM)(a[x + 1] - c[x - 1]), d3 = (SUM)(b[x + 1] - b[x - 1]);
        const SUM m0 = NAME(absolute)((SUM)(d0 + 2 * d1 + d2)), m1 = NAME(absolute)((SUM)(d1 + 2 * d2 + d3));
        const SUM m2 = NAME(absolute)((SUM)(d2 + 2 * d3 - d0)), m3 = NAME(absolute)((SUM)(d3 - 2 * d0 - d1));
        NAME(put)(out, response, x, NAME(maximum)(NAME(maximum)(m0, m1), NAME(maximum)(m2, m3)), max, plain);
    }
}

INLINE void NAME(laplacian)(PIXEL *restrict out, int32_t *restrict response, const void *const *rows, int n, bool plain,
                            const struct ec_plan *plan)
{
    const PIXEL *restrict a = rows[0], *restrict b = rows[1], *restrict c = rows[2];
    const SUM max = (SUM)plan->finish.max;
    for (int x = 0; x < n; x++) {
        const SUM m = NAME(absolute)((SUM)(a[x] + b[x - 1] + b[x + 1] + c[x] - 4 * b[x]));
        NAME(put)(out, response, x, m, max, plain);
    }
}

INLINE void NAME(window_plain)(void *out, int32_t *response, const void *const *rows, int n, bool plain,
                               const struct ec_plan *plan)
{
    const enum magnitude magnitude = magnitude_of(plan);
    if (plan->op == EC_OPERATOR_KIRSCH)
        NAME(kirsch)(out, response, rows, n, plain, plan);
    else if (plan->op == EC_OPERATOR_ROBINSON)
        NAME(robinson)(out, response, rows, n, plain, plan);
    else if (plan->op != EC_OPERATOR_ROBERTS)
        NAME(laplacian)(out, response, rows, n, plain, plan);
    else if (magnitude == MAGNITUDE_L1)
        NAME(roberts)(out, response, rows, n, MAGNITUDE_L1, plain, plan);
    else if (magnitude == MAGNITUDE_L2_SMALL)
        NAME(roberts)(out, response, rows, n, MAGNITUDE_L2_SMALL, plain, plan);
    else
        NAME(roberts)(out, response, rows, n, MAGNITUDE_L2, plain, plan);
}

static void NAME(window)(void *out, int32_t *response, const void *const *rows, int n, const struct ec_plan *plan)
{
    if (ec_rows_plain(&plan->finish))
        NAME(window_plain)(out, response, rows, n, true, plan);
    else
        NAME(window_plain)(out, response, rows, n, false, plan);
}

static void NAME(difference)(void *out_row, int32_t *restrict response, const void *a_row, const void *b_row, int n,
                             const struct ec_plan *plan)
{
    PIXEL *restrict out = out_row;
    const PIXEL *restrict a = a_row, *restrict b = b_row;
    if (ec_rows_plain(&plan->finish))
        for (int x = 0; x < n; x++)
            out[x] = (PIXEL)(a[x] > b[x] ? a[x] - b[x] : b[x] - a[x]);
    else
        for (int x = 0; x < n; x++)
            response[x] = a[x] > b[x] ? a[x] - b[x] : b[x] - a[x];
}
