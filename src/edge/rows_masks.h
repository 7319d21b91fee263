/* What comparisons of lanes give, and 32-bit squares of them, a part of rows_table.h.
 *
 * A mask has a bit a lane where the instruction set has registers for that, else it is lanes whose bits are all set or not; the
 * operators &, | and ~ work on both.
 *
 * lanes_above, lanes_equal: where a > b, a == b.
 * lanes_pick: a where the mask is set, else b.
 * lanes_decrease: a - 1 where the mask is set, else a.
 * mask_any: whether it is set anywhere.
 * mask_bits: bit i is that of lane i. mask_bits_in_turns: bits 2 * i and 2 * i + 1 are those of lane i of `even` and `odd`.
 * mask_of_bits, mask_of_bits_in_turns: the inverse; of bits 2 * i + part.
 * lanes_distance, bytes_distance: how far positive lanes, or bytes, are apart. lanes_max_positive, bytes_max: the larger ones.
 * lanes_products_high: upper halves of the products of positive lanes.
 * lanes_squares: start + a * a + b * b, in two vectors of some order, from which
 * lanes_join_wide makes lanes in the order of a and b, clamped, and
 * lanes_join_lower some of the lower halves, of which the 15 lowest bits count. */
#if defined(__AVX512BW__)
typedef __mmask32 lanes_mask;

INLINE lanes_mask lanes_above(lanes a, lanes b)
{
    return _mm512_cmpgt_epi16_mask((__m512i)a, (__m512i)b);
}
INLINE lanes_mask lanes_equal(lanes a, lanes b)
{
    return _mm512_cmpeq_epi16_mask((__m512i)a, (__m512i)b);
}
INLINE lanes lanes_pick(lanes_mask mask, lanes a, lanes b)
{
    return (lanes)_mm512_mask_blend_epi16(mask, (__m512i)b, (__m512i)a);
}
INLINE lanes lanes_decrease(lanes_mask mask, lanes a)
{
    return (lanes)_mm512_mask_sub_epi16((__m512i)a, mask, (__m512i)a, _mm512_set1_epi16(1));
}
INLINE bool mask_any(lanes_mask mask)
{
    return mask != 0;
}
INLINE uint64_t mask_bits(lanes_mask mask)
{
    return mask;
}
INLINE uint64_t mask_bits_in_turns(lanes_mask even, lanes_mask odd)
{
    return _pdep_u64(even, 0x5555555555555555u) | _pdep_u64(odd, 0xaaaaaaaaaaaaaaaau);
}
INLINE lanes_mask mask_of_bits(uint64_t bits)
{
    return (lanes_mask)bits;
}
INLINE lanes_mask mask_of_bits_in_turns(uint64_t bits, int part)
{
    return (lanes_mask)_pext_u64(bits, 0x5555555555555555u << part);
}
#else
typedef lanes lanes_mask;

INLINE lanes_mask lanes_above(lanes a, lanes b)
{
    return a > b;
}
INLINE lanes_mask lanes_equal(lanes a, lanes b)
{
    return a == b;
}
INLINE lanes lanes_pick(lanes_mask mask, lanes a, lanes b)
{
#if defined(__AVX2__)
    return (lanes)_mm256_blendv_epi8((__m256i)b, (__m256i)a, (__m256i)mask);
#else
    return (a & mask) | (b & ~mask);
#endif
}
INLINE lanes lanes_decrease(lanes_mask mask, lanes a)
{
    return a + mask;
}

/* A bit a byte of a mask of which each byte is all set or not. */
INLINE uint64_t mask_byte_bits(lanes mask)
{
#if defined(__AVX2__)
    return (uint32_t)_mm256_movemask_epi8((__m256i)mask);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8((__m128i)mask);
#else
    uint64_t words[2];
    memcpy(words, &mask, sizeof words);
    /* Each byte leaves one bit; the product adds them up, shifted to be next to each other, in the uppermost byte. */
    const uint64_t places = 0x0102040810204080u, each = 0x0101010101010101u;
    return (words[0] & each) * places >> 56 | (words[1] & each) * places >> 56 << 8;
#endif
}
INLINE bool mask_any(lanes_mask mask)
{
    return mask_byte_bits(mask) != 0;
}
INLINE uint64_t mask_bits_in_turns(lanes_mask even, lanes_mask odd)
{
    return mask_byte_bits((even & 255) | (odd & ~255));
}
/* Bits at even places, next to each other. */
INLINE uint64_t even_bits(uint64_t bits)
{
    bits &= 0x5555555555555555u;
    bits = (bits | bits >> 1) & 0x3333333333333333u;
    bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0fu;
    bits = (bits | bits >> 4) & 0x00ff00ff00ff00ffu;
    return (bits | bits >> 8) & 0xffff;
}
INLINE uint64_t mask_bits(lanes_mask mask)
{
    return even_bits(mask_byte_bits(mask));
}
INLINE lanes_mask mask_of_bits(uint64_t bits)
{
    lanes places;
    for (int i = 0; i < LANES_BYTES / 2; i++)
        places[i] = (int16_t)(1u << i);
    return (lanes_of((int16_t)bits) & places) == places;
}
INLINE lanes_mask mask_of_bits_in_turns(uint64_t bits, int part)
{
    return mask_of_bits(even_bits(bits >> part));
}
#endif

