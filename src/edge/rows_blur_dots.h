/* The two passes of a Gaussian of bytes, a part of rows_table.h: for instruction sets that multiply bytes, and 16-bit sums of
 * such, and add neighbouring products in one step. */
#if HAS_DOTS

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
