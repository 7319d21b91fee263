/* The two passes of a Gaussian, a part of rows_kind.h: the terms are explained there. */

/* The weights are symmetric, so rows go in pairs, four pairs a pass, with weight 0 past the last. */
struct NAME(pairs) {
    const PIXEL *a[4], *b[4];
    BLUR_COUNT weights[4];
};

OUT_OF_LINE void NAME(add_pairs)(BLUR_COUNT *restrict counts, const struct NAME(pairs) * pairs, int n)
{
    const PIXEL *restrict a0 = pairs->a[0], *restrict a1 = pairs->a[1], *restrict a2 = pairs->a[2], *restrict a3 = pairs->a[3];
    const PIXEL *restrict b0 = pairs->b[0], *restrict b1 = pairs->b[1], *restrict b2 = pairs->b[2], *restrict b3 = pairs->b[3];
    const BLUR_COUNT w0 = pairs->weights[0], w1 = pairs->weights[1], w2 = pairs->weights[2], w3 = pairs->weights[3];
    for (int x = 0; x < n; x++)
        counts[x] = (BLUR_COUNT)(counts[x] + w0 * (BLUR_COUNT)(a0[x] + b0[x]) + w1 * (BLUR_COUNT)(a1[x] + b1[x]) +
                                 w2 * (BLUR_COUNT)(a2[x] + b2[x]) + w3 * (BLUR_COUNT)(a3[x] + b3[x]));
}

static void NAME(blur_down)(void *sums_row, const void *const *rows, int n, const struct ec_blur_taps *taps)
{
    BLUR_SUM *restrict sums = sums_row;
    const int half = taps->size / 2;
    for (int start = 0; start < n; start += BLOCK) {
        BLUR_COUNT counts[BLOCK];
        const int columns = n - start < BLOCK ? n - start : BLOCK;
        const PIXEL *restrict middle = (const PIXEL *)rows[half] + start;
        const BLUR_COUNT middle_weight = (BLUR_COUNT)taps->weights[half];
        for (int x = 0; x < columns; x++)
            counts[x] = (BLUR_COUNT)(middle_weight * middle[x]);
        for (int first = 1; first <= half; first += 4) {
            struct NAME(pairs) pairs;
            for (int k = 0; k < 4; k++) {
                const int distance = first + k <= half ? first + k : first;
                pairs.a[k] = (const PIXEL *)rows[half - distance] + start;
                pairs.b[k] = (const PIXEL *)rows[half + distance] + start;
                pairs.weights[k] = first + k <= half ? (BLUR_COUNT)taps->weights[half - distance] : 0;
            }
            NAME(add_pairs)(counts, &pairs, columns);
        }
        for (int x = 0; x < columns; x++)
            sums[start + x] = (BLUR_SUM)counts[x];
    }
}

/* weights[k] times the sums distance + k columns away on either side. */
OUT_OF_LINE void NAME(add_sides)(BLUR_SUM *restrict totals, const BLUR_SUM *sums, int distance, const BLUR_SUM weights[4],
                                 int n)
{
    const BLUR_SUM *l0 = sums - distance, *r0 = sums + distance;
    const BLUR_SUM w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
    for (int x = 0; x < n; x++) {
        BLUR_SUM total = BLUR_MULTIPLY_ADD(w0, l0[x] + r0[x], totals[x]);
        total = BLUR_MULTIPLY_ADD(w1, l0[x - 1] + r0[x + 1], total);
        total = BLUR_MULTIPLY_ADD(w2, l0[x - 2] + r0[x + 2], total);
        totals[x] = BLUR_MULTIPLY_ADD(w3, l0[x - 3] + r0[x + 3], total);
    }
}

/* A sum has at most 24 bits (8-bit pixels) or 48 (deeper ones), and so has its rounded fraction: all exact. The margins of
 * `sums` reach EC_BLUR_SLACK columns further than the weights, for weights that are 0. */
static void NAME(blur_across)(void *out_row, const void *sums_row, int n, const struct ec_blur_taps *taps)
{
    PIXEL *restrict out = out_row;
    const int half = taps->size / 2;
    const BLUR_SUM unit = 1 / ((BLUR_SUM)(1 << taps->fraction_bits) * (BLUR_SUM)(1 << taps->fraction_bits));
    for (int start = 0; start < n; start += BLOCK) {
        BLUR_SUM totals[BLOCK];
        const int columns = n - start < BLOCK ? n - start : BLOCK;
        const BLUR_SUM *restrict sums = (const BLUR_SUM *)sums_row + start;
        const BLUR_SUM middle_weight = (BLUR_SUM)taps->weights[half];
        for (int x = 0; x < columns; x++)
            totals[x] = middle_weight * sums[x];
        for (int first = 1; first <= half; first += 4) {
            BLUR_SUM weights[4];
            for (int k = 0; k < 4; k++)
                weights[k] = first + k <= half ? (BLUR_SUM)taps->weights[half - first - k] : 0;
            NAME(add_sides)(totals, sums, first, weights, columns);
        }
        for (int x = 0; x < columns; x++)
            out[start + x] = (PIXEL)(int32_t)(totals[x] * unit + (BLUR_SUM)0.5);
    }
}
