/* A Gaussian of bytes across first, then down, on pairs of rows, a part of rows_table.h.
 *
 * Sums across a row fit 16 bits, less BLUR_BIAS with a sign. Those of two rows take turns in lanes of 32 bits, so that one step
 * multiplies both by their weights down; each pair serves all rows of the output that it is near to. A step of LANES_BYTES
 * columns has four vectors, its phases: phase k has the columns k, k + 4, and so on.
 *
 * Weights stand in variables of their own, as stores might change those in memory, and counts are constants for the common
 * sigma of 1.4. */
#if HAS_DOTS

#define BLUR_PHASES 4
#define BLUR_COMMON_SIZE 9

INLINE void blur_store_pair(char *to, int phase, lanes a, lanes b)
{
    lanes_store(to + phase * LANES_BYTES, lanes_pick_odd(a, (lanes)((wide_lanes)b << 16)));
}

#if HAS_DOTS_OF_FOUR
#define BLUR_COMMON_COUNT 3

/* All phases look at the same bytes, with weights of their own. */
INLINE void blur_pair_by(void *pairs, const void *const rows[2], int n, const struct ec_blur_pair_taps *taps, int count)
{
    const uint8_t *from[2] = {(const uint8_t *)rows[0] - taps->size / 2, (const uint8_t *)rows[1] - taps->size / 2};
    wide_lanes weights[EC_BLUR_FOURS_MAX][BLUR_PHASES];
    char *to = pairs;
    for (int k = 0; k < count; k++)
        for (int phase = 0; phase < BLUR_PHASES; phase++)
            weights[k][phase] = (wide_lanes){0} + taps->fours[k][phase];
    for (int x = 0; x < n; x += LANES_BYTES, to += BLUR_PHASES * LANES_BYTES) {
        wide_lanes a[BLUR_PHASES], b[BLUR_PHASES];
        for (int phase = 0; phase < BLUR_PHASES; phase++)
            a[phase] = b[phase] = (wide_lanes){0} - BLUR_BIAS;
#pragma GCC unroll 3
        for (int k = 0; k < count; k++) {
            const lanes first = lanes_load(from[0] + x + 4 * k), second = lanes_load(from[1] + x + 4 * k);
            for (int phase = 0; phase < BLUR_PHASES; phase++) {
                a[phase] = lanes_dot(a[phase], first, weights[k][phase]);
                b[phase] = lanes_dot(b[phase], second, weights[k][phase]);
            }
        }
        for (int phase = 0; phase < BLUR_PHASES; phase++)
            blur_store_pair(to, phase, (lanes)a[phase], (lanes)b[phase]);
    }
}
#define BLUR_COUNT_ACROSS(taps) ((taps)->four_count)
#else
#define BLUR_COMMON_COUNT 5

/* Lanes of even columns are those of phases 0 and 2 in turns, lanes of odd ones those of 1 and 3. */
INLINE void blur_pair_by(void *pairs, const void *const rows[2], int n, const struct ec_blur_pair_taps *taps, int count)
{
    lanes weights[EC_BLUR_PAIRS_MAX_SIZE];
    char *to = pairs;
    for (int k = 0; k < count; k++)
        weights[k] = (lanes)((wide_lanes){0} + taps->terms[k]);
    for (int x = 0; x < n; x += LANES_BYTES, to += BLUR_PHASES * LANES_BYTES) {
        const uint8_t *a = (const uint8_t *)rows[0] + x, *b = (const uint8_t *)rows[1] + x;
        lanes even_a = lanes_of(-BLUR_BIAS), odd_a = even_a, even_b = even_a, odd_b = even_a;
#pragma GCC unroll 5
        for (int k = 0; k < count; k++) {
            const int column = taps->columns[k];
            even_a += lanes_pair_products(lanes_load(a + column), weights[k]);
            odd_a += lanes_pair_products(lanes_load(a + column + 1), weights[k]);
            even_b += lanes_pair_products(lanes_load(b + column), weights[k]);
            odd_b += lanes_pair_products(lanes_load(b + column + 1), weights[k]);
        }
        blur_store_pair(to, 0, even_a, even_b);
        blur_store_pair(to, 1, odd_a, odd_b);
        lanes_store(to + 2 * LANES_BYTES, lanes_pick_odd((lanes)((positive_wide_lanes)even_a >> 16), even_b));
        lanes_store(to + 3 * LANES_BYTES, lanes_pick_odd((lanes)((positive_wide_lanes)odd_a >> 16), odd_b));
    }
}
#define BLUR_COUNT_ACROSS(taps) ((taps)->term_count)
#endif

