/* The parts of the row functions whose exactness rests on an argument, over all they are used for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROWS_TABLE ec_rows_under_test
#define ROWS_NAME "under test"
#include "edge/rows_table.h"

static bool is_rounded_root(uint64_t n, int64_t root)
{
    const uint64_t r = (uint64_t)root;
    return n == 0 ? root == 0 : root > 0 && r * r - r < n && n <= r * r + r;
}

static void small_roots(void **state)
{
    (void)state;
    for (int32_t n = 0; n <= SMALL_ROOT_MAX * SMALL_ROOT_MAX; n++)
        if (!is_rounded_root((uint64_t)n, root_small(n)))
            fail_msg("root_small(%d) is %d", n, root_small(n));
}

/* Roots of gx^2 + gy^2 change where the sum passes r^2 + r: pairs beside such places, and all small pairs. */
static void check_pairs(int32_t (*root)(int32_t, int32_t), int32_t limit, int32_t step)
{
    for (int32_t gx = 0; gx < 1500; gx++)
        for (int32_t gy = 0; gy <= gx; gy++)
            if (!is_rounded_root((uint64_t)gx * (uint64_t)gx + (uint64_t)gy * (uint64_t)gy, root(gx, -gy)))
                fail_msg("the root of %d, %d is %d", gx, gy, root(gx, -gy));
    uint32_t random = 1;
    for (int32_t r = 1500; r < limit; r += step) {
        random = random * 1664525u + 1013904223u;
        const int32_t gx = (int32_t)((uint64_t)random * (uint32_t)r >> 32);
        const double rest = ((double)r + 0.5) * ((double)r + 0.5) - (double)gx * gx;
        const int32_t middle = (int32_t)sqrt(rest);
        for (int32_t gy = middle - 2; gy <= middle + 2; gy++) {
            if (gy < 0 || gy >= limit)
                continue;
            const uint64_t n = (uint64_t)gx * (uint64_t)gx + (uint64_t)gy * (uint64_t)gy;
            if (!is_rounded_root(n, root(-gx, gy)))
                fail_msg("the root of %d, %d is %d", gx, gy, root(-gx, gy));
        }
    }
}

/* s^4 + s^2 is r^2 + r for r = s^2, the last sum whose root is r; for r = s^2 - 1, (s^2 - 1)^2 + s^2 is the first above. */
static void check_half_ways(int32_t (*root)(int32_t, int32_t), int32_t limit)
{
    for (int32_t s = 2; s < 46340 && s * s < limit; s++) {
        assert_int_equal(root(s * s, -s), s * s);
        assert_int_equal(root(s, 1 - s * s), s * s);
    }
}

static int32_t call_root_medium(int32_t gx, int32_t gy)
{
    return root_medium(gx, gy);
}

static int32_t call_root_large(int32_t gx, int32_t gy)
{
    return root_large(gx, gy);
}

static void medium_roots(void **state)
{
    (void)state;
    check_pairs(call_root_medium, 1 << 20, 1);
    check_half_ways(call_root_medium, 1 << 20);
    assert_true(is_rounded_root(2 * (uint64_t)1048560 * 1048560, root_medium(1048560, 1048560)));
}

/* Up to the largest gradient there is: aperture 7 on 16-bit pixels. */
static void large_roots(void **state)
{
    (void)state;
    const int32_t largest = 640 * 65535;
    check_pairs(call_root_large, largest, 13);
    check_half_ways(call_root_large, largest);
    assert_true(is_rounded_root(2 * (uint64_t)largest * (uint64_t)largest, root_large(largest, -largest)));
}

static void divisions(void **state)
{
    (void)state;
    static const int32_t divisors[] = {1, 2, 3, 7, 10, 16, 255, 256, 1000, 65537, 12345678, INT32_MAX};
    for (size_t d = 0; d < sizeof divisors / sizeof *divisors; d++) {
        const int64_t divisor = divisors[d];
        uint64_t random = 7;
        for (int k = 0; k < 200000; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            /* Half-way points, their neighbours, and anything up to 2^50. */
            const int64_t quotient = (int64_t)(random >> 20) % 70000 - 35000;
            const int64_t near_half = (2 * quotient + 1) * divisor / 2 + k % 3 - 1;
            const int64_t anything = (int64_t)(random >> 14) - ((int64_t)1 << 49);
            if (divide_half_even((double)near_half, (double)divisor) != ec_divide_half_even(near_half, divisor))
                fail_msg("%lld / %lld is rounded wrongly", (long long)near_half, (long long)divisor);
            if (divide_half_even((double)anything, (double)divisor) != ec_divide_half_even(anything, divisor))
                fail_msg("%lld / %lld is rounded wrongly", (long long)anything, (long long)divisor);
        }
    }
}

static void luma_of_every_table(void **state)
{
    (void)state;
    static uint16_t in[65536], out[65536];
    for (int table = 0; ec_rows_name(table); table++) {
        const struct ec_rows *rows = ec_rows_select(ec_rows_name(table));
        for (int depth = 8; rows && depth <= 16; depth++) {
            const struct ec_edge_params params = {0};
            struct ec_plan plan;
            assert_int_equal(ec_plan_make(&plan, &params, depth, NULL), EC_OK);
            const int count = depth == 8 ? 256 : 65536;
            for (int v = 0; v < count; v++) {
                if (depth == 8)
                    ((uint8_t *)in)[v] = (uint8_t)v;
                else
                    in[v] = (uint16_t)v;
            }
            ec_rows_kind(rows, depth)->prepare(out, in, count, &plan.luma, true);
            for (int v = 0; v < count; v++) {
                const int got = depth == 8 ? ((uint8_t *)out)[v] : out[v];
                const int expected = ec_luma_expand(ec_min_i32(v, plan.luma.max), &plan.luma);
                if (got != expected)
                    fail_msg("%s, depth %d: luma %d becomes %d, expected %d", rows->name, depth, v, got, expected);
            }
        }
    }
}

