/* Lanes, order, times, page-locked memory, and what happens when memory runs out. */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "edge/packed.h"
#include "edgecam/pipeline.h"
#include "fixture.h"

#define FRAMES 24

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void make_plan(struct ec_plan *plan, const struct ec_edge_params *params)
{
    struct ec_error error = {0};
    if (ec_plan_make(plan, params, 8, &error) != EC_OK)
        fail_msg("%s", error.text);
}

/* A part of a frame ran within [from, to]; a device clock may be some microseconds off. */
static void check_part(const struct ec_job_times *times, enum ec_engine_kind part, int64_t from, int64_t to)
{
    const int64_t slack = 200000;
    assert_true(times->start_ns[part] <= times->end_ns[part]);
    assert_true(times->start_ns[part] >= from - slack && times->end_ns[part] <= to + slack);
}

static void frames_come_out_in_order_with_any_number_of_lanes(void **state)
{
    const struct fixture *f = *state;
    const struct ec_edge_params params = {0};
    struct ec_error error = {0};
    struct ec_plan plan;
    struct ec_image in[FRAMES], out[FRAMES], expected[FRAMES];
    make_plan(&plan, &params);
    for (int i = 0; i < FRAMES; i++) {
        in[i] = image_open(f->device, 321, 123, 8);
        out[i] = image_open(f->device, 321, 123, 8);
        expected[i] = image_open(f->device, 321, 123, 8);
        fill_noise(&in[i], (unsigned)i);
        assert_int_equal(ec_reference_run(&plan, &in[i], false, &expected[i], &error), EC_OK);
    }
    for (int lanes = 1; lanes <= 8; lanes++) {
        struct ec_engine *engine = NULL;
        assert_int_equal(ec_backend_cuda.engine_open(&engine, f->device, &plan, 321, 123, lanes, &error), EC_OK);
        const int64_t begin = now_ns();
        for (int i = 0; i < FRAMES + lanes; i++) {
            if (i >= lanes) {
                struct ec_job_times times;
                assert_int_equal(ec_backend_cuda.collect(engine, &times, &error), EC_OK);
                assert_memory_equal(out[i - lanes].data, expected[i - lanes].data, image_bytes(&out[0]));
                assert_int_equal(times.lane, (i - lanes) % lanes);
                for (int part = EC_ENGINE_H2D; part <= EC_ENGINE_D2H; part++)
                    check_part(&times, (enum ec_engine_kind)part, begin, now_ns());
                assert_true(times.end_ns[EC_ENGINE_H2D] <= times.start_ns[EC_ENGINE_COMPUTE]);
                assert_true(times.end_ns[EC_ENGINE_COMPUTE] <= times.start_ns[EC_ENGINE_D2H]);
            }
            if (i < FRAMES) {
                memset(out[i].data, 0, image_bytes(&out[i]));
                assert_int_equal(ec_backend_cuda.submit(engine, &in[i], false, &out[i], &error), EC_OK);
            }
        }
        ec_backend_cuda.engine_close(&engine);
        assert_null(engine);
    }
    for (int i = 0; i < FRAMES; i++) {
        image_close(f->device, &in[i]);
        image_close(f->device, &out[i]);
        image_close(f->device, &expected[i]);
    }
}

static void engines_with_different_kernels_do_not_mix(void **state)
{
    const struct fixture *f = *state;
    static const float ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, shift[9] = {0, 0, 0, 0, 0, 1, 0, 0, 0};
    const struct ec_edge_params params[2] = {{.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, ones, 9}},
                                             {.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, shift, 1}}};
    struct ec_error error = {0};
    struct ec_engine *engine[2] = {0};
    struct ec_image in = image_open(f->device, 500, 300, 8), out[2], expected[2];
    fill_noise(&in, 5);
    for (int i = 0; i < 2; i++) {
        struct ec_plan plan;
        make_plan(&plan, &params[i]);
        out[i] = image_open(f->device, 500, 300, 8);
        expected[i] = image_open(f->device, 500, 300, 8);
        assert_int_equal(ec_reference_run(&plan, &in, false, &expected[i], &error), EC_OK);
        assert_int_equal(ec_backend_cuda.engine_open(&engine[i], f->device, &plan, 500, 300, 2, &error), EC_OK);
    }
    for (int n = 0; n < 8; n++) {
        for (int i = 0; i < 2; i++)
            assert_int_equal(ec_backend_cuda.submit(engine[i], &in, false, &out[i], &error), EC_OK);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(ec_backend_cuda.collect(engine[i], NULL, &error), EC_OK);
            assert_memory_equal(out[i].data, expected[i].data, image_bytes(&out[i]));
        }
    }
    for (int i = 0; i < 2; i++) {
        ec_backend_cuda.engine_close(&engine[i]);
        image_close(f->device, &out[i]);
        image_close(f->device, &expected[i]);
    }
    image_close(f->device, &in);
}

