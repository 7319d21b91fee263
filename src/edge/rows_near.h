/* Convolutions of bytes in floats by integers close to them, EC_NEAR_ROWS rows of output at once, a part of rows_table.h: for
 * instruction sets that multiply 16-bit integers and add neighbouring products in one step, and so do more of them than
 * multiplications of floats.
 *
 * A lane of 32 bits takes a pixel and the one below it, and holds the result of its column. */
#if HAS_DOTS

#define NEAR_VECTORS (LANES_BYTES / 16)
#define NEAR_COLUMNS (NEAR_VECTORS * WIDE_LANES)

struct near_sums {
    wide_lanes of[EC_NEAR_ROWS][NEAR_VECTORS];
};

static void pair_rows(int32_t *restrict pairs, const uint8_t *restrict upper, const uint8_t *restrict lower, int n)
{
    for (int x = 0; x < n; x++)
        pairs[x] = upper[x] | lower[x] << 16;
}

/* Rows first to end - 1 of the output look at this pair of rows. */
INLINE void near_add(struct near_sums *sums, const int32_t *pixels, const int32_t (*weights)[EC_NEAR_ROWS], int size, int first,
                     int end)
{
    for (int i = 0; i < size; i++) {
        lanes two[NEAR_VECTORS];
        for (int v = 0; v < NEAR_VECTORS; v++)
            two[v] = lanes_load(pixels + i + v * WIDE_LANES);
        for (int r = first; r < end; r++)
            for (int v = 0; v < NEAR_VECTORS; v++)
                sums->of[r][v] = lanes_dot_short(sums->of[r][v], two[v], (wide_lanes){0} + weights[i][r]);
    }
}

/* The size is odd, so that two rows look at the same pairs, and the next two begin and end a pair further. */
INLINE struct near_sums near_block(const void *const *pairs, ptrdiff_t x, const struct ec_near_taps *taps)
{
    enum { HALF = EC_NEAR_ROWS / 2 };
    const int size = taps->size, last = size / 2 + 1;
    const ptrdiff_t begin = x - size / 2;
    struct near_sums sums;
    for (int r = 0; r < EC_NEAR_ROWS; r++)
        for (int v = 0; v < NEAR_VECTORS; v++)
            sums.of[r][v] = (wide_lanes){0} + taps->start;
    near_add(&sums, (const int32_t *)pairs[0] + begin, taps->pairs[0], size, 0, HALF);
    for (int p = 1; p < last; p++)
        near_add(&sums, (const int32_t *)pairs[p] + begin, taps->pairs[p], size, 0, EC_NEAR_ROWS);
    near_add(&sums, (const int32_t *)pairs[last] + begin, taps->pairs[last], size, HALF, EC_NEAR_ROWS);
    return sums;
}

INLINE float_lanes near_sum(wide_lanes sum, const struct ec_near_taps *taps)
{
    return lanes_multiply_add(__builtin_convertvector(sum, float_lanes), lanes_of_float(taps->unit),
                              lanes_of_float(taps->constant));
}

static void sum_near(float *const *low, float *const *high, const void *const *pairs, int n, const struct ec_near_taps *taps)
{
    const float_lanes radius = lanes_of_float(taps->radius);
    for (int x = 0; x < n; x += NEAR_COLUMNS) {
        const struct near_sums sums = near_block(pairs, x, taps);
        for (int r = 0; r < EC_NEAR_ROWS; r++)
            for (int v = 0; v < NEAR_VECTORS; v++) {
                const float_lanes near = near_sum(sums.of[r][v], taps);
                lanes_store(low[r] + x + v * WIDE_LANES, (lanes)(near - radius));
                lanes_store(high[r] + x + v * WIDE_LANES, (lanes)(near + radius));
            }
    }
}

