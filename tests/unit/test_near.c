/* What integers close to the weights of a convolution say about its sums: always the truth, on bytes that lead them furthest
 * astray too, and not much less than that. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "edge/arith.h"
#include "edge/near_taps.h"

enum { WIDTH = 150, MARGIN = 64, PAIRS_WIDTH = MARGIN + WIDTH + MARGIN + EC_NEAR_COLUMNS };

enum weights { MIXED, POSITIVE, PRODUCT, WIDE, ONE_LARGE, SMALL_INTEGERS, LARGE_INTEGERS, WEIGHTS_KINDS };
enum fill { NOISE, WHITE, MISSED_ABOVE, MISSED_BELOW, HALF_DARK, FILLS };

struct ground {
    struct ec_convolution_taps taps;
    struct ec_near_taps near;
    uint8_t in[EC_NEAR_INPUT_ROWS][MARGIN + WIDTH + 512];
    int32_t pairs[EC_NEAR_PAIRS_MAX][PAIRS_WIDTH];
    float low[EC_NEAR_ROWS][WIDTH + EC_NEAR_COLUMNS], high[EC_NEAR_ROWS][WIDTH + EC_NEAR_COLUMNS];
    uint8_t low_bytes[EC_NEAR_ROWS][WIDTH + EC_NEAR_COLUMNS], high_bytes[EC_NEAR_ROWS][WIDTH + EC_NEAR_COLUMNS];
    const void *rows[EC_NEAR_INPUT_ROWS];
    uint32_t random;
    double closest; /* to a bound, as a share of the radius */
};

static uint32_t next_random(struct ground *g)
{
    g->random = g->random * 1664525u + 1013904223u;
    return g->random >> 8;
}

static void make_weights(struct ground *g, int size, enum weights kind)
{
    struct ec_convolution_taps *taps = &g->taps;
    *taps = (struct ec_convolution_taps){.size = size, .integer = kind >= SMALL_INTEGERS, .divisor = 1};
    float sides[2 * EC_KERNEL_MAX_SIZE] = {0};
    for (int i = 0; i < 2 * size; i++)
        sides[i] = (float)next_random(g) / 0x1p24f;
    for (int k = 0; k < size * size; k++) {
        const float share = (float)next_random(g) / 0x1p24f;
        taps->float_weights[k] = kind == MIXED      ? 2 * share - 1
                                 : kind == POSITIVE ? share / (float)(size * size)
                                 : kind == PRODUCT  ? (2 * sides[k / size] - 1) * sides[size + k % size] / (float)size
                                 : kind == WIDE     ? ldexpf(share - 0.5f, (int)(next_random(g) % 40) - 20)
                                                    : (k == size + 1 ? 1 : 1e-3f) * (share - 0.5f);
        taps->integer_weights[k] = (int32_t)((2 * share - 1) * (kind == SMALL_INTEGERS ? 30000 : 1 << 24));
    }
    if (taps->integer)
        taps->divisor = kind == SMALL_INTEGERS ? (next_random(g) % 2 ? 1 : 1000) : size * 100000;
}

/* Of the weight at k, what is left by unit * q. */
static double missed(const struct ground *g, int k)
{
    const int j = k / g->taps.size, i = k % g->taps.size;
    const int32_t pair = g->near.pairs[j / 2][i][0];
    const int q = (int16_t)(j % 2 ? (uint32_t)pair >> 16 : (uint32_t)pair & 0xffff);
    const double weight =
        g->taps.integer ? g->taps.integer_weights[k] / (double)g->taps.divisor : (double)g->taps.float_weights[k];
    return weight - (double)g->near.unit * q;
}

static void fill(struct ground *g, enum fill kind, int x)
{
    const int size = g->taps.size;
    for (size_t k = 0; k < sizeof g->in; k++)
        ((uint8_t *)g->in)[k] = kind == WHITE ? 255 : (uint8_t)(next_random(g) % (kind == HALF_DARK ? 128 : 256));
    for (int k = 0; k < size * size && (kind == MISSED_ABOVE || kind == MISSED_BELOW); k++)
        g->in[k / size][MARGIN + x + k % size - size / 2] = (missed(g, k) > 0) == (kind == MISSED_ABOVE) ? 255 : 0;
}

