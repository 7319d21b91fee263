/* All row functions for one instruction set: ROWS_TABLE and ROWS_NAME say which, the compiler's options make it so. Everything
 * but the table is static, so that each set keeps its own copy. */
#include <math.h>
#include <string.h>

#include "edge/auto_arith.h"
#include "edge/canny_arith.h"
#include "edge/rows.h"
#include "edge/stable_arith.h"

#define INLINE static inline __attribute__((always_inline))
/* gcc 12 vectorises these loops where they stand alone, but not always inside the loops that call them. */
#define OUT_OF_LINE static __attribute__((noinline))
#define BLOCK 512 /* columns whose sums stay in the first-level cache */
#define GROUP 8 /* terms a pass over a block takes */

/* Where the result is exact anyway, fused or not, whichever is fast. */
#ifdef __FMA__
#define MULTIPLY_ADD_F32(a, b, c) __builtin_fmaf(a, b, c)
#define MULTIPLY_ADD_F64(a, b, c) __builtin_fma(a, b, c)
#else
#define MULTIPLY_ADD_F32(a, b, c) ((a) * (b) + (c))
#define MULTIPLY_ADD_F64(a, b, c) ((a) * (b) + (c))
#endif

/* The largest saturation for which root_small is exact. */
#define SMALL_ROOT_MAX 1023

/* round(sqrt(n)) for n <= 1023^2, exact: sqrt(n) is at least 1 / (8 * 1023.5) > 2^-14 away from every k + 1/2, while the root
 * and the sum, both below 1024, are off by 2^-15 at most each, and k + 1 is itself a float. */
INLINE int32_t root_small(int32_t n)
{
    return (int32_t)(sqrtf((float)n) + 0.5f);
}

/* round(sqrt(gx^2 + gy^2)) for |gx|, |gy| < 2^20. In float the sum is off by 2^-23 of itself at most, so r is off by one at
 * most and the rest n - r^2 is small enough to be had exactly from products that wrap around. */
INLINE int32_t root_medium(int32_t gx, int32_t gy)
{
    const float n = (float)gx * (float)gx + (float)gy * (float)gy;
    const int32_t r = (int32_t)(sqrtf(n) + 0.5f);
    const uint32_t wrapped = (uint32_t)gx * (uint32_t)gx + (uint32_t)gy * (uint32_t)gy;
    const int32_t rest = (int32_t)(wrapped - (uint32_t)r * (uint32_t)r);
    return r + (rest > r) - (rest <= -r && r > 0);
}

/* The same for |gx|, |gy| < 2^26: the sum is exact in double, and as r + 1/2 is a double too, rounding can only lift a root
 * that is just below it. r^2 is exact, so that is seen. */
INLINE int32_t root_large(int32_t gx, int32_t gy)
{
    const double n = (double)gx * gx + (double)gy * gy;
    const double r = (double)(int32_t)(sqrt(n) + 0.5);
    return (int32_t)(r - (r * r - r >= n && r > 0 ? 1.0 : 0.0));
}

/* Divisions in double: a sum below 2^50 in size has an exact quotient only where it can be half-way, and is otherwise at least
 * 1/(2*divisor) from it, more than the 2^-53 of the quotient that a division loses. */
INLINE int32_t divide_half_even(double sum, double divisor)
{
    const double quotient = rint(sum / divisor);
    const double low = quotient < (double)INT32_MIN ? (double)INT32_MIN : quotient;
    return (int32_t)(low > (double)INT32_MAX ? (double)INT32_MAX : low);
}

static void divide_float(int32_t *restrict response, const float *restrict sums, int n, int64_t divisor)
{
    if (divisor == 1)
        for (int x = 0; x < n; x++)
            response[x] = (int32_t)sums[x];
    else if (divisor <= 1 << 24 && (divisor & (divisor - 1)) == 0) {
        /* A sum below 2^24 times a power of two is exact. */
        const float inverse = 1.0f / (float)divisor;
        for (int x = 0; x < n; x++)
            response[x] = (int32_t)rintf(sums[x] * inverse);
    } else
        for (int x = 0; x < n; x++)
            response[x] = divide_half_even((double)sums[x], (double)divisor);
}

