/* Convolutions of bytes whose sums are as large as 16 bits take, and larger: on bytes that make them so. Gaussians of bytes on
 * pairs of rows, on all that are as large or as small as there are, or take turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "edge/arith.h"
#include "edge/blur_taps.h"
#include "edge/group_taps.h"

enum { WIDTH = 150, MARGIN = 64, ROWS_MAX = EC_GROUP_INPUT_ROWS };

struct ground {
    struct ec_convolution_taps taps;
    struct ec_dot_taps dots;
    uint8_t in[ROWS_MAX][MARGIN + WIDTH + 512], out[EC_GROUP_ROWS][WIDTH];
    float sums[EC_GROUP_ROWS][WIDTH];
};

/* Weights of which those above 0 make `above` together, those below 0 `below`. */
static void spread_weights(struct ec_convolution_taps *taps, int size, int above, int below, int32_t largest)
{
    const int count = size * size;
    *taps = (struct ec_convolution_taps){.size = size, .integer = true, .divisor = 1};
    for (int k = 0; above + below > 0; k = (k + 1) % count) {
        const bool positive = above > 0 && (k % 2 == 0 || below == 0);
        int *rest = positive ? &above : &below;
        const int32_t now = taps->integer_weights[k], step = ec_min_i32(*rest, largest / 4 + 1);
        if ((positive ? now < 0 : now > 0) || abs(now) + step > largest)
            continue;
        taps->integer_weights[k] += positive ? step : -step;
        *rest -= step;
    }
}

static int64_t sum_at(const struct ground *g, int r, int x)
{
    const int size = g->taps.size;
    int64_t sum = 0;
    for (int k = 0; k < size * size; k++)
        sum += (int64_t)g->taps.integer_weights[k] * g->in[r + k / size][MARGIN + x + k % size - size / 2];
    return sum;
}

/* Bytes that make the sum at column x of row r the largest or the least there is. */
static void fill(struct ground *g, int r, int x, bool largest)
{
    const int size = g->taps.size;
    memset(g->in, largest ? 0 : 255, sizeof g->in);
    for (int k = 0; k < size * size; k++)
        g->in[r + k / size][MARGIN + x + k % size - size / 2] = (g->taps.integer_weights[k] > 0) == largest ? 255 : 0;
}

static void check(struct ground *g, const struct ec_rows *rows)
{
    const void *in[ROWS_MAX];
    uint8_t *out[EC_GROUP_ROWS];
    float *sums[EC_GROUP_ROWS];
    for (int j = 0; j < ROWS_MAX; j++)
        in[j] = g->in[j] + MARGIN;
    for (int r = 0; r < EC_GROUP_ROWS; r++) {
        out[r] = g->out[r];
        sums[r] = g->sums[r];
    }
    rows->sum_dots(out, in, WIDTH, &g->dots);
    rows->sum_dots_wide(sums, in, WIDTH, &g->dots);
    for (int r = 0; r < EC_GROUP_ROWS; r++)
        for (int x = 0; x < WIDTH; x++) {
            const int64_t sum = sum_at(g, r, x);
            const int expected = ec_clamp_i32(ec_divide_half_even(sum, g->dots.divisor), 0, 255);
            if (g->out[r][x] != expected || (int64_t)g->sums[r][x] != sum)
                fail_msg("%s, size %d: row %d, column %d is %d and %g, expected %d and %d", rows->name, g->taps.size, r, x,
                         g->out[r][x], (double)g->sums[r][x], expected, (int)sum);
        }
}

