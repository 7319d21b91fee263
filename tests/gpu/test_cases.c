/* Bytes: the common list of cases with images in host and in device memory, and large frames. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "../unit/cases.h"
#include "fixture.h"

static void every_case_equals_the_definition(void **state)
{
    const struct fixture *f = *state;
    struct ec_case_list list = {0};
    size_t bad = 0;
    assert_true(ec_case_list_open(&list, f->thin));
    for (size_t i = 0; i < list.count; i++)
        bad += !ec_case_run_compare(&ec_backend_cuda, f->device, &list.cases[i], "cuda");
    print_message("%zu cases, %zu bad\n", list.count, bad);
    ec_case_list_close(&list);
    assert_int_equal(bad, 0);
}

/* `image` stands in `block`; the same place in the device's copy of the block. */
static struct ec_image device_twin(const struct ec_image *image, const unsigned char *block, void *d_block)
{
    struct ec_image twin = *image;
    twin.data = (char *)d_block + ((const unsigned char *)image->data - block);
    twin.memory = EC_MEMORY_DEVICE;
    return twin;
}

static enum ec_status run_frame(struct ec_device *device, const struct ec_plan *plan, const struct ec_image *in,
                                bool limited_range, struct ec_image *out, struct ec_error *error)
{
    struct ec_engine *engine = NULL;
    struct ec_job_times times = {0};
    enum ec_status status = ec_backend_cuda.engine_open(&engine, device, plan, in->width_px, in->height_px, 1, error);
    if (status == EC_OK)
        status = ec_backend_cuda.submit(engine, in, limited_range, out, error);
    if (status == EC_OK)
        status = ec_backend_cuda.collect(engine, &times, error);
    ec_backend_cuda.engine_close(&engine);
    assert_int_equal(times.h2d_bytes != 0, status == EC_OK && in->memory == EC_MEMORY_HOST);
    assert_int_equal(times.d2h_bytes != 0, status == EC_OK && out->memory == EC_MEMORY_HOST);
    return status;
}

