/* Results in an encoder's frames. */
#include <cuda_runtime_api.h>
#include <libavutil/hwcontext.h>

#include "fixture.h"

#define WIDTH 322
#define HEIGHT 124
#define LANES 3
#define FRAMES 8

static int64_t memory_bytes(struct ec_device *device)
{
    struct ec_device_info info;
    ec_backend_cuda.describe(device, &info);
    return info.memory_bytes;
}

/* Luma is `expected`, chroma is neutral. */
static void check_surface(const AVFrame *surface, const struct ec_image *expected)
{
    const size_t pitch = (size_t)surface->linesize[0], bytes = pitch * HEIGHT * 3 / 2;
    uint8_t *copy = malloc(bytes);
    assert_non_null(copy);
    assert_int_equal(surface->linesize[1], surface->linesize[0]);
    assert_ptr_equal(surface->data[1], surface->data[0] + pitch * HEIGHT);
    assert_int_equal(cudaMemcpy(copy, surface->data[0], bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int y = 0; y < HEIGHT; y++)
        assert_memory_equal(copy + y * pitch, (const uint8_t *)expected->data + y * expected->pitch_bytes, WIDTH);
    for (size_t y = HEIGHT; y < HEIGHT * 3 / 2; y++)
        for (size_t x = 0; x < WIDTH; x++)
            assert_int_equal(copy[y * pitch + x], 128);
    free(copy);
}

static void run_operator(const struct fixture *f, AVBufferRef *surfaces, enum ec_operator op)
{
    const struct ec_edge_params params = {.op = op};
    struct ec_error error = {0};
    struct ec_plan plan;
    struct ec_engine *engine = NULL;
    struct ec_image in[FRAMES], expected = image_open(f->device, WIDTH, HEIGHT, 8);
    AVFrame *taken[FRAMES];
    assert_int_equal(ec_plan_make(&plan, &params, 8, &error), EC_OK);
    plan.packed = op == EC_OPERATOR_CANNY; /* as the stage has it, for results that come to the host */
    assert_int_equal(ec_backend_cuda.engine_open(&engine, f->device, &plan, WIDTH, HEIGHT, LANES, &error), EC_OK);
    for (int i = 0; i < FRAMES + LANES; i++) {
        if (i >= LANES) {
            struct ec_job_times times;
            assert_int_equal(ec_backend_cuda.collect(engine, &times, &error), EC_OK);
            assert_int_equal(times.d2h_bytes, 0);
            assert_int_equal(ec_reference_run(&plan, &in[i - LANES], false, &expected, &error), EC_OK);
            check_surface(taken[i - LANES], &expected);
        }
        if (i < FRAMES) {
            in[i] = image_open(f->device, WIDTH, HEIGHT, 8);
            fill_noise(&in[i], (unsigned)i);
            taken[i] = av_frame_alloc();
            assert_int_equal(av_hwframe_get_buffer(surfaces, taken[i], 0), 0);
            struct ec_image out = {.data = taken[i]->data[0],
                                   .width_px = WIDTH,
                                   .height_px = HEIGHT,
                                   .pitch_bytes = taken[i]->linesize[0],
                                   .depth_bits = 8,
                                   .memory = EC_MEMORY_DEVICE};
            assert_int_equal(ec_backend_cuda.submit(engine, &in[i], false, &out, &error), EC_OK);
        }
    }
    ec_backend_cuda.engine_close(&engine);
    for (int i = 0; i < FRAMES; i++) {
        image_close(f->device, &in[i]);
        av_frame_free(&taken[i]);
    }
    image_close(f->device, &expected);
}

/* More of them than were asked for at first, and again the same ones with another operator. */
static void results_stay_in_surfaces(void **state)
{
    const struct fixture *f = *state;
    struct ec_error error = {0};
    const int64_t before = memory_bytes(f->device);
    AVBufferRef *surfaces = ec_backend_cuda.encode_surfaces(f->device, WIDTH, HEIGHT, 2, &error);
    if (!surfaces) {
        print_message("%s\n", error.text);
        skip();
    }
    run_operator(f, surfaces, EC_OPERATOR_SOBEL);
    run_operator(f, surfaces, EC_OPERATOR_CANNY);
    assert_true(memory_bytes(f->device) >= before + (int64_t)FRAMES * WIDTH * HEIGHT * 3 / 2);
    av_buffer_unref(&surfaces);
    assert_int_equal(memory_bytes(f->device), before);
}

int test_surface(struct fixture *fixture)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(results_stay_in_surfaces, fixture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