/* Every pair of differences of bytes as the gradient of a Roberts cross, in even and in odd columns. */
static void roots_of_bytes_of_every_table(void **state)
{
    (void)state;
    enum { CROSSES = EC_TALL_COLUMNS / 2, LIMIT = 255 };
    const struct ec_edge_params params = {.op = EC_OPERATOR_ROBERTS};
    struct ec_plan plan;
    assert_int_equal(ec_plan_make(&plan, &params, 8, NULL), EC_OK);
    for (int table = 0; ec_rows_name(table); table++) {
        const struct ec_rows *rows = ec_rows_select(ec_rows_name(table));
        ec_rows_tall *tall = rows ? ec_rows_tall_of(rows->kinds[EC_ROWS_8], &plan) : NULL;
        for (int gx = -LIMIT; tall && gx <= LIMIT; gx++)
            for (int first = -LIMIT; first <= LIMIT; first += CROSSES) {
                const int column = 1 + (first & 32) / 32;
                uint8_t in[EC_TALL_ROWS + 2][EC_TALL_COLUMNS + 8] = {{0}}, out[EC_TALL_ROWS][EC_TALL_COLUMNS];
                const void *from[EC_TALL_ROWS + 2];
                void *to[EC_TALL_ROWS];
                for (int y = 0; y < EC_TALL_ROWS + 2; y++)
                    from[y] = in[y] + 1;
                for (int y = 0; y < EC_TALL_ROWS; y++)
                    to[y] = out[y];
                for (int k = 0; k < CROSSES; k++) {
                    const int gy = ec_min_i32(first + k, LIMIT), x = column + 2 * k;
                    in[1][x] = (uint8_t)ec_max_i32(gx, 0);
                    in[2][x + 1] = (uint8_t)ec_max_i32(-gx, 0);
                    in[1][x + 1] = (uint8_t)ec_max_i32(gy, 0);
                    in[2][x] = (uint8_t)ec_max_i32(-gy, 0);
                }
                tall(to, from, EC_TALL_COLUMNS, &plan);
                for (int k = 0; k < CROSSES && column - 1 + 2 * k < EC_TALL_COLUMNS; k++) {
                    const int gy = ec_min_i32(first + k, LIMIT), got = out[0][column - 1 + 2 * k];
                    if (got != ec_min_i32(ec_magnitude(gx, gy, EC_NORM_L2), 255))
                        fail_msg("%s: the root of %d, %d is %d", rows->name, gx, gy, got);
                }
            }
    }
}

/* Along which line the masks of a course say, the first that does counting. */
static enum ec_direction direction_of(const struct course *course, int lane)
{
    const uint64_t bit = (uint64_t)1 << lane;
    return mask_bits(course->flat) & bit     ? EC_DIRECTION_HORIZONTAL
           : mask_bits(course->steep) & bit  ? EC_DIRECTION_VERTICAL
           : mask_bits(course->rising) & bit ? EC_DIRECTION_RISING
                                             : EC_DIRECTION_FALLING;
}

/* Every gradient of bytes, and those of 10 bits near the borders between directions; the sixteenth by its definition. */
static void directions_of_short_gradients(void **state)
{
    (void)state;
    enum { LIMIT = 1020, COUNT = 2 * LIMIT + 1, LANES = LANES_BYTES / 2 };
    for (int across = -4 * LIMIT; across <= 4 * LIMIT; across++) {
        const int steep = (int)(abs(across) * 2.414213562), flat = (int)(abs(across) * 0.414213562);
        for (int start = 0; start < COUNT; start += LANES) {
            int16_t gy[LANES];
            for (int i = 0; i < LANES; i++) {
                const int k = ec_min_i32(start + i, COUNT - 1), down = k - LIMIT;
                const int near_border = (k % 2 ? steep : flat) + k / 4 % 16 - 8;
                gy[i] = (int16_t)(abs(across) <= LIMIT ? down : down < 0 ? -near_border : near_border);
            }
            const struct course course = course_of(lanes_of(across), lanes_load(gy));
            for (int i = 0; i < LANES; i++)
                if ((across || gy[i]) && direction_of(&course, i) != ec_canny_direction(across, gy[i]))
                    fail_msg("the direction of %d, %d is %d", across, gy[i], (int)direction_of(&course, i));
        }
    }
    for (int32_t g = -3000000; g <= 3000000; g++)
        if (ec_sixteenth(g) != (int32_t)rint(g / 16.0))
            fail_msg("a sixteenth of %d is %d", g, ec_sixteenth(g));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_roots),
        cmocka_unit_test(medium_roots),
        cmocka_unit_test(large_roots),
        cmocka_unit_test(roots_of_bytes_of_every_table),
        cmocka_unit_test(divisions),
        cmocka_unit_test(luma_of_every_table),
        cmocka_unit_test(directions_of_short_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
