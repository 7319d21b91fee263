/* What a person is told where the GPU cannot be used, and that nothing leaks: on a stand-in that fails on demand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "edge/backend.h"

static const struct shim_machine good = {13000, 13000, 1, SIZE_MAX, SIZE_MAX, false, -1};

struct messages {
    int count;
    enum ec_log_level level;
    char text[600];
};

static void keep_message(void *opaque, enum ec_log_level level, const char *text)
{
    struct messages *messages = opaque;
    messages->count++;
    messages->level = level;
    strncpy(messages->text, text, sizeof messages->text - 1);
}

static int reset_machine(void **state)
{
    (void)state;
    shim_machine = good;
    return 0;
}

static void expect_refusal(int gpu, const char *words)
{
    const struct ec_device_params params = {.backend = EC_BACKEND_CUDA, .gpu = gpu};
    struct ec_error error = {0};
    struct ec_device *device = NULL;
    assert_int_equal(ec_backend_cuda.open(&device, &params, NULL, &error), EC_ERROR_DEVICE);
    assert_null(device);
    if (!strstr(error.text, words))
        fail_msg("expected \"%s\" in \"%s\"", words, error.text);
}

static struct ec_device *open_device(struct messages *messages)
{
    const struct ec_device_params params = {0};
    const struct ec_logger logger = {.message = keep_message, .opaque = messages};
    struct ec_error error = {0};
    struct ec_device *device = NULL;
    assert_int_equal(ec_backend_cuda.open(&device, &params, &logger, &error), EC_OK);
    return device;
}

static void make_plan(struct ec_plan *plan, double blur_sigma)
{
    const struct ec_edge_params params = {.blur_sigma = blur_sigma};
    struct ec_error error = {0};
    assert_int_equal(ec_plan_make(plan, &params, 8, &error), EC_OK);
}

static void refusals_name_the_cause(void **state)
{
    (void)state;
    shim_machine.driver_version = 0;
    expect_refusal(0, "no NVIDIA driver is loaded");
    shim_machine.driver_version = 12020;
    expect_refusal(0, "it supports CUDA 12.2 and this build needs CUDA 13.0");
    shim_machine.driver_version = 13000;
    shim_machine.device_count = 0;
    expect_refusal(0, "finds no GPU");
    shim_machine.device_count = 2;
    expect_refusal(2, "GPU 2 is not there: this machine has 2 GPUs");
    expect_refusal(-2, "GPU -2 is not there");
    shim_machine.no_kernel_image = true;
    expect_refusal(1, "-DCMAKE_CUDA_ARCHITECTURES=90");
}

static struct ec_image small_image(uint8_t *pixels, enum ec_memory memory)
{
    return (struct ec_image){
        .data = pixels, .width_px = 16, .height_px = 9, .pitch_bytes = 16, .depth_bits = 8, .memory = memory};
}

#define GPUS 3
#define GPU_FRAMES 20

/* Frames take turns on all GPUs, whatever number of them is in flight, and come out in order with the same bytes. */
static void all_gpus_share_the_frames_of_one_stream(void **state)
{
    (void)state;
    const struct ec_device_params params = {.gpu = EC_GPU_ALL};
    struct messages messages = {0};
    const struct ec_logger logger = {.message = keep_message, .opaque = &messages};
    struct ec_error error = {0};
    struct ec_device *device = NULL;
    struct ec_device_info info;
    struct ec_plan plan;
    uint8_t in[GPU_FRAMES][16 * 9], out[GPU_FRAMES][16 * 9], expected[16 * 9];
    shim_machine.device_count = GPUS;
    make_plan(&plan, 0);
    assert_int_equal(ec_backend_cuda.open(&device, &params, &logger, &error), EC_OK);
    assert_int_equal(messages.count, 0);
    ec_backend_cuda.describe(device, &info);
    assert_int_equal(info.gpu_count, GPUS);
    assert_string_equal(info.name, "3 x stand-in");
    for (int lanes = 1; lanes <= 7; lanes += 2) {
        struct ec_engine *engine = NULL;
        assert_int_equal(ec_backend_cuda.engine_open(&engine, device, &plan, 16, 9, lanes, &error), EC_OK);
        for (int i = 0; i < GPU_FRAMES + lanes; i++) {
            if (i >= lanes) {
                const int k = i - lanes;
                const struct ec_image source = small_image(in[k], EC_MEMORY_HOST);
                struct ec_image wanted = small_image(expected, EC_MEMORY_HOST);
                struct ec_job_times times;
                assert_int_equal(ec_backend_cuda.collect(engine, &times, &error), EC_OK);
                assert_int_equal(times.gpu, k % lanes % (lanes < GPUS ? lanes : GPUS));
                assert_int_equal(ec_reference_run(&plan, &source, false, &wanted, &error), EC_OK);
                assert_memory_equal(out[k], expected, sizeof expected);
            }
            if (i < GPU_FRAMES) {
                for (int x = 0; x < 16 * 9; x++)
                    in[i][x] = (uint8_t)(x * x * (i + 3) + 17 * i);
                /* As if the first GPU had decoded every other one. */
                const struct ec_image source = small_image(in[i], i % 2 ? EC_MEMORY_DEVICE : EC_MEMORY_HOST);
                struct ec_image result = small_image(out[i], EC_MEMORY_HOST);
                assert_int_equal(ec_backend_cuda.submit(engine, &source, false, &result, &error), EC_OK);
            }
        }
        ec_backend_cuda.engine_close(&engine);
    }
    assert_int_equal(shim_device_bytes_used(), 0);
    ec_backend_cuda.close(&device);
    assert_null(device);
    ec_backend_cuda.close(&device);
}

