/* Steps that take neighbouring elements together, and floats, where the instruction set has them; a part of rows_lanes.h.
 *
 * lanes_pair_low and _high: bytes of a and b take turns, of the first and the second half of each 16 bytes.
 * lanes_pick_odd: lanes at even places of a, those at odd places of b.
 * lanes_any_above: whether any lane is. lanes_other_bytes: a bit for each byte of a that is not that of b.
 * lanes_pair_products: a byte times its weight, a signed byte, plus the same of the next; below 2^15 in size.
 * lanes_store_pair_sums: lanes that lanes_pair_low and _high gave, in the order of the bytes.
 * lanes_dot, lanes_dot_short: to each lane of 32 bits the four products of its bytes with signed bytes, of which two neighbours
 * are below 2^15 in size together, or the two products of its halves.
 * lanes_join_phases: phases[k] has the results of columns k, k + 4, and so on; bytes, clamped.
 * lanes_interleave: lanes of 32 bits of a and b take turns, in two vectors.
 * lanes_load_parts: 16 bytes from each of several addresses. lanes_transpose: in each 16 bytes, word k of vector m becomes word
 * m of vector k. lanes_subtract: lanes, clamped. lanes_round: floats in the range of integers to the nearest, halves to even.
 * lanes_expand_luma: bytes of limited range to full range, rounded. 255/219 = 1 + 12/73, and 5387/2^15 is so close to 12/73
 * that products up to 36 are rounded the same; there are no halves. lanes_narrow: two vectors of lanes from 0 to 255 become
 * bytes. lanes_multiply_add: a * b + c, rounded once. lanes_store_bytes, _shorts: lanes of 32 bits, those of b after those of
 * a, clamped; lanes_store_row: bytes of LANES_BYTES / 16 vectors of them. */
#if defined(SIMD)
INLINE wide_lanes lanes_dot_short(wide_lanes sum, lanes shorts, wide_lanes weights)
{
#if defined(__AVX512VNNI__)
    return (wide_lanes)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)shorts, (__m512i)weights);
#else
    return sum + (wide_lanes)SIMD(madd_epi16)((simd)shorts, (simd)weights);
#endif
}
#endif

#if defined(__AVX2__)
#define HAS_DOTS 1

