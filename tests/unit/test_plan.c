/* What ec_plan_make refuses and derives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "edge/arith.h"
#include "edge/error.h"

static const float ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
static const float not_finite[9] = {1, 1, 1, 1, NAN, 1, 1, 1, 1};
static const float too_large[9] = {1, 1, 1, 1, 1, 1, 1, 16777218, 1};
static const float halves[9] = {0.5f};

static void bad_parameters_are_refused(void **state)
{
    (void)state;
    const struct {
        struct ec_edge_params params;
        int depth;
        const char *words;
    } refused[] = {
        {{0}, 7, "depth is 7"},
        {{0}, 17, "depth is 17"},
        {{.op = EC_OPERATOR_COUNT}, 8, "operator 11"},
        {{.op = (enum ec_operator) - 1}, 8, "operator -1"},
        {{.norm = (enum ec_norm)2}, 8, "norm 2"},
        {{.border = (enum ec_border)3}, 8, "border 3"},
        {{.range = (enum ec_range)2}, 8, "range 2"},
        {{.aperture = 4}, 8, "aperture 4"},
        {{.aperture = 9}, 8, "aperture 9"},
        {{.op = EC_OPERATOR_KIRSCH, .aperture = 5}, 8, "kirsch has one size"},
        {{.blur_sigma = -1}, 8, "sigma -1"},
        {{.blur_sigma = 32.5}, 8, "sigma 32.5"},
        {{.blur_sigma = NAN}, 8, "sigma"},
        {{.scale = 65537}, 8, "scale 65537"},
        {{.scale = NAN}, 8, "scale"},
        {{.delta = -1e6}, 8, "delta"},
        {{.delta = INFINITY}, 8, "delta"},
        {{.threshold = -1}, 8, "threshold -1"},
        {{.threshold = NAN}, 8, "threshold"},
        {{.op = EC_OPERATOR_CANNY, .has_low = true, .low = -1}, 8, "low threshold -1"},
        {{.op = EC_OPERATOR_CANNY, .has_low = true, .low = NAN}, 8, "low threshold"},
        {{.op = EC_OPERATOR_CANNY, .has_high = true, .high = 1048577}, 8, "high threshold"},
        {{.op = EC_OPERATOR_CANNY, .threshold = 10}, 8, "not scale, delta or threshold"},
        {{.op = EC_OPERATOR_CANNY, .scale = 2}, 8, "not scale, delta or threshold"},
        {{.op = EC_OPERATOR_CANNY, .delta = 1}, 8, "not scale, delta or threshold"},
        {{.has_low = true}, 8, "for canny only, not for sobel"},
        {{.op = EC_OPERATOR_LOG, .has_high = true}, 8, "for canny only, not for log"},
        {{.op = EC_OPERATOR_CANNY, .channels = (enum ec_channels)2}, 8, "channels 2"},
        {{.op = EC_OPERATOR_CANNY, .automatic = (enum ec_auto)4}, 8, "automatic thresholds 4"},
        {{.automatic = EC_AUTO_OTSU}, 8, "for canny only, not for sobel"},
        {{.op = EC_OPERATOR_CANNY, .automatic = EC_AUTO_OTSU, .has_low = true}, 8, "not both"},
        {{.op = EC_OPERATOR_CANNY, .has_auto_time = true, .auto_time_s = -1}, 8, "-1 s"},
        {{.op = EC_OPERATOR_CANNY, .has_auto_time = true, .auto_time_s = NAN}, 8, "nan s"},
        {{.op = EC_OPERATOR_CANNY, .stable = 1.5}, 8, "stable 1.5"},
        {{.op = EC_OPERATOR_CANNY, .stable = NAN}, 8, "stable nan"},
        {{.stable = 0.5}, 8, "stable is for canny only, not for sobel"},
        {{.channels = EC_CHANNELS_RGB}, 8, "rgb is for canny only, sobel"},
        {{.output_depth_bits = 10}, 10, "output depth 10"},
        {{.op = EC_OPERATOR_CONVOLUTION}, 8, "size is 0"},
        {{.op = EC_OPERATOR_CONVOLUTION, .kernel = {4, ones, 0}}, 8, "size is 4"},
        {{.op = EC_OPERATOR_CONVOLUTION, .kernel = {33, ones, 0}}, 8, "size is 33"},
        {{.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, NULL, 0}}, 8, "no weights"},
        {{.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, ones, -2}}, 8, "divisor is -2"},
        {{.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, not_finite, 0}}, 8, "row 2, column 2"},
        {{.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, too_large, 0}}, 8, "row 3, column 2"},
        {{.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, halves, 2}}, 8, "divisor of 2"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct ec_plan plan;
        struct ec_error error = {0};
        assert_int_equal(ec_plan_make(&plan, &refused[i].params, refused[i].depth, &error), EC_ERROR_ARGUMENT);
        if (!strstr(error.text, refused[i].words))
            fail_msg("'%s' does not say '%s'", error.text, refused[i].words);
    }
}

static struct ec_plan make(const struct ec_edge_params *params, int depth)
{
    struct ec_plan plan;
    struct ec_error error = {0};
    if (ec_plan_make(&plan, params, depth, &error) != EC_OK)
        fail_msg("%s", error.text);
    return plan;
}

static void defaults_are_sobel_l2(void **state)
{
    (void)state;
    const struct ec_edge_params params = {0};
    const struct ec_plan plan = make(&params, 10);
    assert_int_equal(plan.op, EC_OPERATOR_SOBEL);
    assert_int_equal(plan.window_size, 3);
    assert_int_equal(plan.window_before, 1);
    assert_int_equal(plan.blur.size, 0);
    assert_true(plan.finish.identity);
    assert_int_equal(plan.finish.max, 1023);
    assert_int_equal(plan.saturation, 1023);
    assert_int_equal(plan.output_depth_bits, 10);
}

/* Weights are symmetric, never negative and sum to one, for every sigma and both depths. */
static void blur_weights_sum_to_one(void **state)
{
    (void)state;
    for (int depth = 8; depth <= 16; depth += 8) {
        for (double sigma = 0.01; sigma <= EC_BLUR_MAX_SIGMA; sigma += 0.037) {
            const struct ec_edge_params params = {.op = EC_OPERATOR_DOG, .blur_sigma = sigma};
            const struct ec_plan plan = make(&params, depth);
            const struct ec_blur_taps *both[] = {&plan.blur, &plan.blur_wide};
            for (int b = 0; b < 2; b++) {
                assert_in_range(both[b]->size, 1, EC_BLUR_MAX_SIZE);
                assert_int_equal(both[b]->size % 2, 1);
                uint64_t sum = 0;
                for (int i = 0; i < both[b]->size; i++) {
                    sum += both[b]->weights[i];
                    assert_int_equal(both[b]->weights[i], both[b]->weights[both[b]->size - 1 - i]);
                }
                assert_int_equal(sum, 1ull << both[b]->fraction_bits);
            }
        }
    }
}