/* Runs a case with the images that `in_device` and `out_device` say in device memory. */
static bool device_case(struct ec_device *device, const struct ec_case *test, bool in_device, bool out_device)
{
    struct ec_plan plan;
    struct ec_case_images images;
    struct ec_error error = {0};
    void *d_in = NULL, *d_out = NULL;
    if (!ec_case_plan(test, &plan) || !ec_case_images_open(&images, test, &plan))
        return false;
    assert_int_equal(cudaMalloc(&d_in, images.in_bytes), cudaSuccess);
    assert_int_equal(cudaMalloc(&d_out, images.out_bytes), cudaSuccess);
    assert_int_equal(cudaMemcpy(d_in, images.in_block, images.in_bytes, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpy(d_out, images.out_block, images.out_bytes, cudaMemcpyHostToDevice), cudaSuccess);

    const struct ec_image in = in_device ? device_twin(&images.in, images.in_block, d_in) : images.in;
    struct ec_image out = out_device ? device_twin(&images.out, images.out_block, d_out) : images.out;
    bool good = run_frame(device, &plan, &in, test->limited_range, &out, &error) == EC_OK;
    if (!good)
        fprintf(stderr, "%s: %s\n", test->name, error.text);
    if (in_device)
        assert_int_equal(cudaMemcpy(images.in_block, d_in, images.in_bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    if (out_device)
        assert_int_equal(cudaMemcpy(images.out_block, d_out, images.out_bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    good = good && ec_case_images_equal(&images, test, "cuda, device memory");
    assert_int_equal(cudaFree(d_in), cudaSuccess);
    assert_int_equal(cudaFree(d_out), cudaSuccess);
    ec_case_images_close(&images);
    return good;
}

static void device_memory_is_worked_on_in_place(void **state)
{
    const struct fixture *f = *state;
    struct ec_case_list list = {0};
    size_t bad = 0;
    assert_true(ec_case_list_open(&list, 3 * f->thin));
    for (size_t i = 0; i < list.count; i++)
        bad += !device_case(f->device, &list.cases[i], i % 3 != 1, i % 3 != 2);
    print_message("%zu cases, %zu bad\n", list.count, bad);
    ec_case_list_close(&list);
    assert_int_equal(bad, 0);
}

static void make_plan(struct ec_plan *plan, const struct ec_edge_params *params, int depth_bits)
{
    struct ec_error error = {0};
    if (ec_plan_make(plan, params, depth_bits, &error) != EC_OK)
        fail_msg("%s", error.text);
}

/* Equal to the CPU backend, byte by byte. */
static void compare_with_cpu(const struct fixture *f, const struct ec_edge_params *params, int width_px, int height_px,
                             int depth_bits, bool limited_range)
{
    const struct ec_device_params cpu_params = {.backend = EC_BACKEND_CPU};
    struct ec_error error = {0};
    struct ec_device *cpu = NULL;
    struct ec_engine *engine = NULL;
    struct ec_plan plan;
    make_plan(&plan, params, depth_bits);
    struct ec_image in = image_open(f->device, width_px, height_px, depth_bits);
    struct ec_image out = image_open(f->device, width_px, height_px, plan.output_depth_bits);
    struct ec_image expected = image_open(f->device, width_px, height_px, plan.output_depth_bits);
    fill_noise(&in, (unsigned)params->op + 1);
    memset(out.data, 0x5a, image_bytes(&out));
    assert_int_equal(ec_backend_cpu.open(&cpu, &cpu_params, NULL, &error), EC_OK);
    assert_int_equal(ec_backend_cpu.engine_open(&engine, cpu, &plan, width_px, height_px, 1, &error), EC_OK);
    assert_int_equal(ec_backend_cpu.submit(engine, &in, limited_range, &expected, &error), EC_OK);
    assert_int_equal(ec_backend_cpu.collect(engine, NULL, &error), EC_OK);
    ec_backend_cpu.engine_close(&engine);
    ec_backend_cpu.close(&cpu);

    if (run_frame(f->device, &plan, &in, limited_range, &out, &error) != EC_OK)
        fail_msg("%s", error.text);
    if (memcmp(out.data, expected.data, image_bytes(&out)) != 0)
        fail_msg("%s at %dx%d and depth %d differs from the CPU", ec_operator_name(params->op), width_px, height_px,
                 depth_bits);
    image_close(f->device, &in);
    image_close(f->device, &out);
    image_close(f->device, &expected);
}

/* A plane as NVDEC gives it, with noise below the sample, comes out like the same plane with its samples in the low bits. */
static void samples_in_high_bits_count_the_same(void **state)
{
    const struct fixture *f = *state;
    const int width_px = 333, height_px = 61;
    for (int depth_bits = 10; depth_bits <= 12; depth_bits += 2) {
        const struct ec_edge_params params = {0};
        struct ec_error error = {0};
        struct ec_plan plan;
        make_plan(&plan, &params, depth_bits);
        struct ec_image in = image_open(f->device, width_px, height_px, depth_bits);
        struct ec_image out = image_open(f->device, width_px, height_px, depth_bits);
        struct ec_image expected = image_open(f->device, width_px, height_px, depth_bits);
        fill_noise(&in, 77);
        for (size_t i = 0; i < image_bytes(&in) / 2; i++)
            ((uint16_t *)in.data)[i] &= (uint16_t)((1 << depth_bits) - 1);
        assert_int_equal(ec_reference_run(&plan, &in, true, &expected, &error), EC_OK);
        for (size_t i = 0; i < image_bytes(&in) / 2; i++)
            ((uint16_t *)in.data)[i] = (uint16_t)(((uint16_t *)in.data)[i] << (16 - depth_bits) | (i & 3));
        struct ec_image high = in;
        high.memory = EC_MEMORY_DEVICE_HIGH;
        assert_int_equal(cudaMalloc(&high.data, image_bytes(&in)), cudaSuccess);
        assert_int_equal(cudaMemcpy(high.data, in.data, image_bytes(&in), cudaMemcpyHostToDevice), cudaSuccess);
        if (run_frame(f->device, &plan, &high, true, &out, &error) != EC_OK)
            fail_msg("%s", error.text);
        for (int y = 0; y < height_px; y++)
            assert_memory_equal((char *)out.data + y * out.pitch_bytes, (char *)expected.data + y * expected.pitch_bytes,
                                (size_t)width_px * 2);
        assert_int_equal(cudaFree(high.data), cudaSuccess);
        image_close(f->device, &in);
        image_close(f->device, &out);
        image_close(f->device, &expected);
    }
}

static void large_frames_equal_the_cpu(void **state)
{
    static const float weights[25] = {1,   -2, 3,  -4,  5,  6,   -7, 8, -9, 10, 11, -12, 13,
                                      -14, 15, 16, -17, 18, -19, 20, 1, 2,  3,  4,  5};
    static const float fractions[9] = {.1f, .2f, -.3f, .4f, -.5f, .6f, .7f, -.8f, .9f};
    const struct fixture *f = *state;
    for (int op = 0; op < EC_OPERATOR_COUNT; op++) {
        for (int depth_bits = 8; depth_bits <= 16; depth_bits += op % 2 ? 8 : 4) {
            struct ec_edge_params params = {.op = (enum ec_operator)op, .norm = op % 2 ? EC_NORM_L1 : EC_NORM_L2};
            if (params.op == EC_OPERATOR_CONVOLUTION)
                params.kernel = depth_bits == 8 ? (struct ec_kernel){5, weights, 7} : (struct ec_kernel){3, fractions, 0};
            compare_with_cpu(f, &params, f->width_px, f->height_px, depth_bits, depth_bits == 12);
        }
    }
    /* At these depths noise has lengths of every size up to the largest pixel. */
    for (int depth_bits = 9; depth_bits <= 10; depth_bits++)
        for (int op = EC_OPERATOR_SOBEL; op <= EC_OPERATOR_PREWITT; op++) {
            const struct ec_edge_params params = {.op = (enum ec_operator)op, .threshold = depth_bits == 9 ? 100 : 0};
            compare_with_cpu(f, &params, f->width_px, f->height_px, depth_bits, op == EC_OPERATOR_PREWITT);
        }
    const struct ec_edge_params l1 = {.norm = EC_NORM_L1}, blurred = {.aperture = 7, .blur_sigma = 2.5};
    compare_with_cpu(f, &l1, f->width_px, f->height_px, 8, true);
    compare_with_cpu(f, &blurred, f->width_px - 1, f->height_px - 1, 8, false);
}

static void longest_sides_equal_the_cpu(void **state)
{
    const struct fixture *f = *state;
    const struct ec_edge_params sobel = {0}, blurred = {.op = EC_OPERATOR_LOG, .blur_sigma = 32};
    compare_with_cpu(f, &sobel, EC_IMAGE_MAX_SIDE_PX, 3, 8, false);
    compare_with_cpu(f, &sobel, 3, EC_IMAGE_MAX_SIDE_PX, 8, false);
    compare_with_cpu(f, &sobel, 1, EC_IMAGE_MAX_SIDE_PX, 16, false);
    if (f->width_px < 3840)
        return;
    compare_with_cpu(f, &blurred, EC_IMAGE_MAX_SIDE_PX, 2, 16, false);
    compare_with_cpu(f, &sobel, 16000, 9000, 8, false);
}

int test_cases(struct fixture *fixture)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_case_equals_the_definition, fixture),
        cmocka_unit_test_prestate(device_memory_is_worked_on_in_place, fixture),
        cmocka_unit_test_prestate(samples_in_high_bits_count_the_same, fixture),
        cmocka_unit_test_prestate(large_frames_equal_the_cpu, fixture),
        cmocka_unit_test_prestate(longest_sides_equal_the_cpu, fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
