/* The arithmetic of every detector, once, for host and device: include/edgecam/edge.h is the contract, this is its definition.
 *
 * Plain C11 that is also CUDA C++. Callers compile with -ffp-contract=off (host) and -fmad=false (device); where a fused
 * multiply-add is part of the definition it is written as one. */
#ifndef EC_EDGE_ARITH_H
#define EC_EDGE_ARITH_H

#include <math.h>
#include <stdint.h>

#include "edge/plan.h"

#ifdef __CUDACC__
#define EC_HD static __host__ __device__ __forceinline__
#else
#define EC_HD static inline
#endif

EC_HD int32_t ec_min_i32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}
EC_HD int32_t ec_max_i32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}
EC_HD int32_t ec_abs_i32(int32_t a)
{
    return a < 0 ? -a : a;
}
EC_HD int32_t ec_clamp_i32(int32_t v, int32_t low, int32_t high)
{
    return ec_min_i32(ec_max_i32(v, low), high);
}

/* Where index i of a row or column of n pixels lies under a border rule, -1 for a constant pixel (zero). i may be any distance
 * outside; reflect-101 folds with period 2n - 2, as often as needed. */
EC_HD int32_t ec_border_index(int32_t i, int32_t n, enum ec_border border)
{
    if ((uint32_t)i < (uint32_t)n)
        return i;
    if (border == EC_BORDER_CONSTANT)
        return -1;
    if (border == EC_BORDER_REPLICATE || n == 1)
        return i < 0 ? 0 : n - 1;
    const int32_t period = 2 * n - 2;
    i %= period;
    if (i < 0)
        i += period;
    return i < n ? i : period - i;
}

/* Limited to full range. (y - offset) * multiplier needs at most 62 bits; ec_plan_make derives the constants. */
EC_HD int32_t ec_luma_expand(int32_t y, const struct ec_luma_map *map)
{
    const int32_t above = ec_max_i32(y - map->offset, 0);
    const uint64_t v = ((uint64_t)(uint32_t)above * map->multiplier + map->half) >> map->shift;
    return v > (uint64_t)map->max ? map->max : (int32_t)v;
}

/* round(sqrt(n)), exact. A correctly rounded float root of a rounded n is off by at most one; sqrt(n) is never half-way
 * between two integers, and r - 1/2 > sqrt(n) exactly when r*r - r >= n. */
EC_HD uint32_t ec_root_round_u32(uint32_t n)
{
    uint32_t r = (uint32_t)(sqrtf((float)n) + 0.5f);
    const uint64_t square = (uint64_t)r * r;
    if (square > r && square - r >= n)
        r -= 1;
    else if (square + r < n)
        r += 1;
    return r;
}

EC_HD uint32_t ec_root_round_u64(uint64_t n)
{
    uint32_t r = (uint32_t)(sqrt((double)n) + 0.5);
    const uint64_t square = (uint64_t)r * r;
    if (square > r && square - r >= n)
        r -= 1;
    else if (square + r < n)
        r += 1;
    return r;
}

/* Magnitude of a gradient. |gx|, |gy| < 2^27 (16-bit pixels, aperture 7). */
EC_HD int32_t ec_magnitude(int32_t gx, int32_t gy, enum ec_norm norm)
{
    if (norm == EC_NORM_L1)
        return ec_abs_i32(gx) + ec_abs_i32(gy);
    return (int32_t)ec_root_round_u64((uint64_t)((int64_t)gx * gx) + (uint64_t)((int64_t)gy * gy));
}

/* sum / divisor, rounded half to even, saturated to int32. */
EC_HD int32_t ec_divide_half_even(int64_t sum, int64_t divisor)
{
    int64_t quotient = sum / divisor;
    int64_t rest = sum % divisor;
    if (rest < 0) {
        quotient -= 1;
        rest += divisor;
    }
    const int64_t twice = 2 * rest;
    if (twice > divisor || (twice == divisor && (quotient & 1)))
        quotient += 1;
    return quotient > INT32_MAX ? INT32_MAX : quotient < INT32_MIN ? INT32_MIN : (int32_t)quotient;
}

/* The last step from an integral r to an output pixel. */
EC_HD uint32_t ec_finish_integer(int32_t r, const struct ec_finish *f)
{
    uint32_t v;
    if (f->has_threshold)
        v = r >= f->threshold ? (uint32_t)f->max : 0;
    else
        v = (uint32_t)ec_clamp_i32(r, 0, f->max);
    if (f->narrow_shift) {
        v = (v + (1u << (f->narrow_shift - 1))) >> f->narrow_shift;
        v = v > 255u ? 255u : v;
    }
    return v;
}

/* round(scale*m + delta), half to even, each operation rounded to float32; clamped to +-2^30 before it becomes an integer. */
EC_HD int32_t ec_scale_round(float m, const struct ec_finish *f)
{
#ifdef __CUDA_ARCH__
    const float r = rintf(__fadd_rn(__fmul_rn(m, f->scale), f->delta));
#else
    const float product = m * f->scale;
    const float r = rintf(product + f->delta);
#endif
    return r > 1073741824.0f ? 1073741824 : r < -1073741824.0f ? -1073741824 : (int32_t)r;
}

