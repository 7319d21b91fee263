/* Two pixels in one 32-bit register, 16 bits each.
 *
 * The arithmetic is that of half precision: an integer n in [0, 2048) stored as the bit pattern n is the half n * 2^-24 (below
 * 1024 a subnormal), so sums and differences whose size stays below 2048 are exact, one instruction does two of them, and a
 * non-negative result's bits are the integer again. Larger results are rounded but stay at 2048 or more. A negative number has
 * the sign bit set instead of a complement. */
#ifndef EC_CUDA_PAIR_CUH
#define EC_CUDA_PAIR_CUH

#include "pixel.cuh"

#ifdef __CUDACC__
#include <cuda_fp16.h>
#else
#include <string.h>
#endif

namespace ec
{

/* Byte i of the result is the byte of b:a that nibble i of `selector` names; with the nibble's bit 3 that byte's sign, spread.
 */
EC_DEVICE uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
#ifdef __CUDA_ARCH__
    uint32_t r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
    return r;
#else
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t nibble = selector >> (4 * i) & 15, byte = (uint32_t)(bytes >> (8 * (nibble & 7))) & 255;
        r |= (nibble & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
    }
    return r;
#endif
}

constexpr uint32_t INTEGER_BITS = 0x4b000000; /* of 2^23: the float whose low bits are an integer */
constexpr float INTEGER_BIAS = 8388608.0f;

EC_DEVICE float bits_float(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
#endif
}

/* Pixel `i` of a word. */
template <class Pixel>
EC_DEVICE float pixel_float(uint32_t word, int i)
{
    const uint32_t selector = sizeof(Pixel) == 1 ? 0x7440u + (uint32_t)i : i ? 0x7432u : 0x7410u;
    return bits_float(permute(word, INTEGER_BITS, selector)) - INTEGER_BIAS;
}

#ifdef __CUDA_ARCH__

EC_DEVICE __half2 as_half2(uint32_t v)
{
    return *reinterpret_cast<__half2 *>(&v);
}
EC_DEVICE uint32_t as_bits(__half2 v)
{
    return *reinterpret_cast<uint32_t *>(&v);
}

EC_DEVICE uint32_t pair_add(uint32_t a, uint32_t b)
{
    return as_bits(__hadd2_rn(as_half2(a), as_half2(b)));
}
EC_DEVICE uint32_t pair_subtract(uint32_t a, uint32_t b)
{
    return as_bits(__hsub2_rn(as_half2(a), as_half2(b)));
}
/* a * factor + b, rounded once; `factor` is the half for a small integer, twice. */
EC_DEVICE uint32_t pair_multiply_add(uint32_t a, uint32_t factor, uint32_t b)
{
    return as_bits(__hfma2(as_half2(a), as_half2(factor), as_half2(b)));
}
EC_DEVICE uint32_t pair_add_magnitudes(uint32_t a, uint32_t b)
{
    return as_bits(__hadd2_rn(__habs2(as_half2(a)), __habs2(as_half2(b))));
}
EC_DEVICE uint32_t pair_min(uint32_t a, uint32_t b)
{
    return __vminu2(a, b);
}
EC_DEVICE uint32_t pair_max(uint32_t a, uint32_t b)
{
    return __vmaxu2(a, b);
}

/* n * 2^-24, exact. */
EC_DEVICE float pair_low(uint32_t v)
{
    return __low2float(as_half2(v));
}
EC_DEVICE float pair_high(uint32_t v)
{
    return __high2float(as_half2(v));
}

