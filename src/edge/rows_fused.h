/* Convolutions in floats, EC_GROUP_ROWS rows of output or one at once, a part of rows_table.h: for instruction sets with fused
 * multiply-adds. No sum leaves its register before it is complete. */
#if HAS_DOTS

#define FUSED_VECTORS 4
#define FUSED_COLUMNS (FUSED_VECTORS * WIDE_LANES)

struct fused_sums {
    float_lanes of[EC_GROUP_ROWS][FUSED_VECTORS];
};

/* Where the pixels of each weight begin. */
struct fused_places {
    const float *pixels[EC_GROUP_INPUT_ROWS * EC_KERNEL_MAX_SIZE];
};

INLINE void find_fused_places(struct fused_places *places, const void *const *rows, const struct ec_fused_taps *taps)
{
    for (int k = 0; k < taps->count; k++)
        places->pixels[k] = (const float *)rows[k / taps->size] + k % taps->size - taps->size / 2;
}

/* The weight 0 of a row of output that does not look at a row of input changes nothing, as pixels are finite, and no sum is
 * ever -0. */
INLINE struct fused_sums fused_block(const struct fused_places *places, ptrdiff_t x, const struct ec_fused_taps *taps)
{
    struct fused_sums sums = {0};
    for (int k = 0; k < taps->count; k++) {
        const float *p = places->pixels[k] + x;
        float_lanes pixels[FUSED_VECTORS];
        for (int v = 0; v < FUSED_VECTORS; v++)
            pixels[v] = lanes_load_floats(p + v * WIDE_LANES);
        for (int r = 0; r < EC_GROUP_ROWS; r++) {
            const float_lanes weight = lanes_of_float(taps->weights[k][r]);
            for (int v = 0; v < FUSED_VECTORS; v++)
                sums.of[r][v] = lanes_multiply_add(weight, pixels[v], sums.of[r][v]);
        }
    }
    return sums;
}

static void sum_group(float *const *out, const void *const *rows, int n, const struct ec_fused_taps *taps)
{
    struct fused_places places;
    find_fused_places(&places, rows, taps);
    for (int x = 0; x < n; x += FUSED_COLUMNS) {
        const struct fused_sums sums = fused_block(&places, x, taps);
        for (int r = 0; r < EC_GROUP_ROWS; r++)
            memcpy(out[r] + x, sums.of[r], (size_t)ec_min_i32(n - x, FUSED_COLUMNS) * sizeof **out);
    }
}

/* So many chains that none waits for itself. */
#define TERM_VECTORS 8
#define TERM_COLUMNS (TERM_VECTORS * WIDE_LANES)

INLINE void add_terms(float_lanes *sums, int vectors, const float *const *terms, const float *weights, int count, ptrdiff_t x)
{
    for (int v = 0; v < vectors; v++)
        sums[v] = (float_lanes){0};
    for (int k = 0; k < count; k++) {
        const float_lanes weight = lanes_of_float(weights[k]);
        for (int v = 0; v < vectors; v++)
            sums[v] = lanes_multiply_add(weight, lanes_load_floats(terms[k] + x + v * WIDE_LANES), sums[v]);
    }
}

static void sum_terms(float *out, const float *const *terms, const float *weights, int count, int n)
{
    int x = 0;
    for (; x + TERM_COLUMNS <= n; x += TERM_COLUMNS) {
        float_lanes sums[TERM_VECTORS];
        add_terms(sums, TERM_VECTORS, terms, weights, count, x);
        memcpy(out + x, sums, sizeof sums);
    }
    for (; x < n; x += WIDE_LANES) {
        float_lanes sums;
        add_terms(&sums, 1, terms, weights, count, x);
        memcpy(out + x, &sums, (size_t)ec_min_i32(n - x, WIDE_LANES) * sizeof *out);
    }
}

#endif
