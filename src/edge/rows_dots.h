/* Sums of bytes with small weights, and of 16-bit sums of such, a part of rows_table.h: for instruction sets that multiply
 * bytes and add neighbouring products in one step.
 *
 * A lane of 32 bits takes four neighbouring bytes of a row. A vector that begins at column x has the lanes of the results at
 * x, x + 4, and so on; those that begin one, two and three columns further have the results between. */
#if HAS_DOTS

#define DOT_PHASES 4
#define DOT_COLUMNS LANES_BYTES
#define WIDE_LANES (LANES_BYTES / 4)

INLINE void dot_block(wide_lanes sums[DOT_PHASES], const void *const *rows, int x, const struct ec_dot_taps *taps)
{
    wide_lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    const int32_t *weights = taps->weights;
    for (int j = 0; j < taps->size; j++) {
        const uint8_t *p = (const uint8_t *)rows[j] + x - taps->size / 2;
        for (int g = 0; g < taps->groups; g++) {
            const wide_lanes w = (wide_lanes){0} + *weights++;
            s0 = lanes_dot(s0, lanes_load(p + 4 * g), w);
            s1 = lanes_dot(s1, lanes_load(p + 4 * g + 1), w);
            s2 = lanes_dot(s2, lanes_load(p + 4 * g + 2), w);
            s3 = lanes_dot(s3, lanes_load(p + 4 * g + 3), w);
        }
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

/* Of sums that fit 16 bits: pairs of bytes a lane, for even and for odd columns. */
INLINE void dot_block_narrow(lanes *even, lanes *odd, const void *const *rows, int x, const struct ec_dot_taps *taps)
{
    lanes even_sum = {0}, odd_sum = {0};
    const int16_t *pairs = taps->pairs;
    for (int j = 0; j < taps->size; j++) {
        const uint8_t *p = (const uint8_t *)rows[j] + x - taps->size / 2;
        for (int i = 0; i < taps->size; i += 2) {
            const lanes w = lanes_of(*pairs++);
            even_sum += lanes_pair_products(lanes_load(p + i), w);
            odd_sum += lanes_pair_products(lanes_load(p + i + 1), w);
        }
    }
    *even = even_sum;
    *odd = odd_sum;
}

INLINE void store_floats(float *to, wide_lanes a)
{
    const float_lanes floats = __builtin_convertvector(a, float_lanes);
    memcpy(to, &floats, sizeof floats);
}

/* Sums are below 2^24 in size, so that a quotient up to 256 is off by 2^-17 at most, and one that is not half-way at least
 * 1 / (2 * EC_DOT_DIVISOR_MAX) away from that. Larger ones are clamped. */
INLINE void divide_phases(wide_lanes sums[DOT_PHASES], int32_t divisor)
{
    const float_lanes divisors = (float_lanes){0} + (float)divisor;
    for (int k = 0; k < DOT_PHASES; k++)
        sums[k] = lanes_round(__builtin_convertvector(sums[k], float_lanes) / divisors);
}

static void sum_dots(uint8_t *restrict out, const void *const *rows, int n, const struct ec_dot_taps *taps)
{
    for (int x = 0; x < n; x += DOT_COLUMNS) {
        lanes bytes;
        if (taps->narrow && taps->divisor == 1) {
            lanes even, odd;
            dot_block_narrow(&even, &odd, rows, x, taps);
            bytes = lanes_join(even, odd);
        } else {
            wide_lanes sums[DOT_PHASES];
            dot_block(sums, rows, x, taps);
            if (taps->divisor != 1)
                divide_phases(sums, taps->divisor);
            bytes = lanes_join_phases(sums);
        }
        if (n - x >= DOT_COLUMNS)
            lanes_store(out + x, bytes);
        else
            memcpy(out + x, &bytes, (size_t)(n - x));
    }
}

static void sum_dots_wide(float *restrict out, const void *const *rows, int n, const struct ec_dot_taps *taps)
{
    for (int x = 0; x < n; x += DOT_COLUMNS) {
        wide_lanes sums[DOT_PHASES];
        float results[DOT_COLUMNS];
        const bool whole = n - x >= DOT_COLUMNS;
        float *to = whole ? out + x : results;
        dot_block(sums, rows, x, taps);
        wide_lanes a[2], b[2], in_order[DOT_PHASES];
        lanes_interleave(a, sums[0], sums[2]);
        lanes_interleave(b, sums[1], sums[3]);
        lanes_interleave(in_order, a[0], b[0]);
        lanes_interleave(in_order + 2, a[1], b[1]);
        for (int k = 0; k < DOT_PHASES; k++)
            store_floats(to + k * WIDE_LANES, in_order[k]);
        if (whole)
            continue;
        memcpy(out + x, results, (size_t)(n - x) * sizeof *out);
    }
}

/* The sums of a Gaussian's columns, up to 255 * 256, less this, so that they are signed. */
#define BLUR_BIAS 32768

/* Products of two bytes with weights up to 64 each, or one up to 128, fit 16 bits. */
INLINE bool blur_weights_fit(const struct ec_blur_taps *taps)
{
    const int half = taps->size / 2;
    return taps->weights[half] < 128 && (half == 0 || taps->weights[half - 1] <= 64);
}

static void blur_down_dots(void *sums_row, const void *const *rows, int n, const struct ec_blur_taps *taps)
{
    int16_t *restrict sums = sums_row;
    const int half = taps->size / 2;
    int x = 0;
    if (blur_weights_fit(taps))
        for (; x + LANES_BYTES <= n; x += LANES_BYTES) {
            const lanes middle = lanes_load((const uint8_t *)rows[half] + x), none = {0};
            const lanes middle_weight = lanes_of((int)taps->weights[half]);
            positive_lanes low = (positive_lanes)lanes_pair_products(lanes_pair_low(middle, none), middle_weight) ^ BLUR_BIAS;
            positive_lanes high = (positive_lanes)lanes_pair_products(lanes_pair_high(middle, none), middle_weight) ^ BLUR_BIAS;
            for (int k = 1; k <= half; k++) {
                const lanes a = lanes_load((const uint8_t *)rows[half - k] + x);
                const lanes b = lanes_load((const uint8_t *)rows[half + k] + x);
                const lanes weight = lanes_of((int)taps->weights[half - k] * 257);
                low += (positive_lanes)lanes_pair_products(lanes_pair_low(a, b), weight);
                high += (positive_lanes)lanes_pair_products(lanes_pair_high(a, b), weight);
            }
            lanes_store_pair_sums(sums + x, (lanes)low, (lanes)high);
        }
    for (; x < n; x += BLOCK) {
        const int columns = ec_min_i32(n - x, BLOCK);
        uint16_t counts[BLOCK] = {0};
        for (int j = 0; j < taps->size; j++) {
            const uint8_t *row = (const uint8_t *)rows[j] + x;
            const uint16_t weight = (uint16_t)taps->weights[j];
            for (int i = 0; i < columns; i++)
                counts[i] = (uint16_t)(counts[i] + weight * row[i]);
        }
        for (int i = 0; i < columns; i++)
            sums[x + i] = (int16_t)(counts[i] - BLUR_BIAS);
    }
}

/* LANES_BYTES / 2 results, a lane each. Products of two neighbours add up in 32 bits: for even columns from here on, for odd
 * ones from the next. */
INLINE lanes blur_across_block(const int16_t *sums, const struct ec_blur_taps *taps)
{
    const int32_t start = BLUR_BIAS * 256 + (1 << 15);
    wide_lanes even = (wide_lanes){0} + start, odd = even;
    for (int i = 0; i < taps->size; i += 2) {
        const uint32_t next = i + 1 < taps->size ? taps->weights[i + 1] : 0;
        const wide_lanes weights = (wide_lanes){0} + (int32_t)(taps->weights[i] | next << 16);
        even = lanes_dot_short(even, lanes_load(sums + i), weights);
        odd = lanes_dot_short(odd, lanes_load(sums + i + 1), weights);
    }
    return (lanes)(even >> 16) | ((lanes)odd & (lanes)((wide_lanes){0} + (int32_t)0xffff0000));
}

static void blur_across_dots(void *out_row, const void *sums_row, int n, const struct ec_blur_taps *taps)
{
    uint8_t *restrict out = out_row;
    const int16_t *sums = (const int16_t *)sums_row - taps->size / 2;
    for (int x = 0; x < n; x += LANES_BYTES) {
        const lanes first = blur_across_block(sums + x, taps), second = blur_across_block(sums + x + LANES_BYTES / 2, taps);
        const lanes bytes = lanes_narrow(first, second);
        if (n - x >= LANES_BYTES)
            lanes_store(out + x, bytes);
        else
            memcpy(out + x, &bytes, (size_t)(n - x));
    }
}

#endif