/* Low latency cuts frames in bands: same bytes, whatever the operator's reach, also where cutting does not pay. */
static void bands_give_the_same_bytes(void **state)
{
    const struct fixture *f = *state;
    const struct ec_device_params device_params = {.backend = EC_BACKEND_CUDA, .low_latency = true};
    const struct ec_edge_params tries[] = {
        {0},
        {.op = EC_OPERATOR_ROBERTS, .border = EC_BORDER_CONSTANT},
        {.op = EC_OPERATOR_SOBEL, .aperture = 7, .norm = EC_NORM_L1},
        {.op = EC_OPERATOR_KIRSCH, .blur_sigma = 1.4},
        {.op = EC_OPERATOR_DOG, .blur_sigma = 2, .border = EC_BORDER_REPLICATE},
    };
    struct ec_error error = {0};
    struct ec_device *device = NULL;
    assert_int_equal(ec_backend_cuda.open(&device, &device_params, NULL, &error), EC_OK);
    for (size_t t = 0; t < sizeof tries / sizeof *tries; t++) {
        for (int height = 63; height < 700; height = 2 * height + 5) {
            struct ec_plan plan;
            struct ec_engine *engine = NULL;
            make_plan(&plan, &tries[t]);
            struct ec_image in = image_open(f->device, 133, height, 8), out = image_open(f->device, 133, height, 8),
                            expected = image_open(f->device, 133, height, 8);
            assert_int_equal(ec_backend_cuda.engine_open(&engine, device, &plan, 133, height, 2, &error), EC_OK);
            for (unsigned round = 0; round < 3; round++) {
                struct ec_job_times times;
                fill_noise(&in, 100 * (unsigned)t + round);
                assert_int_equal(ec_reference_run(&plan, &in, true, &expected, &error), EC_OK);
                const int64_t begin = now_ns();
                assert_int_equal(ec_backend_cuda.submit(engine, &in, true, &out, &error), EC_OK);
                assert_int_equal(ec_backend_cuda.collect(engine, &times, &error), EC_OK);
                assert_memory_equal(out.data, expected.data, image_bytes(&out));
                for (int part = EC_ENGINE_H2D; part <= EC_ENGINE_D2H; part++)
                    check_part(&times, (enum ec_engine_kind)part, begin, now_ns());
            }
            ec_backend_cuda.engine_close(&engine);
            image_close(f->device, &in);
            image_close(f->device, &out);
            image_close(f->device, &expected);
        }
    }
    ec_backend_cuda.close(&device);
}