/* Relative error at most 2^-22. */
EC_DEVICE float root_estimate(float v)
{
    float r;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
EC_DEVICE float reciprocal_root_estimate(float v)
{
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
EC_DEVICE uint32_t float_bits(float v)
{
    return __float_as_uint(v);
}

#else /* the same on a host, for tests without a GPU */

inline int32_t half_integer(uint32_t bits)
{
    const int32_t fraction = bits & 1023, exponent = bits >> 10 & 31;
    const int32_t n = exponent == 0 ? fraction : (1024 + fraction) << (exponent - 1);
    return bits & 0x8000 ? -n : n;
}

inline uint32_t half_bits(int32_t n)
{
    const uint32_t sign = n < 0 ? 0x8000 : 0;
    uint32_t magnitude = (uint32_t)(n < 0 ? -n : n), exponent = 0;
    if (magnitude >= 2048) {
        uint32_t shift = 0;
        while (magnitude >> shift >= 2048)
            shift++;
        const uint32_t rest = magnitude & ((1u << shift) - 1), half = 1u << (shift - 1);
        magnitude >>= shift;
        magnitude += rest > half || (rest == half && (magnitude & 1));
        exponent = shift;
    }
    return sign | (magnitude + (exponent << 10));
}

template <class Function>
inline uint32_t pair_map(uint32_t a, uint32_t b, Function f)
{
    return half_bits(f(half_integer(a & 0xffff), half_integer(b & 0xffff))) |
           half_bits(f(half_integer(a >> 16), half_integer(b >> 16))) << 16;
}

inline uint32_t pair_add(uint32_t a, uint32_t b)
{
    return pair_map(a, b, [](int32_t x, int32_t y) { return x + y; });
}
inline uint32_t pair_subtract(uint32_t a, uint32_t b)
{
    return pair_map(a, b, [](int32_t x, int32_t y) { return x - y; });
}
inline uint32_t pair_multiply_add(uint32_t a, uint32_t factor, uint32_t b)
{
    /* The half 1.f * 2^(e - 15). */
    const int32_t n = (int32_t)(1024 + (factor & 1023)) >> (25 - (factor >> 10 & 31));
    return pair_map(a, b, [n](int32_t x, int32_t y) { return x * n + y; });
}
inline uint32_t pair_add_magnitudes(uint32_t a, uint32_t b)
{
    return pair_add(a & 0x7fff7fffu, b & 0x7fff7fffu);
}
inline uint32_t pair_min(uint32_t a, uint32_t b)
{
    const uint32_t low = (a & 0xffff) < (b & 0xffff) ? a & 0xffff : b & 0xffff, high = a >> 16 < b >> 16 ? a >> 16 : b >> 16;
    return low | high << 16;
}
inline uint32_t pair_max(uint32_t a, uint32_t b)
{
    const uint32_t low = (a & 0xffff) > (b & 0xffff) ? a & 0xffff : b & 0xffff, high = a >> 16 > b >> 16 ? a >> 16 : b >> 16;
    return low | high << 16;
}
inline float pair_low(uint32_t v)
{
    return ldexpf((float)half_integer(v & 0xffff), -24);
}
inline float pair_high(uint32_t v)
{
    return ldexpf((float)half_integer(v >> 16), -24);
}
inline float root_estimate(float v)
{
    return sqrtf(v) * (1.0f - 0x1p-22f);
} /* as wrong as a device may be */
inline float reciprocal_root_estimate(float v)
{
    return 1.0f / sqrtf(v) * (1.0f + 0x1p-22f);
}
inline uint32_t float_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

#endif

/* Two bytes, and four, from limited to full range, (y - 16) * 255/219 rounded: 76310 * 2^-16 exceeds 255/219 by so little that
 * all 220 products round as the exact ones do. */
EC_DEVICE uint32_t expand_pair(uint32_t pair)
{
    pair = pair_min(pair_max(pair, 0x00100010u), 0x00eb00ebu) - 0x00100010u;
    return permute((pair & 0xffff) * 76310u + 32768u, (pair >> 16) * 76310u + 32768u, 0x7632);
}

EC_DEVICE uint32_t expand_word(uint32_t word)
{
    return permute(expand_pair(permute(word, 0, 0x4140)), expand_pair(permute(word, 0, 0x4342)), 0x6420);
}

/* What four stored pixels count as, bytes in one word or halves in two. */
EC_DEVICE void map_words(const ec_gpu_source &in, uint32_t (&words)[1])
{
    if (in.expand)
        words[0] = expand_word(words[0]);
}

EC_DEVICE void map_words(const ec_gpu_source &in, uint32_t (&words)[2])
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        words[i] = pair_min(words[i], (uint32_t)in.max * 0x00010001u);
        if (in.expand)
            words[i] = (uint32_t)ec_luma_expand((int32_t)(words[i] & 0xffff), &in.luma) |
                       (uint32_t)ec_luma_expand((int32_t)(words[i] >> 16), &in.luma) << 16;
    }
}

} // namespace ec

#endif
