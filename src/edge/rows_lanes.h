/* Vectors of 16-bit lanes, a part of rows_table.h: as wide as the instruction set's registers, with the operators of C, and
 * the few steps besides that compilers do not find. */
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* SIMD(add_epi16) is that intrinsic for registers of this width, of the types `simd` and `simd_floats`. */
#if defined(__AVX512BW__)
#define LANES_BYTES 64
#define SIMD(step) _mm512_##step
typedef __m512i simd;
typedef __m512 simd_floats;
#elif defined(__AVX2__)
#define LANES_BYTES 32
#define SIMD(step) _mm256_##step
typedef __m256i simd;
typedef __m256 simd_floats;
#elif defined(__SSE2__)
#define LANES_BYTES 16
#define SIMD(step) _mm_##step
typedef __m128i simd;
typedef __m128 simd_floats;
#else
#define LANES_BYTES 16
#endif

typedef int16_t lanes __attribute__((vector_size(LANES_BYTES)));
typedef uint16_t positive_lanes __attribute__((vector_size(LANES_BYTES)));
typedef int32_t wide_lanes __attribute__((vector_size(LANES_BYTES)));
typedef uint32_t positive_wide_lanes __attribute__((vector_size(LANES_BYTES)));
typedef float float_lanes __attribute__((vector_size(LANES_BYTES)));
typedef int16_t loose_lanes __attribute__((vector_size(LANES_BYTES), aligned(1), may_alias));

INLINE lanes lanes_load(const void *from)
{
    return *(const loose_lanes *)from;
}

INLINE void lanes_store(void *to, lanes a)
{
    *(loose_lanes *)to = a;
}

INLINE float_lanes lanes_load_floats(const float *from)
{
    return (float_lanes)lanes_load(from);
}

INLINE lanes lanes_of(int value)
{
    return (lanes){0} + (int16_t)value;
}

#if defined(SIMD)
INLINE lanes lanes_min(lanes a, lanes b)
{
    return (lanes)SIMD(min_epi16)((simd)a, (simd)b);
}
INLINE lanes lanes_max(lanes a, lanes b)
{
    return (lanes)SIMD(max_epi16)((simd)a, (simd)b);
}
#if defined(__AVX2__)
INLINE lanes lanes_absolute(lanes a)
{
    return (lanes)SIMD(abs_epi16)((simd)a);
}
INLINE lanes lanes_min_positive(lanes a, lanes b)
{
    return (lanes)SIMD(min_epu16)((simd)a, (simd)b);
}
#else
INLINE lanes lanes_absolute(lanes a)
{
    return lanes_max(a, -a);
}
INLINE lanes lanes_min_positive(lanes a, lanes b)
{
    return (lanes)((positive_lanes)a - (positive_lanes)_mm_subs_epu16((__m128i)a, (__m128i)b));
}
#endif
#elif defined(__ARM_NEON)
INLINE lanes lanes_min(lanes a, lanes b)
{
    return (lanes)vminq_s16((int16x8_t)a, (int16x8_t)b);
}
INLINE lanes lanes_max(lanes a, lanes b)
{
    return (lanes)vmaxq_s16((int16x8_t)a, (int16x8_t)b);
}
INLINE lanes lanes_absolute(lanes a)
{
    return (lanes)vabsq_s16((int16x8_t)a);
}
INLINE lanes lanes_min_positive(lanes a, lanes b)
{
    return (lanes)vminq_u16((uint16x8_t)a, (uint16x8_t)b);
}
#else
INLINE lanes lanes_min(lanes a, lanes b)
{
    return (a & (a < b)) | (b & ~(a < b));
}
INLINE lanes lanes_max(lanes a, lanes b)
{
    return (a & (a > b)) | (b & ~(a > b));
}
INLINE lanes lanes_absolute(lanes a)
{
    return lanes_max(a, -a);
}
INLINE lanes lanes_min_positive(lanes a, lanes b)
{
    const lanes less = (lanes)((positive_lanes)a < (positive_lanes)b);
    return (a & less) | (b & ~less);
}
#endif

/* Bytes at even and at odd addresses. */
INLINE lanes lanes_even(lanes bytes)
{
    return bytes & 255;
}

INLINE lanes lanes_odd(lanes bytes)
{
    return (lanes)((positive_lanes)bytes >> 8);
}

/* Bytes that take turns, each clamped to 0 to 255. */
INLINE lanes lanes_join(lanes even, lanes odd)
{
#if defined(__AVX512BW__)
    const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
    return (lanes)_mm512_shuffle_epi8(_mm512_packus_epi16((__m512i)even, (__m512i)odd), order);
#elif defined(__AVX2__)
    const __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
    return (lanes)_mm256_shuffle_epi8(_mm256_packus_epi16((__m256i)even, (__m256i)odd), order);
#else
    const lanes zero = lanes_of(0), top = lanes_of(255);
    return lanes_min(lanes_max(even, zero), top) | lanes_min(lanes_max(odd, zero), top) << 8;
#endif
}