static void blur_pair(void *pairs, const void *const rows[2], int n, const struct ec_blur_pair_taps *taps)
{
    if (BLUR_COUNT_ACROSS(taps) == BLUR_COMMON_COUNT)
        blur_pair_by(pairs, rows, n, taps, BLUR_COMMON_COUNT);
    else
        blur_pair_by(pairs, rows, n, taps, BLUR_COUNT_ACROSS(taps));
}

/* The rows of the output that are computed together: where they share their loads all sums must fit the registers. */
#define BLUR_ROWS (LANES_BYTES == 64 ? 2 : 1)

/* Bytes from bits 16 to 23 of each lane, those above being 0. */
INLINE void blur_store_bytes(uint8_t *to, const wide_lanes sums[BLUR_PHASES], int n)
{
    const lanes even = lanes_pick_odd((lanes)(sums[0] >> 16), (lanes)sums[2]);
    const lanes odd = lanes_pick_odd((lanes)(sums[1] >> 16), (lanes)sums[3]), bytes = even | odd << 8;
    if (n >= LANES_BYTES)
        lanes_store(to, bytes);
    else
        memcpy(to, &bytes, (size_t)n);
}

/* `down`: the weights of each row. */
INLINE void blur_pairs_by(uint8_t *const out[BLUR_ROWS], const void *const *pairs, int n,
                          const int32_t down[BLUR_ROWS][EC_BLUR_PAIRS_MAX_SIZE / 2 + 1], int count)
{
    wide_lanes weights[BLUR_ROWS][EC_BLUR_PAIRS_MAX_SIZE / 2 + 1];
    for (int row = 0; row < BLUR_ROWS; row++)
        for (int k = 0; k < count; k++)
            weights[row][k] = (wide_lanes){0} + down[row][k];
    for (int x = 0; x < n; x += LANES_BYTES) {
        wide_lanes sums[BLUR_ROWS][BLUR_PHASES];
        for (int row = 0; row < BLUR_ROWS; row++)
            for (int phase = 0; phase < BLUR_PHASES; phase++)
                sums[row][phase] = (wide_lanes){0} + (BLUR_BIAS * 256 + (1 << 15));
#pragma GCC unroll 5
        for (int k = 0; k < count; k++) {
            const char *p = (const char *)pairs[k] + BLUR_PHASES * (ptrdiff_t)x;
            for (int phase = 0; phase < BLUR_PHASES; phase++) {
                const lanes terms = lanes_load(p + phase * LANES_BYTES);
                for (int row = 0; row < BLUR_ROWS; row++)
                    sums[row][phase] = lanes_dot_short(sums[row][phase], terms, weights[row][k]);
            }
        }
        for (int row = 0; row < BLUR_ROWS; row++)
            blur_store_bytes(out[row] + x, sums[row], n - x);
    }
}

static void blur_pairs(uint8_t *const out[2], const void *const *pairs, int n, const struct ec_blur_pair_taps *taps)
{
    for (int row = 0; row < 2; row += BLUR_ROWS)
        if (taps->size == BLUR_COMMON_SIZE)
            blur_pairs_by(out + row, pairs, n, taps->down + row, BLUR_COMMON_SIZE / 2 + 1);
        else
            blur_pairs_by(out + row, pairs, n, taps->down + row, taps->size / 2 + 1);
}

#endif
