/* Convolutions of bytes with integer weights of any size, EC_GROUP_ROWS rows of output at once, a part of rows_table.h: for
 * instruction sets that multiply 16-bit integers and add neighbouring products in one step.
 *
 * Each weight is 2^EC_SPLIT_BITS times one part plus another, and both have sums of their own. A lane of 32 bits takes two
 * neighbours of a row of 16-bit pixels. A vector that begins at column x has the lanes of the results at x, x + 2, and so on,
 * the one that begins a column further of those between. */
#if HAS_DOTS

/* As many columns as a vector has lanes of 16 bits. */
#define SPLIT_COLUMNS (LANES_BYTES / 2)

/* Of even and odd columns. */
struct split_sums {
    wide_lanes high[EC_GROUP_ROWS][2], low[EC_GROUP_ROWS][2];
};

/* Where the pixels of each pair of weights begin. */
struct split_places {
    const int16_t *pixels[EC_DOT_PAIRS_MAX];
};

INLINE void find_split_places(struct split_places *places, const void *const *rows, const struct ec_split_taps *taps)
{
    const int pairs_a_row = (taps->size + 1) / 2;
    for (int k = 0; k < taps->pair_count; k++)
        places->pixels[k] = (const int16_t *)rows[k / pairs_a_row] + k % pairs_a_row * 2 - taps->size / 2;
}

INLINE struct split_sums split_block(const struct split_places *places, ptrdiff_t x, const struct ec_split_taps *taps)
{
    struct split_sums sums = {0};
    for (int k = 0; k < taps->pair_count; k++) {
        const int16_t *p = places->pixels[k] + x;
        const lanes pixels[2] = {lanes_load(p), lanes_load(p + 1)};
        for (int r = 0; r < EC_GROUP_ROWS; r++) {
            const wide_lanes high = (wide_lanes){0} + taps->high[k][r], low = (wide_lanes){0} + taps->low[k][r];
            for (int i = 0; i < 2; i++) {
                sums.high[r][i] = lanes_dot_short(sums.high[r][i], pixels[i], high);
                sums.low[r][i] = lanes_dot_short(sums.low[r][i], pixels[i], low);
            }
        }
    }
    return sums;
}

/* A byte: where the high part alone decides, it is made so small that nothing overflows. Low parts are below 2^29 in size. */
INLINE wide_lanes split_byte(wide_lanes high, wide_lanes low)
{
    const wide_lanes zero = {0}, most = zero + (1 << 18), top = zero + 255;
    high = lanes_clamp_wide(high, -most, most);
    return lanes_clamp_wide((high << EC_SPLIT_BITS) + low, zero, top);
}

static void sum_split(uint8_t *const *out, const void *const *rows, int n, const struct ec_split_taps *taps)
{
    struct split_places places;
    find_split_places(&places, rows, taps);
    for (int x = 0; x < n; x += SPLIT_COLUMNS) {
        const struct split_sums sums = split_block(&places, x, taps);
        for (int r = 0; r < EC_GROUP_ROWS; r++) {
            const wide_lanes even = split_byte(sums.high[r][0], sums.low[r][0]);
            const wide_lanes odd = split_byte(sums.high[r][1], sums.low[r][1]);
            const lanes in_turns = (lanes)(even | odd << 16), bytes = lanes_narrow(in_turns, in_turns);
            memcpy(out[r] + x, &bytes, (size_t)ec_min_i32(n - x, SPLIT_COLUMNS));
        }
    }
}

static void sum_split_wide(double *const *out, const void *const *rows, int n, const struct ec_split_taps *taps)
{
    struct split_places places;
    find_split_places(&places, rows, taps);
    for (int x = 0; x < n; x += SPLIT_COLUMNS) {
        const struct split_sums sums = split_block(&places, x, taps);
        for (int r = 0; r < EC_GROUP_ROWS; r++) {
            wide_lanes high[2], low[2];
            int32_t high_parts[SPLIT_COLUMNS], low_parts[SPLIT_COLUMNS];
            lanes_interleave(high, sums.high[r][0], sums.high[r][1]);
            lanes_interleave(low, sums.low[r][0], sums.low[r][1]);
            memcpy(high_parts, high, sizeof high);
            memcpy(low_parts, low, sizeof low);
            for (int i = 0; i < ec_min_i32(n - x, SPLIT_COLUMNS); i++)
                out[r][x + i] = (double)high_parts[i] * (1 << EC_SPLIT_BITS) + low_parts[i];
        }
    }
}

#endif
