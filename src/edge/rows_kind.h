/* The row functions for one kind of pixel, included once for each by rows_table.h, which says what
 *   KIND        is appended to every name
 *   PIXEL       holds a pixel
 *   SUM         holds every 3x3 response and its parts (up to SUM_LIMIT)
 *   BLUR_COUNT  holds a Gaussian's sum in one direction, BLUR_SUM in both, exactly */
#define JOIN_TOKENS(name, kind) name##_##kind
#define JOIN(name, kind) JOIN_TOKENS(name, kind)
#define NAME(name) JOIN(name, KIND)
#define IS_8_BIT (sizeof(PIXEL) == 1)
#define IS_WIDE (sizeof(SUM) == 4)

static void NAME(prepare)(void *out_row, const void *in_row, int n, const struct ec_luma_map *luma, bool limited_range)
{
    PIXEL *restrict out = out_row;
    const PIXEL *restrict in = in_row;
    const PIXEL max = (PIXEL)luma->max, offset = (PIXEL)luma->offset;
    if (!limited_range) {
        for (int x = 0; x < n; x++)
            out[x] = in[x] < max ? in[x] : max;
    } else if (IS_8_BIT) {
        /* 255/219 = 1 + 12/73, and 14365/2^21 is above 2/292 by so little that it rounds 24a + 73 as the division would. */
        for (int x = 0; x < n; x++) {
            const uint16_t above = in[x] > offset ? (uint16_t)(in[x] - offset) : 0;
            const uint16_t halved = (uint16_t)(24 * above + 73);
            const uint16_t value = (uint16_t)(above + (((uint32_t)halved * 14365u >> 16) >> 5));
            out[x] = (PIXEL)(value < 255 ? value : 255);
        }
    } else if (!IS_WIDE) {
        /* Up to 10 bits the product is below 2^29. */
        const uint32_t multiplier = luma->multiplier, half = (uint32_t)luma->half;
        for (int x = 0; x < n; x++) {
            const PIXEL pixel = in[x] < max ? in[x] : max;
            const uint32_t above = pixel > offset ? (uint32_t)(pixel - offset) : 0;
            const uint32_t value = (above * multiplier + half) >> luma->shift;
            out[x] = (PIXEL)(value < max ? value : max);
        }
    } else {
        const uint32_t multiplier = luma->multiplier;
        for (int x = 0; x < n; x++) {
            const PIXEL pixel = in[x] < max ? in[x] : max;
            const uint32_t above = pixel > offset ? (uint32_t)(pixel - offset) : 0;
            const uint32_t value = (uint32_t)(((uint64_t)above * multiplier + luma->half) >> luma->shift);
            out[x] = (PIXEL)(value < max ? value : max);
        }
    }
}

static void NAME(to_float)(float *restrict out, const void *in_row, int n)
{
    const PIXEL *restrict in = in_row;
    for (int x = 0; x < n; x++)
        out[x] = (float)in[x];
}

/* The weights are symmetric, so rows go in pairs, four pairs a pass, with weight 0 past the last. */
struct NAME(pairs) {
    const PIXEL *a[4], *b[4];
    BLUR_COUNT weights[4];
};

OUT_OF_LINE void NAME(add_pairs)(BLUR_COUNT *restrict counts, const struct NAME(pairs) * pairs, int n)
{
    const PIXEL *restrict a0 = pairs->a[0], *restrict a1 = pairs->a[1], *restrict a2 = pairs->a[2], *restrict a3 = pairs->a[3];
    const PIXEL *restrict b0 = pairs->b[0], *restrict b1 = pairs->b[1], *restrict b2 = pairs->b[2], *restrict b3 = pairs->b[3];
    const BLUR_COUNT w0 = pairs->weights[0], w1 = pairs->weights[1], w2 = pairs->weights[2], w3 = pairs->weights[3];
    for (int x = 0; x < n; x++)
        counts[x] = (BLUR_COUNT)(counts[x] + w0 * (BLUR_COUNT)(a0[x] + b0[x]) + w1 * (BLUR_COUNT)(a1[x] + b1[x]) +
                                 w2 * (BLUR_COUNT)(a2[x] + b2[x]) + w3 * (BLUR_COUNT)(a3[x] + b3[x]));
}