static double sum_at(const struct ground *g, int r, int x)
{
    const int size = g->taps.size;
    int64_t sum = 0;
    float float_sum = 0;
    for (int k = 0; k < size * size; k++) {
        const int pixel = g->in[r + k / size][MARGIN + x + k % size - size / 2];
        sum += (int64_t)g->taps.integer_weights[k] * pixel;
        float_sum = fmaf(g->taps.float_weights[k], (float)pixel, float_sum);
    }
    return g->taps.integer ? (double)sum / (double)g->taps.divisor : (double)float_sum;
}

static void check_bounds(struct ground *g, const struct ec_rows *rows)
{
    const int size = g->taps.size;
    const void *pairs[EC_NEAR_PAIRS_MAX];
    float *low[EC_NEAR_ROWS], *high[EC_NEAR_ROWS];
    uint8_t *low_bytes[EC_NEAR_ROWS], *high_bytes[EC_NEAR_ROWS];
    for (int p = 0; p < (size + EC_NEAR_ROWS) / 2; p++) {
        rows->pair_rows(g->pairs[p], g->in[2 * p], g->in[2 * p + 1], PAIRS_WIDTH);
        pairs[p] = g->pairs[p] + MARGIN;
    }
    for (int r = 0; r < EC_NEAR_ROWS; r++) {
        low[r] = g->low[r];
        high[r] = g->high[r];
        low_bytes[r] = g->low_bytes[r];
        high_bytes[r] = g->high_bytes[r];
    }
    rows->sum_near(low, high, pairs, WIDTH, &g->near);
    rows->round_near(low_bytes, high_bytes, pairs, WIDTH, &g->near);
    for (int r = 0; r < EC_NEAR_ROWS; r++)
        for (int x = 0; x < WIDTH; x++) {
            const double sum = sum_at(g, r, x), a = (double)low[r][x], b = (double)high[r][x];
            if (sum < a || sum > b)
                fail_msg("%s, size %d: row %d, column %d is %g, not from %g to %g", rows->name, size, r, x, sum, a, b);
            if (low_bytes[r][x] != fmin(fmax(rint(a), 0), 255) || high_bytes[r][x] != fmin(fmax(rint(b), 0), 255))
                fail_msg("%s, size %d: row %d, column %d: %d and %d are not %g and %g", rows->name, size, r, x, low_bytes[r][x],
                         high_bytes[r][x], a, b);
            g->closest = fmin(g->closest, fmin(sum - a, b - sum) / (double)g->near.radius);
        }
}

/* The same of two passes. */
static void check_passes(struct ground *g, const struct ec_rows *rows)
{
    const int size = g->taps.size, before = size / 2;
    static float in[EC_KERNEL_MAX_SIZE][MARGIN + WIDTH + 2 * MARGIN];
    static float columns[MARGIN + WIDTH + 2 * MARGIN], sums[WIDTH];
    const float *terms[EC_KERNEL_MAX_SIZE];
    for (int j = 0; j < size; j++) {
        rows->kinds[EC_ROWS_8]->to_float(in[j], g->in[j], MARGIN + WIDTH + MARGIN);
        terms[j] = in[j];
    }
    rows->sum_exact(columns, terms, g->near.column, size, MARGIN + WIDTH + MARGIN);
    for (int i = 0; i < size; i++)
        terms[i] = columns + MARGIN + i - before;
    rows->sum_exact(sums, terms, g->near.row, size, WIDTH);
    for (int x = 0; x < WIDTH; x++)
        if (fabs((double)sums[x] - sum_at(g, 0, x)) > (double)g->near.separable_radius)
            fail_msg("%s, size %d: column %d is %g by two passes, %g at once", rows->name, size, x, (double)sums[x],
                     sum_at(g, 0, x));
}

