/* Operators of 2x2 and 3x3 pixels on EC_TALL_ROWS rows at once, a part of rows_kind.h for kinds whose responses fit 16 bits:
 * the terms are explained there.
 *
 * A vector holds a pixel a lane. Of bytes there are two, for even and for odd columns: a vector of bytes that begins one
 * further to the left or right has the neighbours of the one in place for the other. What is taken from a row across serves
 * the three rows of the output that look at it. */
#define PARTS (IS_8_BIT ? 2 : 1)
#define TALL_STEP (LANES_BYTES / (int)sizeof(PIXEL))

/* The pixels of a row at certain columns, and those to the left and right of them. */
struct NAME(trio) {
    lanes left, middle, right;
};

struct NAME(trios) {
    struct NAME(trio) part[PARTS];
};

INLINE struct NAME(trios) NAME(load_trios)(const void *row, int x, lanes max)
{
    const PIXEL *p = (const PIXEL *)row + x;
    const lanes left = lanes_load(p - 1), middle = lanes_load(p), right = lanes_load(p + 1);
    struct NAME(trios) t;
    if (IS_8_BIT) {
        t.part[0] = (struct NAME(trio)){lanes_even(left), lanes_even(middle), lanes_odd(middle)};
        t.part[PARTS - 1] = (struct NAME(trio)){lanes_even(middle), lanes_odd(middle), lanes_odd(right)};
    } else {
        t.part[0] =
            (struct NAME(trio)){lanes_min_positive(left, max), lanes_min_positive(middle, max), lanes_min_positive(right, max)};
    }
    return t;
}

/* Responses clamped to the depth. */
INLINE void NAME(store_parts)(void *row, int x, const lanes response[PARTS], lanes max)
{
    PIXEL *p = (PIXEL *)row + x;
    if (IS_8_BIT)
        lanes_store(p, lanes_join(response[0], response[PARTS - 1]));
    else
        lanes_store(p, lanes_min(lanes_max(response[0], lanes_of(0)), max));
}

/* Every second part goes by the processor's own root. */
INLINE struct half_root NAME(begin_length)(int part, lanes gx, lanes gy)
{
    return part % 2 ? (struct half_root){.root = lanes_root(gx, gy)} : lanes_begin_root(gx, gy);
}

INLINE lanes NAME(end_length)(int part, struct half_root half)
{
    return part % 2 ? half.root : lanes_end_root(half);
}

/* The responses to gradients of row y; those of l2 are a row behind, `begun` keeps them, and the last come by put_last. */
INLINE void NAME(put_lengths)(void *const *out, int y, int x, const lanes gx[PARTS], const lanes gy[PARTS],
                              struct half_root begun[PARTS], lanes max, bool l1)
{
    lanes response[PARTS];
    for (int i = 0; i < PARTS; i++) {
        const struct half_root before = begun[i];
        if (!l1)
            begun[i] = NAME(begin_length)(i, gx[i], gy[i]);
        response[i] = l1 ? lanes_absolute(gx[i]) + lanes_absolute(gy[i]) : NAME(end_length)(i, before);
    }
    if (l1 || y)
        NAME(store_parts)(out[l1 ? y : y - 1], x, response, max);
}

INLINE void NAME(put_last)(void *const *out, int x, const struct half_root begun[PARTS], lanes max, bool l1)
{
    lanes response[PARTS];
    if (l1)
        return;
    for (int i = 0; i < PARTS; i++)
        response[i] = NAME(end_length)(i, begun[i]);
    NAME(store_parts)(out[EC_TALL_ROWS - 1], x, response, max);
}

/* Three neighbours weighted; where the middle counts twice, the sums of two serve the next three too. */
INLINE lanes NAME(weigh)(lanes a, lanes b, lanes c, int side, int middle)
{
    return middle == 2 && side == 1 ? (a + b) + (b + c) : (a + c) * (int16_t)side + b * (int16_t)middle;
}

/* Of a row: its differences across, and its weighted sums across. */
struct NAME(slopes) {
    lanes differences[PARTS], sums[PARTS];
};

INLINE struct NAME(slopes) NAME(load_slopes)(const void *row, int x, lanes max, int side, int middle)
{
    const struct NAME(trios) t = NAME(load_trios)(row, x, max);
    struct NAME(slopes) s;
    for (int i = 0; i < PARTS; i++) {
        const struct NAME(trio) p = t.part[i];
        s.differences[i] = p.right - p.left;
        s.sums[i] = NAME(weigh)(p.left, p.middle, p.right, side, middle);
    }
    return s;
}

