/* The shared integer arithmetic against definitions that are too slow or too plain to get wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "edge/arith.h"

/* r is round(sqrt(n)) exactly if (r - 1/2)^2 < n < (r + 1/2)^2, that is r^2 - r < n <= r^2 + r over integers. */
static bool is_rounded_root(uint64_t n, uint64_t r)
{
    return n == 0 ? r == 0 : r > 0 && r * r - r < n && n <= r * r + r;
}

static void roots_of_small_numbers(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 1u << 24; n++)
        if (!is_rounded_root(n, ec_root_round_u32(n)) || !is_rounded_root(n, ec_root_round_u64(n)))
            fail_msg("round(sqrt(%u)) is given as %u and %u", n, ec_root_round_u32(n), ec_root_round_u64(n));
}

/* Around every square and every half-way point up to the largest gradient, n changes its root at r^2 + r only. */
static void roots_around_squares(void **state)
{
    (void)state;
    for (uint64_t r = 1; r < 1u << 27; r += r < 1u << 21 ? 1 : 97) {
        const uint64_t around[] = {r * r - r, r * r - r + 1, r * r - 1, r * r, r * r + 1, r * r + r, r * r + r + 1};
        for (int k = 0; k < 7; k++) {
            if (!is_rounded_root(around[k], ec_root_round_u64(around[k])))
                fail_msg("round(sqrt(%llu)) is given as %u", (unsigned long long)around[k], ec_root_round_u64(around[k]));
            if (around[k] <= UINT32_MAX && !is_rounded_root(around[k], ec_root_round_u32((uint32_t)around[k])))
                fail_msg("round(sqrt(%llu)) is given as %u", (unsigned long long)around[k],
                         ec_root_round_u32((uint32_t)around[k]));
        }
    }
    assert_true(is_rounded_root(UINT32_MAX, ec_root_round_u32(UINT32_MAX)));
}

/* The float root that the row functions use where responses saturate at 1023 or less. */
static void short_roots_need_no_correction(void **state)
{
    (void)state;
    for (int32_t n = 0; n <= 1023 * 1023; n++)
        if (!is_rounded_root((uint64_t)n, (uint64_t)(sqrtf((float)n) + 0.5f)))
            fail_msg("the short root of %d is wrong", n);
}

static void divisions_round_half_to_even(void **state)
{
    (void)state;
    for (int64_t divisor = 1; divisor <= 40; divisor++) {
        for (int64_t sum = -500; sum <= 500; sum++) {
            int64_t best = -1000;
            /* The nearest integer; of two equally near the even one. */
            for (int64_t q = -501; q <= 501; q++) {
                const int64_t distance = llabs(q * divisor - sum), least = llabs(best * divisor - sum);
                if (distance < least || (distance == least && q % 2 == 0))
                    best = q;
            }
            assert_int_equal(ec_divide_half_even(sum, divisor), best);
        }
    }
    assert_int_equal(ec_divide_half_even(INT64_C(1) << 50, 1), INT32_MAX);
    assert_int_equal(ec_divide_half_even(-(INT64_C(1) << 50), 1), INT32_MIN);
    assert_int_equal(ec_divide_half_even((INT64_C(1) << 32) - 1, 2), INT32_MAX);
    assert_int_equal(ec_divide_half_even(INT32_MAX, INT32_MAX), 1);
    assert_int_equal(ec_divide_half_even(-INT32_MAX, INT32_MAX), -1);
}

/* Walks one pixel at a time and turns round at either end. */
static int32_t walk(int32_t i, int32_t n, enum ec_border border)
{
    if (border == EC_BORDER_CONSTANT)
        return i < 0 || i >= n ? -1 : i;
    if (border == EC_BORDER_REPLICATE || n == 1)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    int32_t position = 0, step = 1;
    for (int32_t left = i < 0 ? -i : i; left > 0; left--) {
        if (position + step < 0 || position + step >= n)
            step = -step;
        position += step;
    }
    return position;
}

static void borders_fold_as_often_as_needed(void **state)
{
    (void)state;
    for (int border = 0; border <= EC_BORDER_CONSTANT; border++)
        for (int32_t n = 1; n <= 40; n++)
            for (int32_t i = -500; i <= 500; i++)
                assert_int_equal(ec_border_index(i, n, (enum ec_border)border), walk(i, n, (enum ec_border)border));
}

static void luma_is_exact_at_every_depth(void **state)
{
    (void)state;
    for (int depth = 8; depth <= 16; depth++) {
        struct ec_plan plan;
        const struct ec_edge_params params = {0};
        assert_int_equal(ec_plan_make(&plan, &params, depth, NULL), EC_OK);
        const int64_t steps = 1 << (depth - 8), top = (1 << depth) - 1, span = 219 * steps;
        for (int64_t y = 0; y <= top; y++) {
            const int64_t twice = 2 * (y - 16 * steps) * top + span; /* 2 * span times the value and a half */
            const int64_t expected = twice < 0 ? 0 : twice / (2 * span) > top ? top : twice / (2 * span);
            if (ec_luma_expand((int32_t)y, &plan.luma) != expected)
                fail_msg("depth %d: luma %d becomes %d, expected %d", depth, (int)y, ec_luma_expand((int32_t)y, &plan.luma),
                         (int)expected);
        }
    }
}

static void finishing_saturates(void **state)
{
    (void)state;
    struct ec_finish f = {.identity = true, .max = 1023, .narrow_shift = 2};
    assert_int_equal(ec_finish(1, &f), 0);
    assert_int_equal(ec_finish(2, &f), 1);
    assert_int_equal(ec_finish(INT32_MAX, &f), 255);
    assert_int_equal(ec_finish(INT32_MIN, &f), 0);
    f = (struct ec_finish){.identity = true, .absolute = true, .max = 255};
    assert_int_equal(ec_finish(INT32_MIN, &f), 255);
    assert_int_equal(ec_finish(-7, &f), 7);
    f = (struct ec_finish){.scale = 65536, .delta = 0, .max = 255};
    assert_int_equal(ec_finish(INT32_MAX, &f), 255);
    assert_int_equal(ec_finish(INT32_MIN, &f), 0);
    f = (struct ec_finish){.scale = 0.5f, .max = 255};
    assert_int_equal(ec_finish(1, &f), 0);
    assert_int_equal(ec_finish(3, &f), 2);
    assert_int_equal(ec_finish_float(5, &f), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_of_small_numbers),
        cmocka_unit_test(roots_around_squares),
        cmocka_unit_test(short_roots_need_no_correction),
        cmocka_unit_test(divisions_round_half_to_even),
        cmocka_unit_test(borders_fold_as_often_as_needed),
        cmocka_unit_test(luma_is_exact_at_every_depth),
        cmocka_unit_test(finishing_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
