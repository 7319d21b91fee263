/* From a convolution's sums to pixels. */
#ifndef EC_CUDA_CONVOLUTION_FINISH_CUH
#define EC_CUDA_CONVOLUTION_FINISH_CUH

#include "pair.cuh"
#include "pixel.cuh"

namespace ec
{

/* Of an integer kernel, for sums of 32 bits; larger ones than 2^30 count as that where sums stay below 2^29. */
struct Divisor {
    int32_t value;
    float reciprocal;
};

constexpr int32_t DIVISOR_MAX = 1 << 30;

inline Divisor make_divisor(int64_t value)
{
    const int32_t small = value < DIVISOR_MAX ? (int32_t)value : DIVISOR_MAX;
    return {small, 1.0f / (float)small};
}

EC_DEVICE int32_t round_float(float v)
{
#ifdef __CUDA_ARCH__
    return __float2int_rn(v);
#else
    return (int32_t)rintf(v);
#endif
}

/* ec_divide_half_even in 32 bits. The first estimate of a quotient q is off by less than 2^-22 * |q| + 1, which leaves a rest
 * below 2^10 + 1 divisors, so the second one is off by at most one, and that only beside a half. */
EC_DEVICE int32_t divide_half_even(int32_t sum, const Divisor &divisor)
{
    int32_t quotient = round_float((float)sum * divisor.reciprocal);
    int32_t rest = (int32_t)((uint32_t)sum - (uint32_t)quotient * (uint32_t)divisor.value);
    const int32_t more = round_float((float)rest * divisor.reciprocal);
    quotient += more;
    rest -= more * divisor.value;
    const int32_t odd = quotient & 1, twice = 2 * rest;
    return quotient + (twice + odd > divisor.value) - (twice - odd < -divisor.value);
}

/* Four sums to responses. */
EC_DEVICE void respond_four(float *m, const int32_t *sums, const Divisor &divisor)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        m[i] = (float)(divisor.value == 1 ? sums[i] : divide_half_even(sums[i], divisor));
}

EC_DEVICE void respond_four(float *m, const int64_t *sums, int64_t divisor)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        m[i] = (float)ec_divide_half_even(sums[i], divisor);
}

/* Sums of integers, below 2^24, where the divisor is not 1. */
EC_DEVICE void respond_four(float *m, const float *sums, const Divisor &divisor)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        m[i] = divisor.value == 1 ? sums[i] : (float)divide_half_even((int32_t)sums[i], divisor);
}

/* Four responses to pixels in the low 16 bits; above them stands anything. Equals ec_finish and ec_finish_float: pixels and
 * thresholds, up to 2^24, are exact floats, and clamping before rounding changes nothing. */
EC_DEVICE void finish_responses(uint32_t *v, const float *m, const struct ec_finish &f)
{
    float scaled[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float product = (f.absolute ? fabsf(m[i]) : m[i]) * f.scale;
        scaled[i] = product + f.delta;
    }
    if (f.has_threshold) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            v[i] = rintf(scaled[i]) >= (float)f.threshold ? (uint32_t)f.max : 0;
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            v[i] = float_bits(fminf(fmaxf(scaled[i], 0.0f), (float)f.max) + INTEGER_BIAS);
    }
    if (f.narrow_shift)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t rounded = ((v[i] & 0xffff) + (1u << (f.narrow_shift - 1))) >> f.narrow_shift;
            v[i] = rounded > 255u ? 255u : rounded;
        }
}

EC_DEVICE uint32_t pack_four_bytes(const uint32_t *v)
{
    return permute(permute(v[0], v[1], 0x0040), permute(v[2], v[3], 0x0040), 0x5410);
}