INLINE void NAME(tall_gradient)(void *const *out, const void *const *rows, int n, const struct ec_plan *plan, int side,
                                int middle, bool l1)
{
    const lanes max = lanes_of(plan->finish.max);
    const struct ahead ahead = ahead_of(out, rows);
    for (int x = 0; x < n; x += TALL_STEP) {
        struct NAME(slopes) a = NAME(load_slopes)(rows[0], x, max, side, middle);
        struct NAME(slopes) b = NAME(load_slopes)(rows[1], x, max, side, middle);
        struct half_root begun[PARTS] = {0};
#pragma GCC unroll 8
        for (int y = 0; y < EC_TALL_ROWS; y++) {
            const struct NAME(slopes) c = NAME(load_slopes)(rows[y + 2], x, max, side, middle);
            lanes gx[PARTS], gy[PARTS];
            for (int i = 0; i < PARTS; i++) {
                gx[i] = NAME(weigh)(a.differences[i], b.differences[i], c.differences[i], side, middle);
                gy[i] = c.sums[i] - a.sums[i];
            }
            NAME(put_lengths)(out, y, x, gx, gy, begun, max, l1);
            prefetch_ahead(&ahead, rows[y + 2], out[y], x * (int)sizeof(PIXEL));
            a = b;
            b = c;
        }
        NAME(put_last)(out, x, begun, max, l1);
    }
}

/* The window has its first pixel in the middle. */
INLINE void NAME(tall_roberts)(void *const *out, const void *const *rows, int n, const struct ec_plan *plan, bool l1)
{
    const lanes max = lanes_of(plan->finish.max);
    const struct ahead ahead = ahead_of(out, rows);
    for (int x = 0; x < n; x += TALL_STEP) {
        struct NAME(trios) b = NAME(load_trios)(rows[1], x, max);
        struct half_root begun[PARTS] = {0};
#pragma GCC unroll 8
        for (int y = 0; y < EC_TALL_ROWS; y++) {
            const struct NAME(trios) c = NAME(load_trios)(rows[y + 2], x, max);
            lanes gx[PARTS], gy[PARTS];
            for (int i = 0; i < PARTS; i++) {
                gx[i] = b.part[i].middle - c.part[i].right;
                gy[i] = b.part[i].right - c.part[i].middle;
            }
            NAME(put_lengths)(out, y, x, gx, gy, begun, max, l1);
            prefetch_ahead(&ahead, rows[y + 2], out[y], x * (int)sizeof(PIXEL));
            b = c;
        }
        NAME(put_last)(out, x, begun, max, l1);
    }
}

INLINE lanes NAME(tall_kirsch_response)(struct NAME(trio) a, struct NAME(trio) b, struct NAME(trio) c)
{
    const lanes p01 = a.left + a.middle, p23 = a.right + b.right, p45 = c.right + c.middle, p67 = c.left + b.left;
    const lanes all = (p01 + p23) + (p45 + p67);
    const lanes best = lanes_max(lanes_max(p01 + lanes_max(b.left, a.right), p23 + lanes_max(a.middle, c.right)),
                                 lanes_max(p45 + lanes_max(b.right, c.left), p67 + lanes_max(c.middle, a.left)));
    return best * 8 - all * 3;
}

INLINE lanes NAME(tall_robinson_response)(struct NAME(trio) a, struct NAME(trio) b, struct NAME(trio) c)
{
    const lanes d0 = a.left - c.right, d1 = a.middle - c.middle, d2 = a.right - c.left, d3 = b.right - b.left;
    const lanes m0 = d0 + d2 + (d1 + d1), m1 = d1 + d3 + (d2 + d2), m2 = d2 - d0 + (d3 + d3), m3 = d3 - d1 - (d0 + d0);
    return lanes_max(lanes_max(lanes_absolute(m0), lanes_absolute(m1)), lanes_max(lanes_absolute(m2), lanes_absolute(m3)));
}

INLINE lanes NAME(tall_laplacian_response)(struct NAME(trio) a, struct NAME(trio) b, struct NAME(trio) c)
{
    return lanes_absolute((a.middle + c.middle) + (b.left + b.right) - (b.middle << 2));
}

