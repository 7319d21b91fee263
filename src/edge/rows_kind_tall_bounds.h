/* How large gradients may be, a part of rows_kind.h for kinds whose gradients fit 16 bits: a look at the pixels that costs a
 * fraction of the gradients themselves. */

/* How far pixels of two vectors are apart, and the larger ones. */
INLINE lanes NAME(distance)(lanes a, lanes b)
{
    return IS_8_BIT ? bytes_distance(a, b) : lanes_distance(a, b);
}

INLINE lanes NAME(larger)(lanes a, lanes b)
{
    return IS_8_BIT ? bytes_max(a, b) : lanes_max_positive(a, b);
}

/* For each column, how much pixels differ at most: of those next to it in EC_TALL_ROWS + 2 rows, and in it two rows apart.
 * Vectors at their place and two columns before it serve both, so that across[-1] is written too. Meanwhile the next group's
 * rows are asked for, should they follow: see prefetch_ahead. */
OUT_OF_LINE void NAME(canny_spans)(PIXEL *across, PIXEL *down, const void *const *rows, int n)
{
    const uintptr_t ahead = EC_TALL_ROWS * ((uintptr_t)rows[2] - (uintptr_t)rows[1]);
    for (int x = 0; x < n; x += LANES_BYTES / (int)sizeof(PIXEL)) {
        lanes widest = {0}, tallest = {0}, above[2] = {{0}};
#pragma GCC unroll 10
        for (int j = 0; j < EC_TALL_ROWS + 2; j++) {
            const PIXEL *p = (const PIXEL *)rows[j] + x;
            const lanes here = lanes_load(p);
            widest = NAME(larger)(widest, NAME(distance)(here, lanes_load(p - 2)));
            if (j >= 2) {
                tallest = NAME(larger)(tallest, NAME(distance)(here, above[j % 2]));
                __builtin_prefetch((const void *)((uintptr_t)p + ahead), 0, 2);
            }
            above[j % 2] = here;
        }
        lanes_store(across + x - 1, widest);
        lanes_store(down + x, tallest);
    }
    across[n - 1] = 0;
    for (int j = 0; j < EC_TALL_ROWS + 2; j++) {
        const PIXEL *p = (const PIXEL *)rows[j] + n;
        across[n - 1] = (PIXEL)ec_max_i32(across[n - 1], ec_abs_i32(p[0] - p[-2]));
    }
}

static PIXEL NAME(canny_span_down)(const void *const *rows, ptrdiff_t x)
{
    int tallest = 0;
    for (int j = 0; j < EC_TALL_ROWS; j++)
        tallest = ec_max_i32(tallest, ec_abs_i32(((const PIXEL *)rows[j])[x] - ((const PIXEL *)rows[j + 2])[x]));
    return (PIXEL)tallest;
}

/* No gradient is larger than four spans, and so no sum is than four times two of them: by how much these may be above `limit`,
 * in some unit, to `across`. */
OUT_OF_LINE void NAME(canny_excess)(PIXEL *restrict across, const PIXEL *restrict down, int n, int limit)
{
    const PIXEL most = (PIXEL)ec_min_i32(limit / 4, (PIXEL)-1);
    for (int x = 0; x < n; x++) {
        const PIXEL left = down[x - 1], right = down[x + 1], beside = left > right ? left : right;
        const PIXEL span = down[x] > beside ? down[x] : beside, within = span < most ? span : most;
        const PIXEL rest = (PIXEL)(most - within), wide = across[x] > rest ? across[x] : rest;
        across[x] = (PIXEL)((PIXEL)(wide - rest) | (PIXEL)(span - within));
    }
}

INLINE bool NAME(any_excess)(const PIXEL *excess)
{
    uint64_t words[8 * sizeof(PIXEL)], any = 0;
    memcpy(words, excess, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        any |= words[i];
    return any != 0;
}