static void check_places(struct ground *g, const struct ec_rows *rows, int count)
{
    struct ec_place places[EC_NEAR_PLACES];
    float sums[EC_NEAR_PLACES];
    for (int k = 0; k < EC_NEAR_PLACES; k++)
        places[k] = (struct ec_place){(int)(next_random(g) % EC_NEAR_ROWS), (int)(next_random(g) % WIDTH)};
    rows->sum_places(sums, g->rows, places, count, g->taps.float_weights, g->taps.size);
    for (int k = 0; k < count; k++)
        if ((double)sums[k] != sum_at(g, places[k].row, places[k].x))
            fail_msg("%s, size %d: place %d is %g, expected %g", rows->name, g->taps.size, k, (double)sums[k],
                     sum_at(g, places[k].row, places[k].x));
}

static void sums_lie_between(void **state)
{
    (void)state;
    struct ground *g = calloc(1, sizeof *g);
    assert_non_null(g);
    for (int j = 0; j < EC_NEAR_INPUT_ROWS; j++)
        g->rows[j] = g->in[j] + MARGIN;
    for (int table = 0; ec_rows_name(table); table++) {
        const struct ec_rows *rows = ec_rows_select(ec_rows_name(table));
        for (int size = 3; rows && rows->sum_near && size <= EC_KERNEL_MAX_SIZE; size += size < 7 ? 2 : 12)
            for (int kind = 0; kind < WEIGHTS_KINDS; kind++) {
                make_weights(g, size, (enum weights)kind);
                assert_true(ec_near_taps_make(&g->near, &g->taps));
                assert_int_equal(g->near.separable, kind == PRODUCT && size > 12);
                g->closest = 1;
                for (int f = 0; f < FILLS; f++) {
                    fill(g, (enum fill)f, f % 2 ? 4 : 131);
                    check_bounds(g, rows);
                    if (g->near.separable)
                        check_passes(g, rows);
                    if (!g->taps.integer)
                        check_places(g, rows, f % 2 ? 3 : EC_NEAR_PLACES);
                }
                /* Where no sum comes close to a bound, too many pixels are taken for unsettled. */
                if (g->closest > 0.9 && kind != SMALL_INTEGERS)
                    fail_msg("%s, size %d, weights %d: %g of the radius are never reached", rows->name, size, kind, g->closest);
            }
    }
    free(g);
}

static void sums_out_of_range_are_refused(void **state)
{
    (void)state;
    struct ground *g = calloc(1, sizeof *g);
    assert_non_null(g);
    static const float weights[] = {0, 1e-35f, 1e20f, 3e38f};
    for (size_t w = 0; w < sizeof weights / sizeof *weights; w++) {
        g->taps = (struct ec_convolution_taps){.size = 31, .divisor = 1};
        for (int k = 0; k < 961; k++)
            g->taps.float_weights[k] = weights[w];
        assert_false(ec_near_taps_make(&g->near, &g->taps));
    }
    free(g);
}

static void others_are_found(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    uint8_t a[COUNT + EC_NEAR_COLUMNS] = {0}, b[COUNT + EC_NEAR_COLUMNS] = {0};
    memset(b + COUNT, 1, EC_NEAR_COLUMNS);
    for (int table = 0; ec_rows_name(table); table++) {
        const struct ec_rows *rows = ec_rows_select(ec_rows_name(table));
        for (int n = 1; rows && rows->find_others && n <= COUNT; n++) {
            uint16_t columns[COUNT];
            b[0] = b[n / 2] = b[n - 1] = 7;
            const int count = rows->find_others(columns, a, b, n);
            assert_int_equal(count, n < 3 ? n : 3);
            assert_int_equal(columns[0], 0);
            assert_int_equal(columns[count / 2], n / 2);
            assert_int_equal(columns[count - 1], n - 1);
            b[0] = b[n / 2] = b[n - 1] = 0;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_lie_between),
        cmocka_unit_test(sums_out_of_range_are_refused),
        cmocka_unit_test(others_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