static void NAME(blur_down)(void *sums_row, const void *const *rows, int n, const struct ec_blur_taps *taps)
{
    BLUR_SUM *restrict sums = sums_row;
    const int half = taps->size / 2;
    for (int start = 0; start < n; start += BLOCK) {
        BLUR_COUNT counts[BLOCK];
        const int columns = n - start < BLOCK ? n - start : BLOCK;
        const PIXEL *restrict middle = (const PIXEL *)rows[half] + start;
        const BLUR_COUNT middle_weight = (BLUR_COUNT)taps->weights[half];
        for (int x = 0; x < columns; x++)
            counts[x] = (BLUR_COUNT)(middle_weight * middle[x]);
        for (int first = 1; first <= half; first += 4) {
            struct NAME(pairs) pairs;
            for (int k = 0; k < 4; k++) {
                const int distance = first + k <= half ? first + k : first;
                pairs.a[k] = (const PIXEL *)rows[half - distance] + start;
                pairs.b[k] = (const PIXEL *)rows[half + distance] + start;
                pairs.weights[k] = first + k <= half ? (BLUR_COUNT)taps->weights[half - distance] : 0;
            }
            NAME(add_pairs)(counts, &pairs, columns);
        }
        for (int x = 0; x < columns; x++)
            sums[start + x] = (BLUR_SUM)counts[x];
    }
}

/* weights[k] times the sums distance + k columns away on either side. */
OUT_OF_LINE void NAME(add_sides)(BLUR_SUM *restrict totals, const BLUR_SUM *sums, int distance, const BLUR_SUM weights[4],
                                 int n)
{
    const BLUR_SUM *l0 = sums - distance, *r0 = sums + distance;
    const BLUR_SUM w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
    for (int x = 0; x < n; x++) {
        BLUR_SUM total = BLUR_MULTIPLY_ADD(w0, l0[x] + r0[x], totals[x]);
        total = BLUR_MULTIPLY_ADD(w1, l0[x - 1] + r0[x + 1], total);
        total = BLUR_MULTIPLY_ADD(w2, l0[x - 2] + r0[x + 2], total);
        totals[x] = BLUR_MULTIPLY_ADD(w3, l0[x - 3] + r0[x + 3], total);
    }
}

/* A sum has at most 24 bits (8-bit pixels) or 48 (deeper ones), and so has its rounded fraction: all exact. The margins of
 * `sums` reach EC_BLUR_SLACK columns further than the weights, for weights that are 0. */
static void NAME(blur_across)(void *out_row, const void *sums_row, int n, const struct ec_blur_taps *taps)
{
    PIXEL *restrict out = out_row;
    const int half = taps->size / 2;
    const BLUR_SUM unit = 1 / ((BLUR_SUM)(1 << taps->fraction_bits) * (BLUR_SUM)(1 << taps->fraction_bits));
    for (int start = 0; start < n; start += BLOCK) {
        BLUR_SUM totals[BLOCK];
        const int columns = n - start < BLOCK ? n - start : BLOCK;
        const BLUR_SUM *restrict sums = (const BLUR_SUM *)sums_row + start;
        const BLUR_SUM middle_weight = (BLUR_SUM)taps->weights[half];
        for (int x = 0; x < columns; x++)
            totals[x] = middle_weight * sums[x];
        for (int first = 1; first <= half; first += 4) {
            BLUR_SUM weights[4];
            for (int k = 0; k < 4; k++)
                weights[k] = first + k <= half ? (BLUR_SUM)taps->weights[half - first - k] : 0;
            NAME(add_sides)(totals, sums, first, weights, columns);
        }
        for (int x = 0; x < columns; x++)
            out[start + x] = (PIXEL)(int32_t)(totals[x] * unit + (BLUR_SUM)0.5);
    }
}

INLINE void NAME(finish_loop)(void *out_row, const int32_t *restrict response, int n, const struct ec_finish *finish,
                              bool identity, bool narrow)
{
    const struct ec_finish f = {.absolute = finish->absolute,
                                .identity = identity,
                                .has_threshold = finish->has_threshold,
                                .scale = finish->scale,
                                .delta = finish->delta,
                                .threshold = finish->threshold,
                                .max = finish->max,
                                .narrow_shift = narrow ? finish->narrow_shift : 0};
    PIXEL *restrict out = out_row;
    uint8_t *restrict out_narrow = out_row;
    for (int x = 0; x < n; x++) {
        const uint32_t value = ec_finish(response[x], &f);
        if (narrow)
            out_narrow[x] = (uint8_t)value;
        else
            out[x] = (PIXEL)value;
    }
}

static void NAME(finish)(void *out, const int32_t *response, int n, const struct ec_finish *finish)
{
    const bool narrow = !IS_8_BIT && finish->narrow_shift;
    if (finish->identity && !narrow)
        NAME(finish_loop)(out, response, n, finish, true, false);
    else if (finish->identity)
        NAME(finish_loop)(out, response, n, finish, true, true);
    else if (!narrow)
        NAME(finish_loop)(out, response, n, finish, false, false);
    else
        NAME(finish_loop)(out, response, n, finish, false, true);
}