static void kernels_are_understood(void **state)
{
    (void)state;
    const float separable[9] = {-2, 0, 6, -4, 0, 12, 2, 0, -6}; /* (1 2 -1) by 2*(-1 0 3) */
    struct ec_edge_params params = {.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, separable, 5}};
    struct ec_plan plan = make(&params, 8);
    assert_true(plan.convolution.integer && plan.convolution.separable && !plan.convolution.wide_sum);
    assert_int_equal(plan.convolution.divisor, 5);
    for (int k = 0; k < 9; k++)
        assert_int_equal(plan.convolution.column[k / 3] * plan.convolution.row[k % 3], (int)separable[k]);

    const float empty_rows[25] = {[11] = 3, [13] = -9};
    params.kernel = (struct ec_kernel){5, empty_rows, 0};
    plan = make(&params, 8);
    assert_true(plan.convolution.separable);
    for (int k = 0; k < 25; k++)
        assert_int_equal(plan.convolution.column[k / 5] * plan.convolution.row[k % 5], (int)empty_rows[k]);

    const float rank_two[9] = {1, 2, 1, 2, 4, 3, 1, 2, 1};
    params.kernel = (struct ec_kernel){3, rank_two, 0};
    assert_false(make(&params, 8).convolution.separable);
    const float zero[9] = {0};
    params.kernel = (struct ec_kernel){3, zero, 0};
    assert_false(make(&params, 8).convolution.separable);

    params.kernel = (struct ec_kernel){3, halves, 1};
    assert_false(make(&params, 8).convolution.integer);

    /* 2^31 - 1 = 255 * 8421504 + 127. */
    float large[9] = {8421504};
    params.kernel = (struct ec_kernel){3, large, 0};
    assert_false(make(&params, 8).convolution.wide_sum);
    large[4] = -1;
    assert_true(make(&params, 8).convolution.wide_sum);
}

/* From the saturation on every response finishes the same, and it is the smallest of that kind. */
static void saturation_is_tight(void **state)
{
    (void)state;
    const struct ec_edge_params choices[] = {{0},
                                             {.threshold = 12.3},
                                             {.scale = 0.37, .delta = 5},
                                             {.scale = -0.01, .delta = 90},
                                             {.scale = 40},
                                             {.scale = -3, .delta = 77},
                                             {.threshold = 3000},
                                             {.scale = 0.001, .threshold = 100, .delta = -3}};
    for (size_t c = 0; c < sizeof choices / sizeof *choices; c++)
        for (int depth = 8; depth <= 16; depth += 4) {
            const struct ec_plan plan = make(&choices[c], depth);
            const uint32_t from_there = ec_finish(plan.saturation, &plan.finish);
            for (int32_t m = plan.saturation; m < plan.saturation + 100000; m += 7)
                assert_int_equal(ec_finish(m, &plan.finish), from_there);
            assert_int_equal(ec_finish(1 << 30, &plan.finish), from_there);
            if (plan.saturation > 0)
                assert_int_not_equal(ec_finish(plan.saturation - 1, &plan.finish), from_there);
        }
}

static void operators_have_names(void **state)
{
    (void)state;
    for (int op = 0; op < EC_OPERATOR_COUNT; op++) {
        assert_non_null(ec_operator_name((enum ec_operator)op));
        assert_non_null(ec_operator_text((enum ec_operator)op));
    }
    assert_string_equal(ec_operator_name(EC_OPERATOR_CONVOLUTION), "convolution");
    assert_null(ec_operator_name(EC_OPERATOR_COUNT));
    assert_null(ec_operator_text((enum ec_operator) - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_parameters_are_refused), cmocka_unit_test(defaults_are_sobel_l2),
        cmocka_unit_test(blur_weights_sum_to_one),    cmocka_unit_test(kernels_are_understood),
        cmocka_unit_test(saturation_is_tight),        cmocka_unit_test(operators_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