/* A run without times gives bytes and no intervals. */
static void untimed_runs_know_no_times(void **state)
{
    (void)state;
    const struct ec_device_params params = {.untimed = true};
    struct ec_error error = {0};
    struct ec_device *device = NULL;
    struct ec_engine *engine = NULL;
    struct ec_plan plan;
    struct ec_job_times times;
    uint8_t pixels[2][16 * 9] = {{0}};
    const struct ec_image in = small_image(pixels[0], EC_MEMORY_HOST);
    struct ec_image out = small_image(pixels[1], EC_MEMORY_HOST);
    make_plan(&plan, 0);
    assert_int_equal(ec_backend_cuda.open(&device, &params, NULL, &error), EC_OK);
    assert_int_equal(ec_backend_cuda.engine_open(&engine, device, &plan, 16, 9, 1, &error), EC_OK);
    assert_int_equal(ec_backend_cuda.submit(engine, &in, false, &out, &error), EC_OK);
    assert_int_equal(ec_backend_cuda.collect(engine, &times, &error), EC_OK);
    assert_int_equal(times.h2d_bytes, 16 * 9);
    for (int e = 0; e < 3; e++)
        assert_true(times.start_ns[e] == 0 && times.end_ns[e] == 0);
    ec_backend_cuda.engine_close(&engine);
    ec_backend_cuda.close(&device);
}

static void memory_that_runs_out_leaves_nothing_behind(void **state)
{
    (void)state;
    struct messages messages = {0};
    struct ec_device *device = open_device(&messages);
    struct ec_plan plan;
    struct ec_engine *engine = NULL;
    make_plan(&plan, 1);
    /* Every size of device at which one more allocation succeeds than before. */
    int refused = 0;
    for (size_t limit = 0;; limit += 10000) {
        struct ec_error error = {0};
        shim_machine.device_bytes = limit;
        if (ec_backend_cuda.engine_open(&engine, device, &plan, 200, 100, 2, &error) == EC_OK)
            break;
        assert_null(engine);
        assert_non_null(strstr(error.text, "too little memory"));
        assert_int_equal(shim_device_bytes_used(), 0);
        refused++;
    }
    assert_true(refused > 8);
    ec_backend_cuda.engine_close(&engine);
    assert_int_equal(shim_device_bytes_used(), 0);
    ec_backend_cuda.close(&device);
}