/* Results of two values leave as bits: the same pixels at every width and depth, in bands too, and nothing past the width. */
static void maps_hold_the_same_pixels(void **state)
{
    const struct fixture *f = *state;
    const struct {
        struct ec_edge_params params;
        int depth_bits;
    } tries[] = {
        {{.threshold = 90}, 8},
        {{.op = EC_OPERATOR_CANNY, .low = 60, .high = 150}, 8},
        {{.op = EC_OPERATOR_PREWITT, .threshold = 120}, 10},
        {{.op = EC_OPERATOR_LAPLACIAN, .threshold = 70, .output_depth_bits = 8}, 12},
    };
    for (size_t t = 0; t < 2 * sizeof tries / sizeof *tries; t++) {
        const struct ec_device_params device_params = {.backend = EC_BACKEND_CUDA, .low_latency = t % 2};
        const int depth = tries[t / 2].depth_bits;
        struct ec_error error = {0};
        struct ec_device *device = NULL;
        assert_int_equal(ec_backend_cuda.open(&device, &device_params, NULL, &error), EC_OK);
        for (int width = 1; width < 600; width = 2 * width + 13) {
            const int height = 150;
            struct ec_engine *engine = NULL;
            struct ec_plan plan;
            assert_int_equal(ec_plan_make(&plan, &tries[t / 2].params, depth, &error), EC_OK);
            assert_true(ec_plan_is_binary(&plan));
            struct ec_image in = image_open(f->device, width, height, depth),
                            out = image_open(f->device, width, height, plan.output_depth_bits),
                            expected = image_open(f->device, width, height, plan.output_depth_bits),
                            bits = image_open(f->device, (int)ec_packed_row_bytes(width), height, 8), map = bits;
            map.width_px = width;
            map.depth_bits = 1;
            fill_noise(&in, (unsigned)(t + (unsigned)width));
            assert_int_equal(ec_reference_run(&plan, &in, false, &expected, &error), EC_OK);
            plan.packed = true;
            assert_int_equal(ec_backend_cuda.engine_open(&engine, device, &plan, width, height, 1, &error), EC_OK);
            memset(bits.data, 0xff, image_bytes(&bits));
            assert_int_equal(ec_backend_cuda.submit(engine, &in, false, &map, &error), EC_OK);
            assert_int_equal(ec_backend_cuda.collect(engine, NULL, &error), EC_OK);
            ec_packed_expand(&map, &out);
            assert_memory_equal(out.data, expected.data, image_bytes(&out));
            for (int y = 0; width % 32 && y < height; y++) {
                uint32_t last;
                memcpy(&last, (char *)map.data + (y + 1) * map.pitch_bytes - 4, sizeof last);
                assert_int_equal(last >> (width % 32), 0);
            }
            ec_backend_cuda.engine_close(&engine);
            image_close(f->device, &in);
            image_close(f->device, &out);
            image_close(f->device, &expected);
            image_close(f->device, &bits);
        }
        ec_backend_cuda.close(&device);
    }
}

static void more_frames_than_lanes_are_refused(void **state)
{
    const struct fixture *f = *state;
    const struct ec_edge_params params = {0};
    struct ec_error error = {0};
    struct ec_engine *engine = NULL;
    struct ec_plan plan;
    make_plan(&plan, &params);
    struct ec_image in = image_open(f->device, 64, 64, 8), out = image_open(f->device, 64, 64, 8);
    fill_noise(&in, 1);
    assert_int_equal(ec_backend_cuda.engine_open(&engine, f->device, &plan, 64, 64, 1, &error), EC_OK);
    assert_int_equal(ec_backend_cuda.collect(engine, NULL, &error), EC_ERROR_ARGUMENT);
    error = (struct ec_error){0};
    assert_int_equal(ec_backend_cuda.submit(engine, &in, false, &out, &error), EC_OK);
    assert_int_equal(ec_backend_cuda.submit(engine, &in, false, &out, &error), EC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "in flight"));
    /* Closed with one frame in flight. */
    ec_backend_cuda.engine_close(&engine);
    image_close(f->device, &in);
    image_close(f->device, &out);
}

static void *alloc_and_free(void *opaque)
{
    struct ec_device *device = opaque;
    for (int i = 0; i < 20; i++) {
        const size_t bytes = (size_t)(i + 1) * 100000;
        unsigned char *memory = ec_backend_cuda.host_alloc(device, bytes);
        if (!memory || (uintptr_t)memory % 4096 != 0)
            return memory;
        memory[0] = memory[bytes - 1] = 1;
        ec_backend_cuda.host_free(device, memory, bytes);
    }
    return device;
}

