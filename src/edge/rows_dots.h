/* Convolutions of bytes with small weights, EC_GROUP_ROWS rows of output at once, a part of rows_table.h: for instruction sets
 * that multiply bytes and add neighbouring products in one step.
 *
 * A lane of 16 bits takes two neighbouring bytes of a row. A vector that begins at column x has the lanes of the results at x,
 * x + 2, and so on, the one that begins a column further of those between. Before sums may not fit any more they go on to 32
 * bits: lanes of the results at x, x + 4, and so on, and of those one, two and three columns further.
 *
 * Where a row of weights alone may not fit, a lane of 32 bits takes four bytes at once. */
#if HAS_DOTS

#define DOT_PHASES 4
#define DOT_VECTORS 2
#define DOT_COLUMNS (DOT_VECTORS * LANES_BYTES)
#define WIDE_LANES (LANES_BYTES / 4)

/* Results of 32 bits in each vector. */
struct dot_sums {
    wide_lanes phases[EC_GROUP_ROWS][DOT_VECTORS][DOT_PHASES];
};

/* Results of 16 bits in each vector, for even and odd columns. */
struct dot_pair_sums {
    lanes even[EC_GROUP_ROWS][DOT_VECTORS], odd[EC_GROUP_ROWS][DOT_VECTORS];
};

INLINE void dot_widen(struct dot_sums *sums, const struct dot_pair_sums *pairs, int start)
{
    for (int r = 0; r < EC_GROUP_ROWS; r++)
        for (int v = 0; v < DOT_VECTORS; v++) {
            const wide_lanes even = (wide_lanes)pairs->even[r][v], odd = (wide_lanes)pairs->odd[r][v];
            sums->phases[r][v][0] += (even << 16 >> 16) - start;
            sums->phases[r][v][1] += (odd << 16 >> 16) - start;
            sums->phases[r][v][2] += (even >> 16) - start;
            sums->phases[r][v][3] += (odd >> 16) - start;
        }
}

/* The sums of weights first to end - 1, whose bytes stand `x` after `bytes`. */
INLINE struct dot_pair_sums dot_add_pairs(const uint8_t *const *bytes, const struct ec_dot_taps *taps, ptrdiff_t x, int first,
                                          int end)
{
    struct dot_pair_sums sums;
    for (int r = 0; r < EC_GROUP_ROWS; r++)
        for (int v = 0; v < DOT_VECTORS; v++)
            sums.even[r][v] = sums.odd[r][v] = lanes_of(taps->start);
    for (int k = first; k < end; k++) {
        const uint8_t *p = bytes[k] + x;
        lanes even[DOT_VECTORS], odd[DOT_VECTORS];
        for (int v = 0; v < DOT_VECTORS; v++) {
            even[v] = lanes_load(p + v * LANES_BYTES);
            odd[v] = lanes_load(p + v * LANES_BYTES + 1);
        }
        for (int r = 0; r < EC_GROUP_ROWS; r++) {
            const lanes weights = (lanes)((wide_lanes){0} + taps->pairs[k][r]);
            for (int v = 0; v < DOT_VECTORS; v++) {
                sums.even[r][v] += lanes_pair_products(even[v], weights);
                sums.odd[r][v] += lanes_pair_products(odd[v], weights);
            }
        }
    }
    return sums;
}

INLINE void dot_pairs(struct dot_sums *sums, const uint8_t *const *bytes, ptrdiff_t x, const struct ec_dot_taps *taps)
{
    for (int first = 0; first < taps->pair_count; first += taps->pairs_that_fit) {
        const int end = ec_min_i32(first + taps->pairs_that_fit, taps->pair_count);
        const struct dot_pair_sums pairs = dot_add_pairs(bytes, taps, x, first, end);
        dot_widen(sums, &pairs, taps->start);
    }
}

INLINE void dot_fours(struct dot_sums *sums, const void *const *rows, ptrdiff_t x, const struct ec_dot_taps *taps)
{
    for (int r = 0; r < EC_GROUP_ROWS; r++)
        for (int v = 0; v < DOT_VECTORS; v++) {
            wide_lanes s[DOT_PHASES] = {{0}};
            const int32_t *fours = taps->fours;
            for (int j = 0; j < taps->size; j++) {
                const uint8_t *p = (const uint8_t *)rows[j + r] + x + v * LANES_BYTES - taps->size / 2;
                for (int i = 0; i < taps->size; i += 4) {
                    const wide_lanes weights = (wide_lanes){0} + *fours++;
                    for (int k = 0; k < DOT_PHASES; k++)
                        s[k] = lanes_dot(s[k], lanes_load(p + i + k), weights);
                }
            }
            memcpy(sums->phases[r][v], s, sizeof s);
        }
}

/* Where the bytes of each pair of weights begin. */
struct dot_places {
    const uint8_t *bytes[EC_DOT_PAIRS_MAX];
};