INLINE lanes lanes_pair_low(lanes a, lanes b)
{
    return (lanes)SIMD(unpacklo_epi8)((simd)a, (simd)b);
}
INLINE lanes lanes_pair_high(lanes a, lanes b)
{
    return (lanes)SIMD(unpackhi_epi8)((simd)a, (simd)b);
}
INLINE lanes lanes_pair_products(lanes bytes, lanes weights)
{
    return (lanes)SIMD(maddubs_epi16)((simd)bytes, (simd)weights);
}
#if defined(__AVX512VNNI__)
#define HAS_DOTS_OF_FOUR 1
INLINE wide_lanes lanes_dot(wide_lanes sum, lanes bytes, wide_lanes weights)
{
    return (wide_lanes)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)bytes, (__m512i)weights);
}
#else
#define HAS_DOTS_OF_FOUR 0
INLINE wide_lanes lanes_dot(wide_lanes sum, lanes bytes, wide_lanes weights)
{
    const simd pairs = SIMD(maddubs_epi16)((simd)bytes, (simd)weights);
    return sum + (wide_lanes)SIMD(madd_epi16)(pairs, SIMD(set1_epi16)(1));
}
#endif
INLINE lanes lanes_expand_luma(lanes bytes)
{
    const simd above = SIMD(subs_epu8)((simd)bytes, SIMD(set1_epi8)(16)), none = (simd){0};
    const simd factor = SIMD(set1_epi16)(5387);
    const simd low = SIMD(mulhrs_epi16)(SIMD(unpacklo_epi8)(above, none), factor);
    const simd high = SIMD(mulhrs_epi16)(SIMD(unpackhi_epi8)(above, none), factor);
    return (lanes)SIMD(adds_epu8)(above, SIMD(packus_epi16)(low, high));
}
INLINE lanes lanes_subtract(lanes a, lanes b)
{
    return (lanes)SIMD(subs_epi16)((simd)a, (simd)b);
}
INLINE wide_lanes lanes_round(float_lanes a)
{
    return (wide_lanes)SIMD(cvtps_epi32)((simd_floats)a);
}
INLINE float_lanes lanes_of_float(float value)
{
    return (float_lanes)SIMD(set1_ps)(value);
}
INLINE float_lanes lanes_multiply_add(float_lanes a, float_lanes b, float_lanes c)
{
    return (float_lanes)SIMD(fmadd_ps)((simd_floats)a, (simd_floats)b, (simd_floats)c);
}
INLINE float_lanes lanes_clamp_floats(float_lanes a, float_lanes low, float_lanes high)
{
    return (float_lanes)SIMD(min_ps)(SIMD(max_ps)((simd_floats)a, (simd_floats)low), (simd_floats)high);
}
INLINE void lanes_transpose(wide_lanes m[4])
{
    const simd a = SIMD(unpacklo_epi32)((simd)m[0], (simd)m[1]), b = SIMD(unpacklo_epi32)((simd)m[2], (simd)m[3]);
    const simd c = SIMD(unpackhi_epi32)((simd)m[0], (simd)m[1]), d = SIMD(unpackhi_epi32)((simd)m[2], (simd)m[3]);
    m[0] = (wide_lanes)SIMD(unpacklo_epi64)(a, b);
    m[1] = (wide_lanes)SIMD(unpackhi_epi64)(a, b);
    m[2] = (wide_lanes)SIMD(unpacklo_epi64)(c, d);
    m[3] = (wide_lanes)SIMD(unpackhi_epi64)(c, d);
}
INLINE wide_lanes lanes_clamp_wide(wide_lanes a, wide_lanes low, wide_lanes high)
{
    return (wide_lanes)SIMD(min_epi32)(SIMD(max_epi32)((simd)a, (simd)low), (simd)high);
}
#if defined(__AVX512BW__)
INLINE void lanes_store_row(void *to, const wide_lanes row[4])
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i first = _mm512_packs_epi32((__m512i)row[0], (__m512i)row[1]);
    const __m512i second = _mm512_packs_epi32((__m512i)row[2], (__m512i)row[3]);
    lanes_store(to, (lanes)_mm512_permutexvar_epi32(order, _mm512_packus_epi16(first, second)));
}
INLINE uint64_t lanes_other_bytes(lanes a, lanes b)
{
    return _mm512_cmpneq_epi8_mask((__m512i)a, (__m512i)b);
}
INLINE bool lanes_any_above(lanes a, int limit)
{
    return _mm512_cmpgt_epi16_mask((__m512i)a, _mm512_set1_epi16((int16_t)limit)) != 0;
}
INLINE lanes lanes_pick_odd(lanes a, lanes b)
{
    return (lanes)_mm512_mask_blend_epi16(0xaaaaaaaa, (__m512i)a, (__m512i)b);
}
INLINE wide_lanes lanes_load_parts(const uint8_t *const parts[4])
{
    __m512i a = _mm512_castsi128_si512(_mm_loadu_si128((const void *)parts[0]));
    a = _mm512_inserti32x4(a, _mm_loadu_si128((const void *)parts[1]), 1);
    a = _mm512_inserti32x4(a, _mm_loadu_si128((const void *)parts[2]), 2);
    return (wide_lanes)_mm512_inserti32x4(a, _mm_loadu_si128((const void *)parts[3]), 3);
}
INLINE void lanes_store_pair_sums(int16_t *to, lanes low, lanes high)
{
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    lanes_store(to, (lanes)_mm512_permutex2var_epi64((__m512i)low, first, (__m512i)high));
    lanes_store(to + LANES_BYTES / 2, (lanes)_mm512_permutex2var_epi64((__m512i)low, second, (__m512i)high));
}
INLINE lanes lanes_join_phases(const wide_lanes phases[4])
{
    const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const __m512i first = _mm512_packs_epi32((__m512i)phases[0], (__m512i)phases[1]);
    const __m512i second = _mm512_packs_epi32((__m512i)phases[2], (__m512i)phases[3]);
    return (lanes)_mm512_shuffle_epi8(_mm512_packus_epi16(first, second), order);
}
INLINE void lanes_interleave(wide_lanes out[2], wide_lanes a, wide_lanes b)
{
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    out[0] = (wide_lanes)_mm512_permutex2var_epi32((__m512i)a, first, (__m512i)b);
    out[1] = (wide_lanes)_mm512_permutex2var_epi32((__m512i)a, second, (__m512i)b);
}
INLINE lanes lanes_narrow(lanes a, lanes b)
{
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    return (lanes)_mm512_permutexvar_epi64(order, _mm512_packus_epi16((__m512i)a, (__m512i)b));
}
INLINE void lanes_store_bytes(void *to, wide_lanes a, wide_lanes b)
{
    _mm_storeu_si128(to, _mm512_cvtusepi32_epi8((__m512i)a));
    _mm_storeu_si128((__m128i *)to + 1, _mm512_cvtusepi32_epi8((__m512i)b));
}
INLINE void lanes_store_shorts(void *to, wide_lanes a, wide_lanes b)
{
    _mm256_storeu_si256(to, _mm512_cvtusepi32_epi16((__m512i)a));
    _mm256_storeu_si256((__m256i *)to + 1, _mm512_cvtusepi32_epi16((__m512i)b));
}
#else
INLINE void lanes_store_row(void *to, const wide_lanes row[2])
{
    const __m256i shorts = _mm256_packs_epi32((__m256i)row[0], (__m256i)row[1]);
    const __m256i bytes = _mm256_packus_epi16(shorts, shorts), order = _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5);
    _mm_storeu_si128(to, _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(bytes, order)));
}
INLINE uint64_t lanes_other_bytes(lanes a, lanes b)
{
    return (uint32_t)~_mm256_movemask_epi8(_mm256_cmpeq_epi8((__m256i)a, (__m256i)b));
}
INLINE bool lanes_any_above(lanes a, int limit)
{
    return _mm256_movemask_epi8(_mm256_cmpgt_epi16((__m256i)a, _mm256_set1_epi16((int16_t)limit))) != 0;
}
INLINE lanes lanes_pick_odd(lanes a, lanes b)
{
    return (lanes)_mm256_blend_epi16((__m256i)a, (__m256i)b, 0xaa);
}
INLINE wide_lanes lanes_load_parts(const uint8_t *const parts[2])
{
    const __m256i a = _mm256_castsi128_si256(_mm_loadu_si128((const void *)parts[0]));
    return (wide_lanes)_mm256_inserti128_si256(a, _mm_loadu_si128((const void *)parts[1]), 1);
}
INLINE void lanes_store_pair_sums(int16_t *to, lanes low, lanes high)
{
    lanes_store(to, (lanes)_mm256_permute2x128_si256((__m256i)low, (__m256i)high, 0x20));
    lanes_store(to + LANES_BYTES / 2, (lanes)_mm256_permute2x128_si256((__m256i)low, (__m256i)high, 0x31));
}
INLINE lanes lanes_join_phases(const wide_lanes phases[4])
{
    const __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const __m256i first = _mm256_packs_epi32((__m256i)phases[0], (__m256i)phases[1]);
    const __m256i second = _mm256_packs_epi32((__m256i)phases[2], (__m256i)phases[3]);
    return (lanes)_mm256_shuffle_epi8(_mm256_packus_epi16(first, second), order);
}
INLINE void lanes_interleave(wide_lanes out[2], wide_lanes a, wide_lanes b)
{
    const __m256i low = _mm256_unpacklo_epi32((__m256i)a, (__m256i)b), high = _mm256_unpackhi_epi32((__m256i)a, (__m256i)b);
    out[0] = (wide_lanes)_mm256_permute2x128_si256(low, high, 0x20);
    out[1] = (wide_lanes)_mm256_permute2x128_si256(low, high, 0x31);
}
INLINE lanes lanes_narrow(lanes a, lanes b)
{
    return (lanes)_mm256_permute4x64_epi64(_mm256_packus_epi16((__m256i)a, (__m256i)b), _MM_SHUFFLE(3, 1, 2, 0));
}
INLINE __m256i lanes_shorts(wide_lanes a, wide_lanes b)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi32((__m256i)a, (__m256i)b), _MM_SHUFFLE(3, 1, 2, 0));
}
INLINE void lanes_store_bytes(void *to, wide_lanes a, wide_lanes b)
{
    const __m256i shorts = lanes_shorts(a, b);
    _mm_storeu_si128(to, _mm_packus_epi16(_mm256_castsi256_si128(shorts), _mm256_extracti128_si256(shorts, 1)));
}
INLINE void lanes_store_shorts(void *to, wide_lanes a, wide_lanes b)
{
    _mm256_storeu_si256(to, lanes_shorts(a, b));
}
#endif
#else
#define HAS_DOTS 0
#endif
