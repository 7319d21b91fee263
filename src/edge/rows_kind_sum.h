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