/* Further outside, both numbers are clamped to the same byte. */
static void round_near(uint8_t *const *low, uint8_t *const *high, const void *const *pairs, int n,
                       const struct ec_near_taps *taps)
{
    const float_lanes radius = lanes_of_float(taps->radius), bottom = -1 - radius, top = 256 + radius;
    for (int x = 0; x < n; x += NEAR_COLUMNS) {
        const struct near_sums sums = near_block(pairs, x, taps);
        for (int r = 0; r < EC_NEAR_ROWS; r++) {
            wide_lanes below[NEAR_VECTORS], above[NEAR_VECTORS];
            for (int v = 0; v < NEAR_VECTORS; v++) {
                const float_lanes near = lanes_clamp_floats(near_sum(sums.of[r][v], taps), bottom, top);
                below[v] = lanes_round(near - radius);
                above[v] = lanes_round(near + radius);
            }
            lanes_store_row(low[r] + x, below);
            lanes_store_row(high[r] + x, above);
        }
    }
}

static int find_others(uint16_t *columns, const uint8_t *a, const uint8_t *b, int n)
{
    int count = 0;
    for (int x = 0; x < n; x += LANES_BYTES) {
        uint64_t bits = lanes_other_bytes(lanes_load(a + x), lanes_load(b + x));
        if (n - x < LANES_BYTES)
            bits &= ((uint64_t)1 << (n - x)) - 1;
        for (; bits; bits &= bits - 1)
            columns[count++] = (uint16_t)(x + __builtin_ctzll(bits));
    }
    return count;
}

#define PARTS_OF_VECTOR (LANES_BYTES / 16)
#define PLACE_VECTORS (EC_NEAR_PLACES / WIDE_LANES)

/* Of one row of the kernel: the bytes of all places, four neighbours to a word, place after place. */
struct near_words {
    wide_lanes of[(EC_KERNEL_MAX_SIZE + 15) / 16 * 4][PLACE_VECTORS];
};

INLINE void turn_places(struct near_words *words, const void *const *rows, const struct ec_place *places, int vectors, int size)
{
    for (int v = 0; v < vectors; v++, places += WIDE_LANES) {
        const uint8_t *bytes[WIDE_LANES];
        for (int k = 0; k < WIDE_LANES; k++)
            bytes[k % 4 * PARTS_OF_VECTOR + k / 4] = (const uint8_t *)rows[places[k].row] + places[k].x - size / 2;
        for (int i = 0; i < size; i += 16) {
            wide_lanes turned[4];
            for (int m = 0; m < 4; m++) {
                const uint8_t *parts[PARTS_OF_VECTOR];
                for (int k = 0; k < PARTS_OF_VECTOR; k++)
                    parts[k] = bytes[m * PARTS_OF_VECTOR + k] + i;
                turned[m] = lanes_load_parts(parts);
            }
            lanes_transpose(turned);
            for (int m = 0; m < 4; m++)
                words->of[i / 4 + m][v] = turned[m];
        }
    }
}

/* Each is a chain of steps that wait for one another, and many chains go on at once. */
INLINE void sum_vectors(float *sums, const void *const *rows, const struct ec_place *places, int vectors, const float *weights,
                        int size)
{
    float_lanes totals[PLACE_VECTORS] = {{0}};
    for (int j = 0; j < size; j++, weights += size) {
        struct near_words words;
        turn_places(&words, rows + j, places, vectors, size);
        for (int i = 0; i < size; i += 4)
#pragma GCC unroll 4
            for (int k = 0; k < 4; k++) {
                if (i + k >= size)
                    break;
                const float_lanes weight = lanes_of_float(weights[i + k]);
                for (int v = 0; v < vectors; v++) {
                    const wide_lanes pixels = (words.of[i / 4][v] >> (8 * k)) & 255;
                    totals[v] = lanes_multiply_add(weight, __builtin_convertvector(pixels, float_lanes), totals[v]);
                }
            }
    }
    memcpy(sums, totals, (size_t)vectors * sizeof *totals);
}

static void sum_places(float *sums, const void *const *rows, const struct ec_place *places, int count, const float *weights,
                       int size)
{
    if (count <= WIDE_LANES)
        sum_vectors(sums, rows, places, 1, weights, size);
    else
        sum_vectors(sums, rows, places, PLACE_VECTORS, weights, size);
}

#endif