static void lane_counts_out_of_range_are_refused(void **state)
{
    (void)state;
    struct messages messages = {0};
    struct ec_device *device = open_device(&messages);
    struct ec_plan plan;
    struct ec_engine *engine = NULL;
    make_plan(&plan, 0);
    for (int lanes = 0; lanes <= EC_IN_FLIGHT_MAX + 1; lanes += EC_IN_FLIGHT_MAX + 1) {
        struct ec_error error = {0};
        assert_int_equal(ec_backend_cuda.engine_open(&engine, device, &plan, 20, 10, lanes, &error), EC_ERROR_ARGUMENT);
        assert_null(engine);
    }
    ec_backend_cuda.close(&device);
}

static void failing_launch_names_the_kernel(void **state)
{
    (void)state;
    struct messages messages = {0};
    struct ec_device *device = open_device(&messages);
    struct ec_plan plan;
    struct ec_engine *engine = NULL;
    struct ec_error error = {0};
    unsigned char in_pixels[200] = {0}, out_pixels[200] = {0};
    const struct ec_image in = {.data = in_pixels, .width_px = 20, .height_px = 10, .pitch_bytes = 20, .depth_bits = 8};
    struct ec_image out = {.data = out_pixels, .width_px = 20, .height_px = 10, .pitch_bytes = 20, .depth_bits = 8};
    make_plan(&plan, 1);
    assert_int_equal(ec_backend_cuda.engine_open(&engine, device, &plan, 20, 10, 1, &error), EC_OK);
    shim_machine.launches_until_failure = 1;
    assert_int_equal(ec_backend_cuda.submit(engine, &in, false, &out, &error), EC_ERROR_DEVICE);
    assert_non_null(strstr(error.text, "gradient_pairs_kernel failed on the GPU"));
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    ec_backend_cuda.engine_close(&engine);
    ec_backend_cuda.close(&device);
}

static void ordinary_memory_stands_in_for_pinned_with_one_notice(void **state)
{
    (void)state;
    struct messages messages = {0};
    struct ec_device *device = open_device(&messages);
    struct ec_device_info info;
    void *blocks[4];
    shim_machine.pinned_bytes = 10000;
    for (int i = 0; i < 4; i++) {
        blocks[i] = ec_backend_cuda.host_alloc(device, 6000);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 4096, 0);
        memset(blocks[i], i, 6000);
    }
    assert_int_equal(messages.count, 1);
    assert_int_equal(messages.level, EC_LOG_NOTICE);
    assert_non_null(strstr(messages.text, "page-locked memory ran out"));
    ec_backend_cuda.describe(device, &info);
    assert_int_equal(info.pinned_bytes, 6000);
    /* In another order than they came; the last one is left to close. */
    ec_backend_cuda.host_free(device, blocks[2], 6000);
    ec_backend_cuda.host_free(device, blocks[0], 6000);
    ec_backend_cuda.host_free(device, blocks[1], 6000);
    ec_backend_cuda.host_free(device, NULL, 0);
    ec_backend_cuda.describe(device, &info);
    assert_int_equal(info.pinned_bytes, 0);
    ec_backend_cuda.close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(refusals_name_the_cause, reset_machine),
        cmocka_unit_test_setup(all_gpus_share_the_frames_of_one_stream, reset_machine),
        cmocka_unit_test_setup(untimed_runs_know_no_times, reset_machine),
        cmocka_unit_test_setup(memory_that_runs_out_leaves_nothing_behind, reset_machine),
        cmocka_unit_test_setup(lane_counts_out_of_range_are_refused, reset_machine),
        cmocka_unit_test_setup(failing_launch_names_the_kernel, reset_machine),
        cmocka_unit_test_setup(ordinary_memory_stands_in_for_pinned_with_one_notice, reset_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