static void NAME(finish_float)(void *out_row, const float *restrict response, int n, const struct ec_finish *finish)
{
    const struct ec_finish f = *finish;
    PIXEL *restrict out = out_row;
    uint8_t *restrict out_narrow = out_row;
    if (!IS_8_BIT && f.narrow_shift)
        for (int x = 0; x < n; x++)
            out_narrow[x] = (uint8_t)ec_finish_float(response[x], &f);
    else
        for (int x = 0; x < n; x++)
            out[x] = (PIXEL)ec_finish_float(response[x], &f);
}

/* ---- responses ------------------------------------------------------------------------------------------------------------
 */

INLINE SUM NAME(absolute)(SUM a)
{
    return (SUM)(a < 0 ? -a : a);
}

INLINE SUM NAME(maximum)(SUM a, SUM b)
{
    return a > b ? a : b;
}

INLINE void NAME(put)(PIXEL *out, int32_t *response, int x, SUM m, SUM max, bool plain)
{
    if (plain)
        out[x] = (PIXEL)(m < max ? m : max);
    else
        response[x] = m;
}

/* `cap`: the square of plan->saturation for L2_SMALL. */
INLINE SUM NAME(measure)(SUM gx, SUM gy, enum magnitude magnitude, int32_t cap)
{
    if (magnitude == MAGNITUDE_L1)
        return (SUM)(NAME(absolute)(gx) + NAME(absolute)(gy));
    if (IS_WIDE || magnitude == MAGNITUDE_L2)
        return (SUM)root_medium(gx, gy);
    const int32_t square = gx * gx + gy * gy;
    return (SUM)root_small(square < cap ? square : cap);
}

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
    else if (plan->op == EC_OPERATOR_SOBEL)
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

/* ---- convolution ----------------------------------------------------------------------------------------------------------
 */

#define SUM_PIXELS(name, total, multiply_add, result)                                                                          \
    OUT_OF_LINE void NAME(name##_add)(total *restrict sums, const PIXEL *const t[GROUP], const total w[GROUP], int n)          \
    {                                                                                                                          \
        ADD_GROUP(PIXEL, total, multiply_add)                                                                                  \
    }                                                                                                                          \
    static void NAME(name)(result *restrict out, const void *const *terms, const float *weights, int count, int n)             \
    {                                                                                                                          \
        for (int start = 0; start < n; start += BLOCK) {                                                                       \
            total sums[BLOCK];                                                                                                 \
            const int columns = n - start < BLOCK ? n - start : BLOCK;                                                         \
            for (int x = 0; x < columns; x++)                                                                                  \
                sums[x] = 0;                                                                                                   \
            for (int first = 0; first < count; first += GROUP) {                                                               \
                const PIXEL *t[GROUP];                                                                                         \
                total w[GROUP];                                                                                                \
                for (int k = 0; k < GROUP; k++) {                                                                              \
                    const bool inside = first + k < count;                                                                     \
                    t[k] = (const PIXEL *)terms[inside ? first + k : first] + start;                                           \
                    w[k] = inside ? (total)weights[first + k] : 0;                                                             \
                }                                                                                                              \
                NAME(name##_add)(sums, t, w, columns);                                                                         \
            }                                                                                                                  \
            for (int x = 0; x < columns; x++)                                                                                  \
                out[start + x] = (result)sums[x];                                                                              \
        }                                                                                                                      \
    }

SUM_PIXELS(sum_narrow, SUM, MULTIPLY_ADD_INTEGER, float)
SUM_PIXELS(sum_double, double, MULTIPLY_ADD_F64, double)
#undef SUM_PIXELS

static const struct ec_row_kind NAME(kind) = {
    .pixel_bytes = sizeof(PIXEL),
    .gradient_bytes = sizeof(SUM),
    .blur_bytes = sizeof(BLUR_SUM),
    .narrow_max = SUM_LIMIT,
    .prepare = NAME(prepare),
    .to_float = NAME(to_float),
    .blur_down = NAME(blur_down),
    .blur_across = NAME(blur_across),
    .gradient_down = NAME(gradient_down),
    .gradient_across = NAME(gradient_across),
    .window = NAME(window),
    .difference = NAME(difference),
    .sum_narrow = NAME(sum_narrow),
    .sum_double = NAME(sum_double),
    .finish = NAME(finish),
    .finish_float = NAME(finish_float),
};

#undef JOIN_TOKENS
#undef JOIN
#undef NAME
#undef IS_8_BIT
#undef IS_WIDE
#undef KIND
#undef PIXEL
#undef SUM
#undef SUM_LIMIT
#undef BLUR_COUNT
#undef BLUR_SUM
#undef BLUR_MULTIPLY_ADD
