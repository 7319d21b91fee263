/* What the CUDA backend says about machines of every kind, and that timing its kernels leaves nothing behind: on the stand-in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "edge/backend.h"

static const struct shim_machine good = {13000, 13000, 1, SIZE_MAX, SIZE_MAX, false, -1};

struct report {
    int problems;
    char text[8192]; /* "GPU: sentence" lines */
};

static void keep_finding(void *opaque, const char *group, enum ec_verdict verdict, const char *text)
{
    struct report *report = opaque;
    const size_t used = strlen(report->text);
    report->problems += verdict == EC_VERDICT_PROBLEM;
    snprintf(report->text + used, sizeof report->text - used, "%s: %s\n", group, text);
}

static struct report examine(enum ec_backend_kind backend, int gpu)
{
    struct report report = {0};
    const struct ec_device_params params = {.backend = backend, .gpu = gpu};
    const struct ec_examiner examiner = {keep_finding, &report};
    ec_backend_cuda.examine(&params, &examiner);
    return report;
}

static int reset_machine(void **state)
{
    (void)state;
    shim_machine = good;
    return 0;
}

static void expect(const struct report *report, int problems, const char *words)
{
    if (report->problems != problems || !strstr(report->text, words))
        fail_msg("expected %d problems and '%s', got %d:\n%s", problems, words, report->problems, report->text);
}

static void good_machine_is_described(void **state)
{
    (void)state;
    shim_machine.device_count = 2;
    const struct report report = examine(EC_BACKEND_AUTO, 0);
    expect(&report, 0, "this build has CUDA 13.0 and code for compute capability that of the stand-in");
    expect(&report, 0, "GPU 0: stand-in at 0000:00:00.0, compute capability 9.0");
    expect(&report, 0, "GPU 1: stand-in");
    expect(&report, 0, "256 MiB of page-locked memory were granted");
    expect(&report, 0, "NVDEC: ");
    assert_int_equal(shim_device_bytes_used(), 0);
}

static void problems_say_what_to_do(void **state)
{
    (void)state;
    shim_machine.driver_version = 12040;
    struct report report = examine(EC_BACKEND_AUTO, 0);
    expect(&report, 2, "supports CUDA 12.4 only: update the driver");
    shim_machine = good;
    shim_machine.no_kernel_image = true;
    report = examine(EC_BACKEND_AUTO, 0);
    expect(&report, 1, "build edgecam with -DCMAKE_CUDA_ARCHITECTURES=90");
    shim_machine = good;
    shim_machine.pinned_bytes = 1 << 20;
    report = examine(EC_BACKEND_AUTO, 0);
    expect(&report, 1, "256 MiB of page-locked memory were refused");
    shim_machine = good;
    report = examine(EC_BACKEND_CUDA, 3);
    expect(&report, 1, "GPU 3 is not there");
}

static void missing_driver_matters_only_where_a_gpu_was_asked_for(void **state)
{
    (void)state;
    shim_machine.driver_version = 0;
    struct report report = examine(EC_BACKEND_AUTO, 0);
    expect(&report, 0, "no NVIDIA driver is loaded");
    report = examine(EC_BACKEND_CUDA, 0);
    expect(&report, 1, "no NVIDIA driver is loaded");
}

static void throughput_of_three_planes(void **state)
{
    (void)state;
    uint8_t pixels[3 * 24 * 40];
    struct ec_plan plan;
    struct ec_error error = {0};
    struct ec_device *device = NULL;
    struct ec_throughput t;
    const struct ec_device_params params = {.backend = EC_BACKEND_CUDA};
    const struct ec_edge_params edge = {.op = EC_OPERATOR_CANNY, .channels = EC_CHANNELS_RGB};
    const struct ec_image content = {
        .data = pixels, .width_px = 33, .height_px = 24, .pitch_bytes = 40, .plane_bytes = 24 * 40, .depth_bits = 8};
    memset(pixels, 7, sizeof pixels);
    assert_int_equal(ec_plan_make(&plan, &edge, 8, &error), EC_OK);
    assert_int_equal(ec_backend_cuda.open(&device, &params, NULL, &error), EC_OK);
    assert_int_equal(ec_backend_cuda.throughput(device, &plan, &content, &t, &error), EC_OK);
    assert_int_equal(t.in_bytes, 3 * 33 * 24);
    assert_int_equal(t.frame_bytes, 4 * 33 * 24);
    assert_int_equal(shim_device_bytes_used(), 0);
    ec_backend_cuda.close(&device);
}

static void throughput_leaves_nothing_behind(void **state)
{
    (void)state;
    uint8_t pixels[24 * 40];
    struct ec_plan plan;
    struct ec_error error = {0};
    struct ec_device *device = NULL;
    struct ec_throughput t;
    const struct ec_device_params params = {.backend = EC_BACKEND_CUDA};
    const struct ec_edge_params edge = {.blur_sigma = 1};
    const struct ec_image content = {.data = pixels, .width_px = 33, .height_px = 24, .pitch_bytes = 40, .depth_bits = 8};
    memset(pixels, 7, sizeof pixels);
    assert_int_equal(ec_plan_make(&plan, &edge, 8, &error), EC_OK);
    assert_int_equal(ec_backend_cuda.open(&device, &params, NULL, &error), EC_OK);
    assert_int_equal(ec_backend_cuda.throughput(device, &plan, &content, &t, &error), EC_OK);
    assert_int_equal(t.frame_bytes, 2 * 33 * 24);
    assert_true(t.frames >= 200 && t.buffers >= 2 && t.repetitions >= 5);
    const struct ec_frame_times *settings[] = {&t.serial, &t.parallel, &t.cached};
    for (int i = 0; i < 3; i++) {
        assert_true(settings[i]->frame_us.smallest >= 0);
        assert_true(settings[i]->frame_us.smallest <= settings[i]->frame_us.median);
        assert_true(settings[i]->frame_us.median <= settings[i]->frame_us.largest);
    }
    assert_int_equal(shim_device_bytes_used(), 0);

    shim_machine.launches_until_failure = 5;
    assert_int_equal(ec_backend_cuda.throughput(device, &plan, &content, &t, &error), EC_ERROR_DEVICE);
    assert_int_equal(shim_device_bytes_used(), 0);
    ec_backend_cuda.close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(good_machine_is_described, reset_machine),
        cmocka_unit_test_setup(problems_say_what_to_do, reset_machine),
        cmocka_unit_test_setup(missing_driver_matters_only_where_a_gpu_was_asked_for, reset_machine),
        cmocka_unit_test_setup(throughput_of_three_planes, reset_machine),
        cmocka_unit_test_setup(throughput_leaves_nothing_behind, reset_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