static void pinned_memory_is_counted(void **state)
{
    const struct fixture *f = *state;
    struct ec_device_info info;
    pthread_t threads[3];
    ec_backend_cuda.describe(f->device, &info);
    const int64_t before = info.pinned_bytes;
    void *memory = ec_backend_cuda.host_alloc(f->device, 1000000);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 4096, 0);
    ec_backend_cuda.describe(f->device, &info);
    assert_int_equal(info.pinned_bytes, before + 1000000);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, alloc_and_free, f->device), 0);
    for (int i = 0; i < 3; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, f->device);
    }
    ec_backend_cuda.host_free(f->device, memory, 1000000);
    ec_backend_cuda.describe(f->device, &info);
    assert_int_equal(info.pinned_bytes, before);
    assert_true(info.name[0] && info.driver[0] && info.bus_ids[0][0]);
}

static void device_memory_running_out_is_a_sentence(void **state)
{
    const struct fixture *f = *state;
    const struct ec_edge_params params = {.blur_sigma = 1};
    struct ec_error error = {0};
    struct ec_engine *engine = NULL;
    struct ec_device_info info;
    struct ec_plan plan;
    size_t free_bytes = 0, total_bytes = 0;
    make_plan(&plan, &params);
    ec_backend_cuda.describe(f->device, &info);
    const int64_t before = info.memory_bytes;
    assert_int_equal(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
    const size_t wanted_bytes = (size_t)EC_LANES_MAX * 5 << 32; /* input, output, row sums of 2 bytes, blurred plane */
    if (free_bytes > wanted_bytes)
        skip();
    assert_int_equal(ec_backend_cuda.engine_open(&engine, f->device, &plan, EC_IMAGE_MAX_SIDE_PX, EC_IMAGE_MAX_SIDE_PX,
                                                 EC_LANES_MAX, &error),
                     EC_ERROR_DEVICE);
    assert_null(engine);
    assert_non_null(strstr(error.text, "too little memory"));
    print_message("%s\n", error.text);
    ec_backend_cuda.describe(f->device, &info);
    assert_int_equal(info.memory_bytes, before);
    /* And the device still works. */
    error = (struct ec_error){0};
    assert_int_equal(ec_backend_cuda.engine_open(&engine, f->device, &plan, 640, 480, 3, &error), EC_OK);
    ec_backend_cuda.engine_close(&engine);
}

static void missing_gpu_is_a_sentence(void **state)
{
    (void)state;
    const struct ec_device_params params = {.backend = EC_BACKEND_CUDA, .gpu = 99};
    struct ec_error error = {0};
    struct ec_device *device = NULL;
    assert_int_equal(ec_backend_cuda.open(&device, &params, NULL, &error), EC_ERROR_DEVICE);
    assert_null(device);
    assert_non_null(strstr(error.text, "GPU 99 is not there"));
}

static void limits_are_measured(void **state)
{
    const struct fixture *f = *state;
    struct ec_error error = {0};
    struct ec_limits limits;
    assert_int_equal(
        ec_backend_cuda.measure(f->device, (size_t)f->width_px * (size_t)f->height_px, EC_MEASURE_ALL, &limits, &error), EC_OK);
    print_message("memcpy %.1f, device copy %.0f, h2d %.1f, d2h %.1f, both %.1f GB/s\n", limits.memcpy_gb_per_s,
                  limits.device_copy_gb_per_s, limits.h2d_gb_per_s, limits.d2h_gb_per_s, limits.both_gb_per_s);
    assert_true(limits.memcpy_gb_per_s > 0 && limits.device_copy_gb_per_s > 0 && limits.h2d_gb_per_s > 0);
    assert_true(limits.d2h_gb_per_s > 0 && limits.both_gb_per_s > 0);
}

int test_engine(struct fixture *fixture)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(frames_come_out_in_order_with_any_number_of_lanes, fixture),
        cmocka_unit_test_prestate(engines_with_different_kernels_do_not_mix, fixture),
        cmocka_unit_test_prestate(bands_give_the_same_bytes, fixture),
        cmocka_unit_test_prestate(maps_hold_the_same_pixels, fixture),
        cmocka_unit_test_prestate(more_frames_than_lanes_are_refused, fixture),
        cmocka_unit_test_prestate(pinned_memory_is_counted, fixture),
        cmocka_unit_test_prestate(device_memory_running_out_is_a_sentence, fixture),
        cmocka_unit_test_prestate(missing_gpu_is_a_sentence, fixture),
        cmocka_unit_test_prestate(limits_are_measured, fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