struct wide_pair {
    wide_lanes first, second;
};

#if defined(SIMD)
INLINE lanes lanes_distance(lanes a, lanes b)
{
    return (lanes)SIMD(subs_epu16)((simd)a, (simd)b) | (lanes)SIMD(subs_epu16)((simd)b, (simd)a);
}
INLINE lanes lanes_max_positive(lanes a, lanes b)
{
    return (lanes)((positive_lanes)SIMD(subs_epu16)((simd)a, (simd)b) + (positive_lanes)b);
}
INLINE lanes bytes_distance(lanes a, lanes b)
{
    return (lanes)SIMD(subs_epu8)((simd)a, (simd)b) | (lanes)SIMD(subs_epu8)((simd)b, (simd)a);
}
INLINE lanes bytes_max(lanes a, lanes b)
{
    return (lanes)SIMD(max_epu8)((simd)a, (simd)b);
}
INLINE lanes lanes_products_high(lanes a, lanes b)
{
    return (lanes)SIMD(mulhi_epu16)((simd)a, (simd)b);
}
INLINE struct wide_pair lanes_squares(lanes a, lanes b, int32_t start)
{
    const lanes low = (lanes)SIMD(unpacklo_epi16)((simd)a, (simd)b), high = (lanes)SIMD(unpackhi_epi16)((simd)a, (simd)b);
    const wide_lanes starts = (wide_lanes){0} + start;
    return (struct wide_pair){lanes_dot_short(starts, low, (wide_lanes)low), lanes_dot_short(starts, high, (wide_lanes)high)};
}
INLINE lanes lanes_join_wide(wide_lanes first, wide_lanes second)
{
    return (lanes)SIMD(packs_epi32)((simd)first, (simd)second);
}
#else
typedef uint8_t byte_lanes __attribute__((vector_size(LANES_BYTES)));

INLINE lanes lanes_distance(lanes a, lanes b)
{
    const positive_lanes x = (positive_lanes)a, y = (positive_lanes)b, less = (positive_lanes)(x < y);
    return (lanes)(((x - y) ^ less) - less);
}
INLINE lanes lanes_max_positive(lanes a, lanes b)
{
    const lanes less = (lanes)((positive_lanes)a < (positive_lanes)b);
    return (b & less) | (a & ~less);
}
INLINE lanes bytes_distance(lanes a, lanes b)
{
    const byte_lanes x = (byte_lanes)a, y = (byte_lanes)b, less = (byte_lanes)(x < y);
    return (lanes)(((x - y) ^ less) - less);
}
INLINE lanes bytes_max(lanes a, lanes b)
{
    const byte_lanes x = (byte_lanes)a, y = (byte_lanes)b, less = (byte_lanes)(x < y);
    return (lanes)((y & less) | (x & ~less));
}
/* Lanes at even places, and those at odd ones. */
INLINE lanes lanes_products_high(lanes a, lanes b)
{
    const positive_wide_lanes x = (positive_wide_lanes)a, y = (positive_wide_lanes)b;
    return (lanes)((x & 0xffff) * (y & 0xffff) >> 16 | ((x >> 16) * (y >> 16) & 0xffff0000));
}
INLINE struct wide_pair lanes_squares(lanes a, lanes b, int32_t start)
{
    const wide_lanes even_a = ((wide_lanes)((positive_wide_lanes)a << 16)) >> 16, odd_a = (wide_lanes)a >> 16;
    const wide_lanes even_b = ((wide_lanes)((positive_wide_lanes)b << 16)) >> 16, odd_b = (wide_lanes)b >> 16;
    return (struct wide_pair){start + even_a * even_a + even_b * even_b, start + odd_a * odd_a + odd_b * odd_b};
}
INLINE wide_lanes wide_clamp(wide_lanes a)
{
    const wide_lanes least = (wide_lanes){0} + INT16_MIN, most = (wide_lanes){0} + INT16_MAX;
    const wide_lanes low = (a & (a > least)) | (least & ~(a > least));
    return (low & (low < most)) | (most & ~(low < most));
}
INLINE lanes lanes_join_wide(wide_lanes first, wide_lanes second)
{
    return (lanes)((wide_clamp(first) & 0xffff) | wide_clamp(second) << 16);
}
#endif

INLINE lanes lanes_join_lower(wide_lanes first, wide_lanes second)
{
#if defined(__AVX512BW__)
    const lanes places = {0,  2,  4,  6,  32, 34, 36, 38, 8,  10, 12, 14, 40, 42, 44, 46,
                          16, 18, 20, 22, 48, 50, 52, 54, 24, 26, 28, 30, 56, 58, 60, 62};
    return (lanes)_mm512_permutex2var_epi16((__m512i)first, (__m512i)places, (__m512i)second);
#else
    return lanes_join_wide(first & INT16_MAX, second & INT16_MAX);
#endif
}
