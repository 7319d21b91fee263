/* Weighted sums of rows of pixels, a part of rows_kind.h: the terms are explained there. */

/* NOLINTBEGIN(bugprone-macro-parentheses): some arguments are types */
#define SUM_PIXELS(name, total, multiply_add, result)                                                                          \
    OUT_OF_LINE void NAME(name##_add)(total *restrict sums, const PIXEL *const t[GROUP], const total w[GROUP], int n)          \
    {                                                                                                                          \
        ADD_GROUP(PIXEL, total, multiply_add)                                                                                  \
    }                                                                                                                          \
    static void NAME(name)(result *restrict out, const void *const *terms, const float *weights, int count, int n)             \
    {                                                                                                                          \
        for (int start = 0; start < n; start += BLOCK) {                                                                       \
            total sums[BLOCK];                                                                                                 \
            const int columns = n - start < BLOCK ? n - start : BLOCK;                                                         \
            for (int x = 0; x < columns; x++)                                                                                  \
                sums[x] = 0;                                                                                                   \
            for (int first = 0; first < count; first += GROUP) {                                                               \
                const PIXEL *t[GROUP];                                                                                         \
                total w[GROUP];                                                                                                \
                for (int k = 0; k < GROUP; k++) {                                                                              \
                    const bool inside = first + k < count;                                                                     \
                    t[k] = (const PIXEL *)terms[inside ? first + k : first] + start;                                           \
                    w[k] = inside ? (total)weights[first + k] : 0;                                                             \
                }                                                                                                              \
                NAME(name##_add)(sums, t, w, columns);                                                                         \
            }                                                                                                                  \
            for (int x = 0; x < columns; x++)                                                                                  \
                out[start + x] = (result)sums[x];                                                                              \
        }                                                                                                                      \
    }

/* NOLINTEND(bugprone-macro-parentheses) */
SUM_PIXELS(sum_narrow, SUM, MULTIPLY_ADD_INTEGER, float)
SUM_PIXELS(sum_double, double, MULTIPLY_ADD_F64, double)
#undef SUM_PIXELS

#if HAS_DOTS
static void NAME(convolve)(void *const *out, const void *const *rows, int n, const struct ec_fused_taps *taps, int max)
{
    const float_lanes zero = {0}, top = lanes_of_float((float)max);
    struct fused_places places;
    find_fused_places(&places, rows, taps);
    for (int x = 0; x < n; x += FUSED_COLUMNS) {
        const struct fused_sums sums = fused_block(&places, x, taps);
        for (int r = 0; r < EC_GROUP_ROWS; r++) {
            wide_lanes rounded[FUSED_VECTORS];
            PIXEL pixels[FUSED_COLUMNS];
            for (int v = 0; v < FUSED_VECTORS; v++)
                rounded[v] = lanes_round(lanes_clamp_floats(sums.of[r][v], zero, top));
            for (int v = 0; v < FUSED_VECTORS; v += 2)
                if (IS_8_BIT)
                    lanes_store_bytes(pixels + v * WIDE_LANES, rounded[v], rounded[v + 1]);
                else
                    lanes_store_shorts(pixels + v * WIDE_LANES, rounded[v], rounded[v + 1]);
            memcpy((PIXEL *)out[r] + x, pixels, (size_t)ec_min_i32(n - x, FUSED_COLUMNS) * sizeof(PIXEL));
        }
    }
}
#endif