/* Response of an integer operator to an output pixel. */
EC_HD uint32_t ec_finish(int32_t m, const struct ec_finish *f)
{
    if (f->absolute)
        m = m == INT32_MIN ? INT32_MAX : ec_abs_i32(m);
    return ec_finish_integer(f->identity ? m : ec_scale_round((float)m, f), f);
}

/* Response of a float convolution to an output pixel. */
EC_HD uint32_t ec_finish_float(float m, const struct ec_finish *f)
{
    return ec_finish_integer(ec_scale_round(f->absolute ? fabsf(m) : m, f), f);
}

/* Separable gradient of a size x size window, row-major: smooth[] across, derive[] along. Fits int32 for 16-bit pixels and
 * aperture 7 (640 * 65535 < 2^26). */
EC_HD void ec_gradient(const int32_t *window, const struct ec_gradient_taps *t, int32_t *gx, int32_t *gy)
{
    int32_t x_sum = 0, y_sum = 0;
    for (int j = 0; j < t->size; j++) {
        int32_t along = 0, across = 0;
        for (int i = 0; i < t->size; i++) {
            along += t->derive[i] * window[j * t->size + i];
            across += t->smooth[i] * window[j * t->size + i];
        }
        x_sum += t->smooth[j] * along;
        y_sum += t->derive[j] * across;
    }
    *gx = x_sum;
    *gy = y_sum;
}

/* Roberts cross of a 2x2 window p00 p10 / p01 p11 (pRC: column, row). */
EC_HD void ec_roberts(int32_t p00, int32_t p10, int32_t p01, int32_t p11, int32_t *gx, int32_t *gy)
{
    *gx = p00 - p11;
    *gy = p10 - p01;
}

/* The ring of eight neighbours in order: up-left, up, up-right, right, down-right, down, down-left, left. Kirsch's masks weigh
 * three neighbours in a row with 5 and the other five with -3, so each response is 8 * (sum of three) - 3 * (sum of all). */
EC_HD int32_t ec_kirsch(const int32_t ring[8])
{
    int32_t all = 0, best = 0;
    for (int k = 0; k < 8; k++) {
        const int32_t three = ring[k] + ring[(k + 1) & 7] + ring[(k + 2) & 7];
        all += ring[k];
        best = ec_max_i32(best, three);
    }
    return 8 * best - 3 * all;
}

/* Robinson's masks weigh three neighbours in a row 1 2 1 and the opposite three -1 -2 -1; opposite masks differ in sign only.
 */
EC_HD int32_t ec_robinson(const int32_t ring[8])
{
    int32_t best = 0;
    for (int k = 0; k < 4; k++) {
        const int32_t near_side = ring[k] + 2 * ring[k + 1] + ring[k + 2];
        const int32_t far_side = ring[k + 4] + 2 * ring[(k + 5) & 7] + ring[(k + 6) & 7];
        best = ec_max_i32(best, ec_abs_i32(near_side - far_side));
    }
    return best;
}

EC_HD int32_t ec_laplacian(int32_t up, int32_t left, int32_t centre, int32_t right, int32_t down)
{
    return ec_abs_i32(up + left + right + down - 4 * centre);
}

/* Fixed-point Gaussian: the exact two-dimensional sum of pixel * row weight * column weight, rounded half up. The weights of
 * one direction sum to 2^fraction_bits (8 for 8-bit pixels, 16 for deeper ones). */
EC_HD int32_t ec_blur_round(uint64_t sum, int fraction_bits)
{
    return (int32_t)((sum + (1ull << (2 * fraction_bits - 1))) >> (2 * fraction_bits));
}

/* Response of a 3x3 or 2x2 operator, or of a larger gradient, to its window (plan->window_size squared values, row-major). */
EC_HD int32_t ec_respond(const struct ec_plan *plan, const int32_t *w)
{
    int32_t gx, gy;
    switch (plan->op) {
    case EC_OPERATOR_SOBEL:
    case EC_OPERATOR_SCHARR:
    case EC_OPERATOR_PREWITT:
        ec_gradient(w, &plan->gradient, &gx, &gy);
        return ec_magnitude(gx, gy, plan->norm);
    case EC_OPERATOR_ROBERTS:
        ec_roberts(w[0], w[1], w[2], w[3], &gx, &gy);
        return ec_magnitude(gx, gy, plan->norm);
    case EC_OPERATOR_KIRSCH:
    case EC_OPERATOR_ROBINSON: {
        const int32_t ring[8] = {w[0], w[1], w[2], w[5], w[8], w[7], w[6], w[3]};
        return plan->op == EC_OPERATOR_KIRSCH ? ec_kirsch(ring) : ec_robinson(ring);
    }
    case EC_OPERATOR_LAPLACIAN:
    case EC_OPERATOR_LOG:
        return ec_laplacian(w[1], w[3], w[4], w[5], w[7]);
    default:
        return 0;
    }
}

#endif
