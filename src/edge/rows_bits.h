/* Bytes that are all ones or all zeros to bits and back, a part of rows_table.h: the few lines that compilers do not find. */
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Bit i is set where byte i, 0 or 255, is. */
INLINE uint64_t bits_of_bytes(const uint8_t bytes[64])
{
#if defined(__AVX512BW__)
    return _mm512_movepi8_mask(_mm512_loadu_si512(bytes));
#elif defined(__AVX2__)
    const uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)(const void *)bytes));
    const uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32)));
    return (uint64_t)high << 32 | low;
#else
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++)
        bits |= (uint64_t)(bytes[i] & 1) << i;
    return bits;
#endif
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
    for (int i = 0; i < 64; i++)
        bytes[i] = (uint8_t) - (int)(bits >> i & 1);
#endif
}