static void sums_as_large_as_there_are(void **state)
{
    (void)state;
    static const int sums[][2] = {{257, 0}, {0, 257},   {200, 57},  {57, 200}, {258, 0},
                                  {0, 258}, {128, 129}, {700, 600}, {2000, 90}};
    struct ground *g = calloc(1, sizeof *g);
    assert_non_null(g);
    for (int table = 0; ec_rows_name(table); table++) {
        const struct ec_rows *rows = ec_rows_select(ec_rows_name(table));
        if (!rows || !rows->sum_dots)
            continue;
        for (int size = 5; size <= EC_KERNEL_MAX_SIZE; size += size < 9 ? 2 : 11)
            for (size_t s = 0; s < sizeof sums / sizeof *sums; s++)
                for (int turn = 0; turn < 8; turn++) {
                    const int r = turn / 2 % 2, x = turn < 4 ? 4 : 131;
                    if (sums[s][0] + sums[s][1] > size * size * (EC_DOT_MAX - 16) / 2)
                        continue;
                    spread_weights(&g->taps, size, sums[s][0], sums[s][1], EC_DOT_MAX);
                    g->taps.divisor = s % 3 ? 1 : 100;
                    ec_dot_taps_make(&g->dots, &g->taps);
                    fill(g, r, x, turn % 2);
                    check(g, rows);
                }
    }
    free(g);
}

struct blur_ground {
    struct ec_blur_taps taps;
    struct ec_blur_pair_taps pair_taps;
    uint8_t in[EC_BLUR_PAIRS_MAX_SIZE + 1][MARGIN + WIDTH + 512], out[2][WIDTH];
    char pairs[EC_BLUR_PAIRS_MAX_SIZE / 2 + 1][4 * (WIDTH + 64)];
};

static int blurred_at(const struct blur_ground *g, int row, int x)
{
    uint32_t sum = 1 << 15;
    for (int j = 0; j < g->taps.size; j++)
        for (int i = 0; i < g->taps.size; i++)
            sum += g->taps.weights[j] * g->taps.weights[i] * g->in[row + j][MARGIN + x + i - g->taps.size / 2];
    return (int)(sum >> 16);
}

static void check_blur(struct blur_ground *g, const struct ec_rows *rows)
{
    const void *pairs[EC_BLUR_PAIRS_MAX_SIZE / 2 + 1];
    uint8_t *out[2] = {g->out[0], g->out[1]};
    for (int k = 0; k <= g->taps.size / 2; k++) {
        const void *two[2] = {g->in[2 * k] + MARGIN, g->in[2 * k + 1] + MARGIN};
        rows->blur_pair(g->pairs[k], two, WIDTH, &g->pair_taps);
        pairs[k] = g->pairs[k];
    }
    rows->blur_pairs(out, pairs, WIDTH, &g->pair_taps);
    for (int row = 0; row < 2; row++)
        for (int x = 0; x < WIDTH; x++)
            if (g->out[row][x] != blurred_at(g, row, x))
                fail_msg("%s, size %d: row %d, column %d is %d, expected %d", rows->name, g->taps.size, row, x, g->out[row][x],
                         blurred_at(g, row, x));
}

static void gaussians_on_pairs_of_rows(void **state)
{
    (void)state;
    enum { LEAST, LARGEST, COLUMNS, ROWS, NOISE, FILLS };
    struct blur_ground *g = calloc(1, sizeof *g);
    assert_non_null(g);
    int sizes = 0;
    for (int size = 3; size <= EC_BLUR_PAIRS_MAX_SIZE; size += 2) {
        ec_blur_taps_make(&g->taps, (size - 1) / 6.0, 8);
        if (g->taps.size != size || g->taps.weights[size / 2] >= 128)
            continue;
        ec_blur_pair_taps_make(&g->pair_taps, &g->taps);
        sizes++;
        for (int fill = 0; fill < FILLS; fill++) {
            uint32_t random = 1;
            for (int j = 0; j < (int)(sizeof g->in / sizeof *g->in); j++)
                for (int i = 0; i < (int)sizeof *g->in; i++) {
                    random = random * 1664525 + 1013904223;
                    const bool set[FILLS] = {false, true, i % 2, j % 2, random >> 31};
                    g->in[j][i] = set[fill] ? 255 : 0;
                }
            for (int table = 0; ec_rows_name(table); table++) {
                const struct ec_rows *rows = ec_rows_select(ec_rows_name(table));
                if (rows && rows->blur_pair)
                    check_blur(g, rows);
            }
        }
    }
    assert_true(sizes > 10);
    free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_as_large_as_there_are),
        cmocka_unit_test(gaussians_on_pairs_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