INLINE void find_places(struct dot_places *places, const void *const *rows, const struct ec_dot_taps *taps)
{
    int k = 0;
    for (int j = 0; j < taps->size + EC_GROUP_ROWS - 1; j++)
        for (int i = 0; i < taps->size; i += 2)
            places->bytes[k++] = (const uint8_t *)rows[j] + i - taps->size / 2;
}

INLINE void dot_block(struct dot_sums *sums, const struct dot_places *places, const void *const *rows, ptrdiff_t x,
                      const struct ec_dot_taps *taps)
{
    if (!taps->pairs_that_fit) {
        dot_fours(sums, rows, x, taps);
        return;
    }
    for (int r = 0; r < EC_GROUP_ROWS; r++)
        for (int v = 0; v < DOT_VECTORS; v++)
            for (int k = 0; k < DOT_PHASES; k++)
                sums->phases[r][v][k] = (wide_lanes){0};
    dot_pairs(sums, places->bytes, x, taps);
}

/* Sums are below 2^24 in size, so that a quotient up to 256 is off by 2^-17 at most, and one that is not half-way at least
 * 1 / (2 * EC_DOT_DIVISOR_MAX) away from that. Larger ones are clamped. */
INLINE void divide_phases(wide_lanes sums[DOT_PHASES], int32_t divisor)
{
    const float_lanes divisors = lanes_of_float((float)divisor);
    for (int k = 0; k < DOT_PHASES; k++)
        sums[k] = lanes_round(__builtin_convertvector(sums[k], float_lanes) / divisors);
}

/* A vector of bytes of a row, of which n count. */
INLINE void store_some(uint8_t *to, lanes bytes, int n)
{
    if (n >= LANES_BYTES)
        lanes_store(to, bytes);
    else if (n > 0)
        memcpy(to, &bytes, (size_t)n);
}

static void sum_dots(uint8_t *const *out, const void *const *rows, int n, const struct ec_dot_taps *taps)
{
    const bool stays_narrow = taps->divisor == 1 && taps->pairs_that_fit == taps->pair_count;
    const lanes start = lanes_of(taps->start);
    struct dot_places places;
    find_places(&places, rows, taps);
    for (int x = 0; x < n; x += DOT_COLUMNS) {
        lanes bytes[EC_GROUP_ROWS][DOT_VECTORS];
        if (stays_narrow) {
            const struct dot_pair_sums sums = dot_add_pairs(places.bytes, taps, x, 0, taps->pair_count);
            for (int r = 0; r < EC_GROUP_ROWS; r++)
                for (int v = 0; v < DOT_VECTORS; v++)
                    bytes[r][v] = lanes_join(lanes_subtract(sums.even[r][v], start), lanes_subtract(sums.odd[r][v], start));
        } else {
            struct dot_sums sums;
            dot_block(&sums, &places, rows, x, taps);
            for (int r = 0; r < EC_GROUP_ROWS; r++)
                for (int v = 0; v < DOT_VECTORS; v++) {
                    if (taps->divisor != 1)
                        divide_phases(sums.phases[r][v], taps->divisor);
                    bytes[r][v] = lanes_join_phases(sums.phases[r][v]);
                }
        }
        for (int r = 0; r < EC_GROUP_ROWS; r++)
            for (int v = 0; v < DOT_VECTORS; v++)
                store_some(out[r] + x + v * LANES_BYTES, bytes[r][v], n - x - v * LANES_BYTES);
    }
}

INLINE void store_floats(float *to, wide_lanes a)
{
    const float_lanes floats = __builtin_convertvector(a, float_lanes);
    memcpy(to, &floats, sizeof floats);
}

static void sum_dots_wide(float *const *out, const void *const *rows, int n, const struct ec_dot_taps *taps)
{
    struct dot_places places;
    find_places(&places, rows, taps);
    for (int x = 0; x < n; x += DOT_COLUMNS) {
        struct dot_sums sums;
        dot_block(&sums, &places, rows, x, taps);
        for (int r = 0; r < EC_GROUP_ROWS; r++) {
            float results[DOT_COLUMNS];
            for (int v = 0; v < DOT_VECTORS; v++) {
                const wide_lanes *phases = sums.phases[r][v];
                wide_lanes a[2], b[2], in_order[DOT_PHASES];
                lanes_interleave(a, phases[0], phases[2]);
                lanes_interleave(b, phases[1], phases[3]);
                lanes_interleave(in_order, a[0], b[0]);
                lanes_interleave(in_order + 2, a[1], b[1]);
                for (int k = 0; k < DOT_PHASES; k++)
                    store_floats(results + v * LANES_BYTES + k * WIDE_LANES, in_order[k]);
            }
            memcpy(out[r] + x, results, (size_t)ec_min_i32(n - x, DOT_COLUMNS) * sizeof **out);
        }
    }
}

#endif