/* The same of integers, each of which stops at 0 and 255. */
EC_DEVICE uint32_t saturate_bytes(const int32_t *v)
{
#ifdef __CUDA_ARCH__
    uint32_t r;
    asm("{.reg .b32 high; cvt.pack.sat.u8.s32.b32 high, %4, %3, 0; cvt.pack.sat.u8.s32.b32 %0, %2, %1, high;}"
        : "=r"(r)
        : "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]));
    return r;
#else
    uint32_t r = 0;
    for (int i = 0; i < 4; i++)
        r |= (uint32_t)ec_clamp_i32(v[i], 0, 255) << (8 * i);
    return r;
#endif
}

/* And of floats, rounded half to even. */
EC_DEVICE uint32_t saturate_bytes(const float *v)
{
    uint32_t bytes[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
#ifdef __CUDA_ARCH__
        asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(bytes[i]) : "f"(v[i]));
#else
        bytes[i] = (uint32_t)rintf(fminf(fmaxf(v[i], 0.0f), 255.0f));
#endif
    }
    return pack_four_bytes(bytes);
}

/* Stores a packed word of bytes at (x, y). */
EC_DEVICE void store_byte_word(const ec_gpu_target &out, int32_t width, int32_t x, int32_t y, uint32_t word)
{
    uint8_t *p = (uint8_t *)out.data + (int64_t)y * out.pitch_bytes + x;
    if (out.vector && x + 4 <= width)
        *(uint32_t *)p = word;
    else
#pragma unroll 1
        for (int i = 0; i < 4 && x + i < width; i++)
            p[i] = (uint8_t)(word >> (8 * i));
}

/* Stores four neighbouring pixels, in the low 16 bits of v, from (x, y) on, x a multiple of 4. */
EC_DEVICE void store_pixels(const ec_gpu_target &out, int32_t width, int32_t x, int32_t y, const uint32_t *v)
{
    if (!out.wide) {
        store_byte_word(out, width, x, y, pack_four_bytes(v));
        return;
    }
    uint16_t *p = (uint16_t *)((char *)out.data + (int64_t)y * out.pitch_bytes) + x;
    if (out.vector && x + 4 <= width)
        *(uint2 *)p = make_uint2(permute(v[0], v[1], 0x5410), permute(v[2], v[3], 0x5410));
    else
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (x + i < width)
                p[i] = (uint16_t)v[i];
}

/* Finishes four responses and stores them. */
EC_DEVICE void store_responses(const ec_gpu_target &out, int32_t width, int32_t x, int32_t y, const float *m)
{
    uint32_t v[4];
    finish_responses(v, m, out.finish);
    store_pixels(out, width, x, y, v);
}

/* Whether pixels are the sums, rounded and clamped, of the same depth. */
static __host__ __device__ __forceinline__ bool is_plain(const ec_gpu_target &out, const Divisor &divisor)
{
    const struct ec_finish &f = out.finish;
    return f.identity && !f.has_threshold && !f.absolute && !f.narrow_shift && divisor.value == 1;
}

/* Finishes four sums of pixels from (x, y) on and stores those that are in the picture. `plain`: is_plain() of bytes. */
template <class Sum>
EC_DEVICE void finish_sums(const ec_gpu_source &in, const ec_gpu_target &out, int32_t x, int32_t y, const Sum *sums,
                           const Divisor &divisor, bool plain)
{
    if (x >= in.width_px || y >= in.height_px)
        return;
    if (plain) {
        store_byte_word(out, in.width_px, x, y, saturate_bytes(sums));
    } else {
        float m[4];
        respond_four(m, sums, divisor);
        store_responses(out, in.width_px, x, y, m);
    }
}

/* Whether single precision gives a convolution's sums: of float weights, or exact ones of integers. */
inline bool sums_are_floats(const ec_plan *plan)
{
    const ec_convolution_taps *taps = &plan->convolution;
    if (!taps->integer)
        return true;
    double total = 0;
    for (int32_t k = 0; k < taps->size * taps->size; k++)
        total += fabs((double)taps->float_weights[k]);
    return total * plan->luma.max <= 1 << 24;
}

} // namespace ec

#endif
