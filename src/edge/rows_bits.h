/* Comparisons to bits, and bits to bytes, a part of rows_table.h: the few lines that compilers do not find. */
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Bit i is set where values[i] > limit. */
INLINE uint64_t bits_above_32(const int32_t values[64], int32_t limit)
{
    uint64_t bits = 0;
#if defined(__AVX512F__)
    for (int i = 0; i < 64; i += 16)
        bits |= (uint64_t)_mm512_cmpgt_epi32_mask(_mm512_loadu_si512(values + i), _mm512_set1_epi32(limit)) << i;
#elif defined(__AVX2__)
    for (int i = 0; i < 64; i += 8) {
        const __m256i eight = _mm256_loadu_si256((const __m256i *)(const void *)(values + i));
        const __m256i above = _mm256_cmpgt_epi32(eight, _mm256_set1_epi32(limit));
        bits |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(above)) << i;
    }
#else
    for (int i = 0; i < 64; i++)
        bits |= (uint64_t)(values[i] > limit) << i;
#endif
    return bits;
}

INLINE uint64_t bits_above_64(const int64_t values[64], int64_t limit)
{
    uint64_t bits = 0;
#if defined(__AVX512F__)
    for (int i = 0; i < 64; i += 8)
        bits |= (uint64_t)_mm512_cmpgt_epi64_mask(_mm512_loadu_si512(values + i), _mm512_set1_epi64(limit)) << i;
#else
    for (int i = 0; i < 64; i++)
        bits |= (uint64_t)(values[i] > limit) << i;
#endif
    return bits;
}

/* Whether any of up to 64 values is above the limit. */
INLINE bool any_above_32(const int32_t *values, int n, int32_t limit)
{
#if defined(__AVX2__)
    if (n == 64)
        return bits_above_32(values, limit) != 0;
#endif
    int32_t largest = limit;
    for (int i = 0; i < n; i++)
        largest = values[i] > largest ? values[i] : largest;
    return largest > limit;
}

/* Byte i becomes 255 where bit i is set, else 0. */
INLINE void bytes_of_bits(uint8_t *restrict bytes, uint64_t bits)
{
#if defined(__AVX512BW__)
    _mm512_storeu_si512(bytes, _mm512_movm_epi8(bits));
#elif defined(__AVX2__)
    const __m256i places = _mm256_set1_epi64x((int64_t)0x8040201008040201u);
    const __m256i byte_of =
        _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    for (int half = 0; half < 2; half++) {
        const __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32((int32_t)(bits >> (32 * half))), byte_of);
        _mm256_storeu_si256((__m256i *)(void *)(bytes + 32 * half),
                            _mm256_cmpeq_epi8(_mm256_and_si256(spread, places), places));
    }
#else
    /* Three doublings spread eight bits, one into each byte. */
    for (int i = 0; i < 8; i++) {
        uint64_t eight = bits >> (8 * i) & 255;
        eight = (eight | eight << 28) & 0x0000000f0000000fu;
        eight = (eight | eight << 14) & 0x0003000300030003u;
        eight = (eight | eight << 7) & 0x0101010101010101u;
        eight *= 255;
        memcpy(bytes + 8 * i, &eight, sizeof eight);
    }
#endif
}