/* Without a fast reciprocal root whole rows do better. */
#if defined(__AVX2__)
#define HAS_ROOT_OF_BYTE_LANES 1
#else
#define HAS_ROOT_OF_BYTE_LANES 0
#endif

/* round(sqrt(gx^2 + gy^2)), or anything from 255 on where that is more, or anything up to 0 where it is 0, for lanes_join to
 * clamp. The sum n is below 2^31. A reciprocal root is off by 1.5 * 2^-12 at most (2^-14 with AVX-512), and so its product with
 * n, up to 255, by less than 0.1: 0.12 more is rounded to the rounded root r or to r + 1, and it is r + 1 where
 * (r + 1) * r >= n. The reciprocal root of 0 is infinite and its product not a number, which becomes the least integer and
 * stays it.
 *
 * These are so many steps one after the other that a processor does not look far enough ahead to begin on the next ones
 * meanwhile. In two halves those can be begun before these are ended.
 *
 * lanes_root gives the same by the processor's own root, as root_small does. It is slow, but has a unit of its own, which works
 * beside the others where half of all roots are taken there. */
struct half_root {
    lanes root, sums; /* the rounded root, or one more */
};

#if defined(__AVX2__)
INLINE simd_floats reciprocal_root(simd_floats a)
{
#if defined(__AVX512BW__)
    return _mm512_rsqrt14_ps(a);
#else
    return _mm256_rsqrt_ps(a);
#endif
}

INLINE struct half_root lanes_begin_root(lanes gx, lanes gy)
{
    const simd low = SIMD(unpacklo_epi16)((simd)gx, (simd)gy), high = SIMD(unpackhi_epi16)((simd)gx, (simd)gy);
    const simd low_sums = SIMD(madd_epi16)(low, low), high_sums = SIMD(madd_epi16)(high, high);
    const simd_floats low_n = SIMD(cvtepi32_ps)(low_sums), high_n = SIMD(cvtepi32_ps)(high_sums), more = SIMD(set1_ps)(0.12f);
    const simd low_root = SIMD(cvtps_epi32)(SIMD(fmadd_ps)(low_n, reciprocal_root(low_n), more));
    const simd high_root = SIMD(cvtps_epi32)(SIMD(fmadd_ps)(high_n, reciprocal_root(high_n), more));
    return (struct half_root){(lanes)SIMD(packs_epi32)(low_root, high_root), (lanes)SIMD(packus_epi32)(low_sums, high_sums)};
}

INLINE lanes lanes_root(lanes gx, lanes gy)
{
    const simd low = SIMD(unpacklo_epi16)((simd)gx, (simd)gy), high = SIMD(unpackhi_epi16)((simd)gx, (simd)gy);
    const simd_floats low_n = SIMD(cvtepi32_ps)(SIMD(madd_epi16)(low, low)),
                      high_n = SIMD(cvtepi32_ps)(SIMD(madd_epi16)(high, high));
    return (lanes)SIMD(packs_epi32)(SIMD(cvtps_epi32)(SIMD(sqrt_ps)(low_n)), SIMD(cvtps_epi32)(SIMD(sqrt_ps)(high_n)));
}

#if defined(__AVX512BW__)
INLINE lanes lanes_end_root(struct half_root half)
{
    const __m512i root = (__m512i)half.root, one = _mm512_set1_epi16(1);
    const __m512i product = _mm512_mullo_epi16(root, _mm512_sub_epi16(root, one));
    const __mmask32 above = _mm512_cmpge_epu16_mask(product, (__m512i)half.sums);
    return (lanes)_mm512_mask_subs_epi16(root, above, root, one);
}
#else
INLINE lanes lanes_end_root(struct half_root half)
{
    const __m256i root = (__m256i)half.root;
    const __m256i product = _mm256_mullo_epi16(root, _mm256_sub_epi16(root, _mm256_set1_epi16(1)));
    /* product >= sums makes the comparison -1. */
    return (lanes)_mm256_adds_epi16(root, _mm256_cmpeq_epi16(_mm256_max_epu16(product, (__m256i)half.sums), product));
}
#endif
#else
INLINE struct half_root lanes_begin_root(lanes gx, lanes gy)
{
    struct half_root half = {0};
    for (int i = 0; i < LANES_BYTES / 2; i++) {
        const int32_t n = gx[i] * gx[i] + gy[i] * gy[i];
        half.root[i] = (int16_t)root_small(n < 255 * 255 ? n : 255 * 255);
    }
    return half;
}

INLINE lanes lanes_root(lanes gx, lanes gy)
{
    return lanes_begin_root(gx, gy).root;
}

INLINE lanes lanes_end_root(struct half_root half)
{
    return half.root;
}
#endif

#include "edge/rows_lanes_steps.h"
