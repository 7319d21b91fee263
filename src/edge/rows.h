/* Row functions of the CPU backend: plain loops over one row, compiled once for each instruction set.
 *
 * A row pointer points to the pixel x = 0; where a function reads `window` neighbours, the row is extended on both sides
 * beforehand. Rows do not overlap. `n` is the width in pixels. */
#ifndef EC_EDGE_ROWS_H
#define EC_EDGE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "edge/plan.h"

/* What a plan's convolution is computed in: always the exact sum or, for EC_SUM_FUSED, the defined float32 one. */
enum ec_sum {
    EC_SUM_I16, /* 16-bit integers hold every partial sum */
    EC_SUM_FLOAT, /* below 2^24, where float32 holds every integer */
    EC_SUM_SEPARABLE, /* the same, as two passes */
    EC_SUM_I64,
    EC_SUM_FUSED,
};

/* The functions for one width of pixels and of the integers that hold a 3x3 response. */
struct ec_row_kind {
    size_t pixel_bytes;
    size_t gradient_bytes; /* of an element of gradient_down's results, for a 3x3 gradient; 4 for a larger one */
    size_t blur_bytes; /* of an element of blur_down's result */

    /* Values clamped to the depth, and expanded where the input has limited range. */
    void (*prepare)(void *out, const void *in, int n, const struct ec_luma_map *luma, bool limited_range);
    void (*to_float)(float *out, const void *in, int n);

    /* The two passes of a Gaussian; `sums` is extended by half the size. */
    void (*blur_down)(void *sums, const void *const *rows, int n, const struct ec_blur_taps *taps);
    void (*blur_across)(void *out, const void *sums, int n, const struct ec_blur_taps *taps);

    /* Each of these writes finished pixels to `out` where the plan's finish is plain (see ec_rows_plain), else responses for
     * `finish` to `response`. */
    void (*gradient_down)(void *smooth, void *derive, const void *const *rows, int n, const struct ec_plan *plan);
    void (*gradient_across)(void *out, int32_t *response, const void *smooth, const void *derive, int n,
                            const struct ec_plan *plan);
    void (*window)(void *out, int32_t *response, const void *const *rows, int n, const struct ec_plan *plan);
    void (*difference)(void *out, int32_t *response, const void *a, const void *b, int n, const struct ec_plan *plan);

    void (*convolve_i16)(int32_t *response, const void *const *rows, int n, const struct ec_convolution_taps *taps);
    void (*convolve_i64)(int32_t *response, const void *const *rows, int n, const struct ec_convolution_taps *taps);
    void (*convolve_down)(float *sums, const void *const *rows, int n, const struct ec_convolution_taps *taps);

    void (*finish)(void *out, const int32_t *response, int n, const struct ec_finish *finish);
    void (*finish_float)(void *out, const float *response, int n, const struct ec_finish *finish);
};

enum ec_row_kind_index {
    EC_ROWS_8, /* 8-bit pixels, 16-bit responses */
    EC_ROWS_10, /* 9 and 10 bits, 16-bit responses */
    EC_ROWS_16, /* 11 to 16 bits, 32-bit responses */
    EC_ROWS_KINDS
};

struct ec_rows {
    const char *name;
    struct ec_row_kind kinds[EC_ROWS_KINDS];
    /* Sums of float rows, extended: in row-major order by fused multiply-adds, or exact in any order. */
    void (*convolve_fused)(float *sums, const float *const *rows, int n, const struct ec_convolution_taps *taps);
    void (*convolve_exact)(float *sums, const float *const *rows, int n, const struct ec_convolution_taps *taps);
    void (*convolve_across)(float *out, const float *sums, int n, const struct ec_convolution_taps *taps);
    /* Exact sums to responses: divided by the divisor, rounded half to even. */
    void (*divide)(int32_t *response, const float *sums, int n, int64_t divisor);
};

/* The fastest table this processor runs, or with a name that one; NULL if there is none of that name or it cannot run here. */
const struct ec_rows *ec_rows_select(const char *name);

/* Table `index` of all that were compiled in, slowest first; NULL past the end. */
const struct ec_rows *ec_rows_at(int index);

static inline const struct ec_row_kind *ec_rows_kind(const struct ec_rows *rows, int depth_bits)
{
    return &rows->kinds[depth_bits == 8 ? EC_ROWS_8 : depth_bits <= 10 ? EC_ROWS_10 : EC_ROWS_16];
}

/* Whether finishing is nothing but clamping to the depth. */
static inline bool ec_rows_plain(const struct ec_finish *finish)
{
    return finish->identity && !finish->has_threshold && !finish->narrow_shift && !finish->absolute;
}

#endif
