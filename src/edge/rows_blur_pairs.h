/* A Gaussian of bytes across first, then down, on pairs of rows, a part of rows_table.h.
 *
 * Sums across a row fit 16 bits, less BLUR_BIAS with a sign. Those of two rows take turns in lanes of 32 bits, so that one step
 * multiplies both by their weights down; each pair serves all rows of the output that it is near to. A step of LANES_BYTES
 * columns has four vectors: the lower and upper halves, by 16 bytes, of even columns, and of odd ones. */
#if HAS_DOTS

/* Weights of neighbouring bytes, or of one, whose products fit 16 bits with a sign, and where the first stands. */
struct blur_terms {
    int count, columns[EC_BLUR_PAIRS_MAX_SIZE];
    lanes weights[EC_BLUR_PAIRS_MAX_SIZE];
};

static void blur_terms_make(struct blur_terms *terms, const struct ec_blur_taps *taps)
{
    terms->count = 0;
    for (int i = 0; i < taps->size; i++) {
        const uint32_t first = taps->weights[i], second = i + 1 < taps->size ? taps->weights[i + 1] : 0;
        const bool both = first + second <= 128 && second < 128;
        terms->columns[terms->count] = i - taps->size / 2;
        terms->weights[terms->count++] = lanes_of((int)(first | (both ? second : 0) << 8));
        i += both;
    }
}

/* `count` is terms->count, a constant where it is 5: that of the common sigma of 1.4. */
INLINE void blur_pair_by(void *pairs, const void *const rows[2], int n, const struct blur_terms *terms, int count)
{
    char *to = pairs;
    for (int x = 0; x < n; x += LANES_BYTES, to += 4 * LANES_BYTES) {
        const uint8_t *a = (const uint8_t *)rows[0] + x, *b = (const uint8_t *)rows[1] + x;
        lanes even_a = lanes_of(-BLUR_BIAS), odd_a = even_a, even_b = even_a, odd_b = even_a;
#pragma GCC unroll 5
        for (int k = 0; k < count; k++) {
            const lanes weights = terms->weights[k];
            const int column = terms->columns[k];
            even_a += lanes_pair_products(lanes_load(a + column), weights);
            odd_a += lanes_pair_products(lanes_load(a + column + 1), weights);
            even_b += lanes_pair_products(lanes_load(b + column), weights);
            odd_b += lanes_pair_products(lanes_load(b + column + 1), weights);
        }
        lanes_store(to, lanes_turns_low(even_a, even_b));
        lanes_store(to + LANES_BYTES, lanes_turns_high(even_a, even_b));
        lanes_store(to + 2 * LANES_BYTES, lanes_turns_low(odd_a, odd_b));
        lanes_store(to + 3 * LANES_BYTES, lanes_turns_high(odd_a, odd_b));
    }
}

static void blur_pair(void *pairs, const void *const rows[2], int n, const struct ec_blur_taps *taps)
{
    struct blur_terms terms;
    blur_terms_make(&terms, taps);
    if (terms.count == 5)
        blur_pair_by(pairs, rows, n, &terms, 5);
    else
        blur_pair_by(pairs, rows, n, &terms, terms.count);
}

INLINE void blur_pairs_by(uint8_t *restrict out, const void *const *pairs, int n, const wide_lanes *weights, int count)
{
    const wide_lanes start = (wide_lanes){0} + (BLUR_BIAS * 256 + (1 << 15));
    for (int x = 0; x < n; x += LANES_BYTES) {
        wide_lanes even_low = start, even_high = start, odd_low = start, odd_high = start;
#pragma GCC unroll 5
        for (int k = 0; k < count; k++) {
            const char *p = (const char *)pairs[k] + 4 * (ptrdiff_t)x;
            even_low = lanes_dot_short(even_low, lanes_load(p), weights[k]);
            even_high = lanes_dot_short(even_high, lanes_load(p + LANES_BYTES), weights[k]);
            odd_low = lanes_dot_short(odd_low, lanes_load(p + 2 * LANES_BYTES), weights[k]);
            odd_high = lanes_dot_short(odd_high, lanes_load(p + 3 * LANES_BYTES), weights[k]);
        }
        const lanes even = lanes_join_wide(even_low >> 16, even_high >> 16);
        const lanes bytes = lanes_join(even, lanes_join_wide(odd_low >> 16, odd_high >> 16));
        if (n - x >= LANES_BYTES)
            lanes_store(out + x, bytes);
        else
            memcpy(out + x, &bytes, (size_t)(n - x));
    }
}

static void blur_pairs(uint8_t *restrict out, const void *const *pairs, bool second, int n, const struct ec_blur_taps *taps)
{
    wide_lanes weights[EC_BLUR_PAIRS_MAX_SIZE / 2 + 1];
    const int count = taps->size / 2 + 1;
    for (int k = 0; k < count; k++) {
        const int i = 2 * k - second;
        const uint32_t a = i >= 0 ? taps->weights[i] : 0, b = i + 1 < taps->size ? taps->weights[i + 1] : 0;
        weights[k] = (wide_lanes){0} + (int32_t)(a | b << 16);
    }
    if (count == 5)
        blur_pairs_by(out, pairs, n, weights, 5);
    else
        blur_pairs_by(out, pairs, n, weights, count);
}

#endif