static void divide_double(int32_t *restrict response, const double *restrict sums, int n, int64_t divisor)
{
    for (int x = 0; x < n; x++)
        response[x] = divide_half_even(sums[x], (double)divisor);
}

/* Adds GROUP terms t with weights w to sums, in order; terms past the end of a sum have weight 0, which changes nothing, as all
 * terms are finite. */
#define ADD_GROUP(term, total, multiply_add)                                                                                   \
    const term *restrict t0 = t[0], *restrict t1 = t[1], *restrict t2 = t[2], *restrict t3 = t[3];                             \
    const term *restrict t4 = t[4], *restrict t5 = t[5], *restrict t6 = t[6], *restrict t7 = t[7];                             \
    const total w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], w4 = w[4], w5 = w[5], w6 = w[6], w7 = w[7];                        \
    for (int x = 0; x < n; x++) {                                                                                              \
        total sum = (total)multiply_add(w0, (total)t0[x], sums[x]);                                                            \
        sum = (total)multiply_add(w1, (total)t1[x], sum);                                                                      \
        sum = (total)multiply_add(w2, (total)t2[x], sum);                                                                      \
        sum = (total)multiply_add(w3, (total)t3[x], sum);                                                                      \
        sum = (total)multiply_add(w4, (total)t4[x], sum);                                                                      \
        sum = (total)multiply_add(w5, (total)t5[x], sum);                                                                      \
        sum = (total)multiply_add(w6, (total)t6[x], sum);                                                                      \
        sums[x] = (total)multiply_add(w7, (total)t7[x], sum);                                                                  \
    }

/* How a magnitude is taken; a constant wherever it is inlined. */
enum magnitude { MAGNITUDE_L1, MAGNITUDE_L2_SMALL, MAGNITUDE_L2 };

INLINE enum magnitude magnitude_of(const struct ec_plan *plan)
{
    if (plan->norm == EC_NORM_L1)
        return MAGNITUDE_L1;
    return plan->saturation <= SMALL_ROOT_MAX ? MAGNITUDE_L2_SMALL : MAGNITUDE_L2;
}

INLINE int32_t square_of_saturation(const struct ec_plan *plan)
{
    const int32_t saturation = ec_min_i32(plan->saturation, SMALL_ROOT_MAX);
    return saturation * saturation;
}

#include "edge/rows_lanes.h"
#include "edge/rows_masks.h"

#if !HAS_DOTS
#define SUM_FLOATS(name, multiply_add)                                                                                         \
    OUT_OF_LINE void name##_add(float *restrict sums, const float *const t[GROUP], const float w[GROUP], int n)                \
    {                                                                                                                          \
        ADD_GROUP(float, float, multiply_add)                                                                                  \
    }                                                                                                                          \
    static void name(float *restrict out, const float *const *terms, const float *weights, int count, int n)                   \
    {                                                                                                                          \
        for (int start = 0; start < n; start += BLOCK) {                                                                       \
            const int columns = n - start < BLOCK ? n - start : BLOCK;                                                         \
            for (int x = 0; x < columns; x++)                                                                                  \
                out[start + x] = 0;                                                                                            \
            for (int first = 0; first < count; first += GROUP) {                                                               \
                const float *t[GROUP];                                                                                         \
                float w[GROUP];                                                                                                \
                for (int k = 0; k < GROUP; k++) {                                                                              \
                    const bool inside = first + k < count;                                                                     \
                    t[k] = terms[inside ? first + k : first] + start;                                                          \
                    w[k] = inside ? weights[first + k] : 0;                                                                    \
                }                                                                                                              \
                name##_add(out + start, t, w, columns);                                                                        \
            }                                                                                                                  \
        }                                                                                                                      \
    }

SUM_FLOATS(sum_exact, MULTIPLY_ADD_F32)
SUM_FLOATS(sum_fused, __builtin_fmaf)
#endif

/* The processor's own prefetching follows a row, but not from one group of rows to the next: what stands as many rows further,
 * should rows be as far apart there, is asked for a group ahead. Asking for memory that is not there does no harm. */