INLINE lanes NAME(tall_response)(struct NAME(trio) a, struct NAME(trio) b, struct NAME(trio) c, enum ec_operator op)
{
    switch (op) {
    case EC_OPERATOR_KIRSCH:
        return NAME(tall_kirsch_response)(a, b, c);
    case EC_OPERATOR_ROBINSON:
        return NAME(tall_robinson_response)(a, b, c);
    default:
        return NAME(tall_laplacian_response)(a, b, c);
    }
}

INLINE void NAME(tall_window)(void *const *out, const void *const *rows, int n, const struct ec_plan *plan, enum ec_operator op)
{
    const lanes max = lanes_of(plan->finish.max);
    const struct ahead ahead = ahead_of(out, rows);
    for (int x = 0; x < n; x += TALL_STEP) {
        struct NAME(trios) a = NAME(load_trios)(rows[0], x, max), b = NAME(load_trios)(rows[1], x, max);
#pragma GCC unroll 8
        for (int y = 0; y < EC_TALL_ROWS; y++) {
            const struct NAME(trios) c = NAME(load_trios)(rows[y + 2], x, max);
            lanes response[PARTS];
            for (int i = 0; i < PARTS; i++)
                response[i] = NAME(tall_response)(a.part[i], b.part[i], c.part[i], op);
            NAME(store_parts)(out[y], x, response, max);
            prefetch_ahead(&ahead, rows[y + 2], out[y], x * (int)sizeof(PIXEL));
            a = b;
            b = c;
        }
    }
}

#if BY_DOTS
#include "edge/rows_kind_blocks.h"
#endif

#define TALL(name, how, ...)                                                                                                   \
    static void NAME(name)(void *const *out, const void *const *rows, int n, const struct ec_plan *plan)                       \
    {                                                                                                                          \
        NAME(how)(out, rows, n, plan, __VA_ARGS__);                                                                            \
    }
#if BY_DOTS
TALL(tall_sobel_l1, tall_blocks, 2, 2, true)
TALL(tall_scharr_l1, tall_blocks, 6, 10, true)
#else
TALL(tall_sobel_l1, tall_gradient, 1, 2, true)
TALL(tall_scharr_l1, tall_gradient, 3, 10, true)
#endif
TALL(tall_prewitt_l1, tall_gradient, 1, 1, true)
TALL(tall_roberts_l1, tall_roberts, true)
TALL(tall_kirsch, tall_window, EC_OPERATOR_KIRSCH)
TALL(tall_robinson, tall_window, EC_OPERATOR_ROBINSON)
TALL(tall_laplacian, tall_window, EC_OPERATOR_LAPLACIAN)
#if HAS_ROOT_OF_LANES
TALL(tall_sobel_l2, tall_blocks, 1, 1, false)
TALL(tall_scharr_l2, tall_blocks, 3, 5, false)
TALL(tall_prewitt_l2, tall_gradient, 1, 1, false)
TALL(tall_roberts_l2, tall_roberts, false)
#define TALL_L2(name) NAME(name)
#else
#define TALL_L2(name) NULL
#endif

/* By operator and norm. */
static ec_rows_tall *const NAME(tall)[EC_OPERATOR_COUNT][2] = {
    [EC_OPERATOR_SOBEL] = {TALL_L2(tall_sobel_l2), NAME(tall_sobel_l1)},
    [EC_OPERATOR_PREWITT] = {TALL_L2(tall_prewitt_l2), NAME(tall_prewitt_l1)},
    [EC_OPERATOR_SCHARR] = {TALL_L2(tall_scharr_l2), NAME(tall_scharr_l1)},
    [EC_OPERATOR_ROBERTS] = {TALL_L2(tall_roberts_l2), NAME(tall_roberts_l1)},
    [EC_OPERATOR_KIRSCH] = {NAME(tall_kirsch), NAME(tall_kirsch)},
    [EC_OPERATOR_ROBINSON] = {NAME(tall_robinson), NAME(tall_robinson)},
    [EC_OPERATOR_LAPLACIAN] = {NAME(tall_laplacian), NAME(tall_laplacian)},
    [EC_OPERATOR_LOG] = {NAME(tall_laplacian), NAME(tall_laplacian)},
};

#undef TALL_L2
#undef TALL
#undef PARTS
#undef TALL_STEP