struct ahead {
    uintptr_t in_bytes, out_bytes; /* from a row to that of the next group */
};

INLINE struct ahead ahead_of(void *const *out, const void *const *rows)
{
    return (struct ahead){EC_TALL_ROWS * ((uintptr_t)rows[2] - (uintptr_t)rows[1]),
                          EC_TALL_ROWS * ((uintptr_t)out[1] - (uintptr_t)out[0])};
}

INLINE void prefetch_ahead(const struct ahead *ahead, const void *row, const void *out, int x_bytes)
{
    __builtin_prefetch((const void *)((uintptr_t)row + (ahead->in_bytes + (uintptr_t)x_bytes)), 0, 2);
    __builtin_prefetch((const void *)((uintptr_t)out + (ahead->out_bytes + (uintptr_t)x_bytes)), 1, 2);
}

#include "edge/rows_blur_dots.h"
#include "edge/rows_blur_pairs.h"
#include "edge/rows_canny_lanes.h"
#include "edge/rows_dots.h"
#include "edge/rows_fused.h"
#include "edge/rows_near.h"
#include "edge/rows_split.h"

#define MULTIPLY_ADD_INTEGER(a, b, c) ((a) * (b) + (c))

#define KIND u8
#define PIXEL uint8_t
#define SUM int16_t
#define SUM_LIMIT INT16_MAX
#define FITS_LANES 1
#define HAS_ROOT_OF_LANES HAS_ROOT_OF_BYTE_LANES
#define BY_DOTS HAS_DOTS
#define BLUR_COUNT uint16_t
#define BLUR_SUM float
#define BLUR_MULTIPLY_ADD MULTIPLY_ADD_F32
#include "edge/rows_kind.h"

#define KIND u10
#define PIXEL uint16_t
#define SUM int16_t
#define SUM_LIMIT INT16_MAX
#define FITS_LANES 1
#define HAS_ROOT_OF_LANES 0
#define BY_DOTS 0
#define BLUR_COUNT uint32_t
#define BLUR_SUM double
#define BLUR_MULTIPLY_ADD MULTIPLY_ADD_F64
#include "edge/rows_kind.h"

#define KIND u16
#define PIXEL uint16_t
#define SUM int32_t
#define SUM_LIMIT INT32_MAX
#define FITS_LANES 0
#define HAS_ROOT_OF_LANES 0
#define BY_DOTS 0
#define BLUR_COUNT uint32_t
#define BLUR_SUM double
#define BLUR_MULTIPLY_ADD MULTIPLY_ADD_F64
#include "edge/rows_kind.h"

#include "edge/rows_canny.h"
#include "edge/rows_lengths.h"
#include "edge/rows_stable.h"

extern const struct ec_rows ROWS_TABLE;
const struct ec_rows ROWS_TABLE = {
    .name = ROWS_NAME,
    .kinds = {[EC_ROWS_8] = &kind_u8, [EC_ROWS_10] = &kind_u10, [EC_ROWS_16] = &kind_u16},
#if HAS_DOTS
    .sum_exact = sum_terms,
    .sum_fused = sum_terms,
    .sample_sobel = sample_sobel,
    .blur_pair = blur_pair,
    .blur_pairs = blur_pairs,
    .sum_group = sum_group,
    .pair_rows = pair_rows,
    .sum_near = sum_near,
    .round_near = round_near,
    .sum_places = sum_places,
    .find_others = find_others,
    .sum_split = sum_split,
    .sum_split_wide = sum_split_wide,
    .sum_dots = sum_dots,
    .sum_dots_wide = sum_dots_wide,
#else
    .sum_exact = sum_exact,
    .sum_fused = sum_fused,
#endif
    .divide_float = divide_float,
    .divide_double = divide_double,
    .canny = {[EC_CANNY_L1] = &canny_l1, [EC_CANNY_L2] = &canny_l2, [EC_CANNY_L2_WIDE] = &canny_l2_wide},
    .find_reached = find_reached,
    .take_lengths = take_lengths,
    .sum_fours = sum_fours,
    .compare_fours = compare_fours,
    .expand_bytes = expand_bytes,
    .expand_shorts = expand_shorts,
};
