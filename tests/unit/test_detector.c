/* The public calls: what they refuse, that a refusal touches nothing, and that one detector takes sizes and depths in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "edge/backend.h"
#include "edgecam/edge.h"

struct log {
    int errors;
    char text[512];
};

static void keep(void *opaque, enum ec_log_level level, const char *text)
{
    struct log *log = opaque;
    if (level != EC_LOG_ERROR)
        return;
    log->errors++;
    strncpy(log->text, text, sizeof log->text - 1);
}

static const struct ec_device_params on_cpu = {.backend = EC_BACKEND_CPU, .threads = 2};

static struct ec_edge *open_sobel(struct log *log, int output_depth_bits)
{
    const struct ec_edge_params params = {.output_depth_bits = output_depth_bits, .logger = {keep, log}};
    struct ec_edge *edge = NULL;
    assert_int_equal(ec_edge_open(&edge, &params, &on_cpu), EC_OK);
    return edge;
}

static void opening_checks_parameters(void **state)
{
    (void)state;
    struct log log = {0};
    struct ec_edge_params params = {.aperture = 4, .logger = {keep, &log}};
    struct ec_edge *edge = (struct ec_edge *)&log;
    assert_int_equal(ec_edge_open(&edge, &params, NULL), EC_ERROR_ARGUMENT);
    assert_null(edge);
    assert_int_equal(log.errors, 1);
    assert_non_null(strstr(log.text, "aperture 4"));
    assert_int_equal(ec_edge_open(&edge, NULL, NULL), EC_ERROR_ARGUMENT);
    assert_int_equal(ec_edge_open(NULL, &params, NULL), EC_ERROR_ARGUMENT);

    params.aperture = 0;
    const struct ec_device_params many = {.backend = EC_BACKEND_CPU, .threads = 100000};
    assert_int_equal(ec_edge_open(&edge, &params, &many), EC_ERROR_ARGUMENT);
    const struct ec_device_params unknown = {.backend = (enum ec_backend_kind)7};
    assert_int_equal(ec_edge_open(&edge, &params, &unknown), EC_ERROR_ARGUMENT);
    assert_null(edge);
    ec_edge_close(&edge);
    ec_edge_close(NULL);
    assert_null(ec_edge_backend(NULL));
}

#define SIDE 16
static uint16_t pixels_in[SIDE * SIDE], pixels_out[SIDE * SIDE];

static void bad_images_are_refused(void **state)
{
    (void)state;
    const struct ec_image in = {.data = pixels_in, .width_px = 8, .height_px = 8, .pitch_bytes = 16, .depth_bits = 10};
    const struct ec_image out = {.data = pixels_out, .width_px = 8, .height_px = 8, .pitch_bytes = 16, .depth_bits = 10};
    enum change {
        DATA,
        WIDTH,
        WIDTH_HUGE,
        HEIGHT,
        HEIGHT_HUGE,
        PITCH_SMALL,
        PITCH_NEGATIVE,
        PITCH_HUGE,
        PITCH_ODD,
        ADDRESS_ODD,
        PLANES_NEGATIVE,
        PLANES_HUGE,
        PLANES_ODD,
        DEPTH_LOW,
        DEPTH_HIGH,
        MEMORY,
        DEVICE,
        CHANGES
    };
    static const char *const words[CHANGES] = {"no data",
                                               "0x8",
                                               "65537x8",
                                               "8x0",
                                               "8x65537",
                                               "pitch of 8",
                                               "pitch of -16",
                                               "address space",
                                               "odd",
                                               "odd",
                                               "planes -2 bytes",
                                               "address space",
                                               "planes are 129 bytes",
                                               "depth of 7",
                                               "depth of 17",
                                               "kind 5",
                                               "device memory"};
    struct log log = {0};
    struct ec_edge *edge = open_sobel(&log, 0);
    memset(pixels_out, 0x11, sizeof pixels_out);
    for (int which = 0; which < 2; which++) {
        for (int change = 0; change < CHANGES; change++) {
            struct ec_image images[2] = {in, out};
            struct ec_image *image = &images[which];
            switch ((enum change)change) {
            case DATA:
                image->data = NULL;
                break;
            case WIDTH:
                image->width_px = 0;
                break;
            case WIDTH_HUGE:
                image->width_px = 65537;
                break;
            case HEIGHT:
                image->height_px = 0;
                break;
            case HEIGHT_HUGE:
                image->height_px = 65537;
                break;
            case PITCH_SMALL:
                image->pitch_bytes = 8;
                break;
            case PITCH_NEGATIVE:
                image->pitch_bytes = -16;
                break;
            case PITCH_HUGE:
                image->pitch_bytes = PTRDIFF_MAX / 4;
                break;
            case PITCH_ODD:
                image->pitch_bytes = 17;
                break;
            case ADDRESS_ODD:
                image->data = (unsigned char *)image->data + 1;
                break;
            case PLANES_NEGATIVE:
                image->plane_bytes = -2;
                break;
            case PLANES_HUGE:
                image->plane_bytes = PTRDIFF_MAX - 1;
                break;
            case PLANES_ODD:
                image->plane_bytes = 129;
                break;
            case DEPTH_LOW:
                image->depth_bits = 7;
                break;
            case DEPTH_HIGH:
                image->depth_bits = 17;
                break;
            case MEMORY:
                image->memory = (enum ec_memory)5;
                break;
            case DEVICE:
                image->memory = EC_MEMORY_DEVICE;
                break;
            case CHANGES:
                break;
            }
            const int errors = log.errors;
            assert_int_equal(ec_edge_run(edge, &images[0], &images[1]), EC_ERROR_ARGUMENT);
            assert_int_equal(log.errors, errors + 1);
            if (!strstr(log.text, words[change]) || !strstr(log.text, which ? "output" : "input"))
                fail_msg("'%s' does not say '%s'", log.text, words[change]);
        }
    }
    struct ec_image other = out;
    other.width_px = 7;
    assert_int_equal(ec_edge_run(edge, &in, &other), EC_ERROR_ARGUMENT);
    other = out;
    other.depth_bits = 12;
    assert_int_equal(ec_edge_run(edge, &in, &other), EC_ERROR_ARGUMENT);
    assert_int_equal(ec_edge_run(edge, NULL, &other), EC_ERROR_ARGUMENT);
    assert_int_equal(ec_edge_run(edge, &in, NULL), EC_ERROR_ARGUMENT);
    assert_int_equal(ec_edge_run(NULL, &in, &other), EC_ERROR_ARGUMENT);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        assert_int_equal(pixels_out[i], 0x1111);
    ec_edge_close(&edge);
    assert_null(edge);

    edge = open_sobel(&log, 8);
    other = out;
    assert_int_equal(ec_edge_run(edge, &in, &other), EC_ERROR_ARGUMENT);
    other.depth_bits = 8;
    assert_int_equal(ec_edge_run(edge, &in, &other), EC_OK);
    ec_edge_close(&edge);
}

static void overlap_is_found(void **state)
{
    (void)state;
    struct log log = {0};
    struct ec_edge *edge = open_sobel(&log, 0);
    uint8_t *bytes = (uint8_t *)pixels_in; /* 512 bytes as rows of 32: two images of 16x16 side by side */
    static const struct {
        int in_at, out_at, in_pitch, out_pitch;
        enum ec_status status;
    } places[] = {
        {0, 0, 32, 32, EC_ERROR_ARGUMENT},
        {0, 16, 32, 32, EC_OK},
        {16, 0, 32, 32, EC_OK},
        {0, 15, 32, 32, EC_ERROR_ARGUMENT},
        {16, 31, 32, 32, EC_ERROR_ARGUMENT},
        {0, 239, 16, 16, EC_ERROR_ARGUMENT},
        {0, 240, 16, 16, EC_OK},
        {240, 0, 16, 16, EC_OK},
        {0, 16, 32, 16, EC_ERROR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct ec_image in = {.data = bytes + places[i].in_at,
                                    .width_px = 16,
                                    .height_px = 15,
                                    .pitch_bytes = places[i].in_pitch,
                                    .depth_bits = 8};
        struct ec_image out = {.data = bytes + places[i].out_at,
                               .width_px = 16,
                               .height_px = 15,
                               .pitch_bytes = places[i].out_pitch,
                               .depth_bits = 8};
        assert_int_equal(ec_edge_run(edge, &in, &out), places[i].status);
    }
    ec_edge_close(&edge);
}

/* Of three planes no one may share a pixel with the output, and planes may lie between the rows of each other. */
static void every_plane_is_compared(void **state)
{
    (void)state;
    static const struct {
        int out_at;
        enum ec_status status;
    } places[] = {
        {0, EC_ERROR_ARGUMENT}, {8, EC_ERROR_ARGUMENT}, {16, EC_ERROR_ARGUMENT}, {23, EC_ERROR_ARGUMENT}, {24, EC_OK}};
    uint8_t *bytes = (uint8_t *)pixels_in; /* rows of 32: four images of 8x16 side by side */
    struct log log = {0};
    const struct ec_edge_params params = {
        .op = EC_OPERATOR_CANNY, .channels = EC_CHANNELS_RGB, .logger = {.message = keep, .opaque = &log}};
    struct ec_edge *edge = NULL;
    assert_int_equal(ec_edge_open(&edge, &params, &on_cpu), EC_OK);
    const struct ec_image in = {
        .data = bytes, .width_px = 8, .height_px = 16, .pitch_bytes = 32, .depth_bits = 8, .plane_bytes = 8};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct ec_image out = {
            .data = bytes + places[i].out_at, .width_px = 8, .height_px = 16, .pitch_bytes = 32, .depth_bits = 8};
        assert_int_equal(ec_edge_run(edge, &in, &out), places[i].status);
    }
    ec_edge_close(&edge);
}

static void sizes_and_depths_change_from_call_to_call(void **state)
{
    (void)state;
    struct log log = {0};
    struct ec_edge *edge = open_sobel(&log, 0);
    assert_string_equal(ec_edge_backend(edge), "cpu");
    for (size_t i = 0; i < SIDE * SIDE; i++)
        pixels_in[i] = (uint16_t)(i * 40503u >> 3);
    static uint16_t expected[SIDE * SIDE];
    for (int round = 0; round < 60; round++) {
        const int depth = round % 3 ? 8 + round % 9 : 8, out_depth = round % 2 ? 8 : depth;
        const struct ec_image in = {
            .data = pixels_in, .width_px = 1 + round % 16, .height_px = 1 + round / 4, .pitch_bytes = 32, .depth_bits = depth};
        struct ec_image out = {.data = pixels_out,
                               .width_px = 1 + round % 16,
                               .height_px = 1 + round / 4,
                               .pitch_bytes = 32,
                               .depth_bits = out_depth};
        struct ec_image wanted = out;
        wanted.data = expected;
        memset(pixels_out, 0, sizeof pixels_out);
        memset(expected, 0, sizeof expected);
        const struct ec_edge_params params = {.output_depth_bits = out_depth == 8 ? 8 : 0};
        struct ec_plan plan;
        assert_int_equal(ec_plan_make(&plan, &params, depth, NULL), EC_OK);
        assert_int_equal(ec_reference_run(&plan, &in, false, &wanted, NULL), EC_OK);
        assert_int_equal(ec_edge_run(edge, &in, &out), EC_OK);
        assert_memory_equal(pixels_out, expected, sizeof expected);
    }
    assert_int_equal(log.errors, 0);
    ec_edge_close(&edge);
}

/* The caller's kernel may change or go after ec_edge_open. */
static void kernels_are_copied(void **state)
{
    (void)state;
    float weights[9] = {0, 0, 0, 0, 2, 0, 0, 0, 0};
    const struct ec_edge_params params = {.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, weights, 0}};
    struct ec_edge *edge = NULL;
    assert_int_equal(ec_edge_open(&edge, &params, &on_cpu), EC_OK);
    memset(weights, 0, sizeof weights);
    uint8_t in_pixel = 50, out_pixel = 0;
    const struct ec_image in = {.data = &in_pixel, .width_px = 1, .height_px = 1, .pitch_bytes = 1, .depth_bits = 8};
    struct ec_image out = {.data = &out_pixel, .width_px = 1, .height_px = 1, .pitch_bytes = 1, .depth_bits = 8};
    assert_int_equal(ec_edge_run(edge, &in, &out), EC_OK);
    assert_int_equal(out_pixel, 100);
    ec_edge_close(&edge);
}

static void host_memory_is_aligned(void **state)
{
    (void)state;
    struct ec_device *device = NULL;
    assert_int_equal(ec_backend_cpu.open(&device, &on_cpu, NULL, NULL), EC_OK);
    static const size_t sizes[] = {0, 1, 4096, 5000, (size_t)2 << 20, ((size_t)8 << 20) + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *memory = ec_backend_cpu.host_alloc(device, sizes[i]);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 4096, 0);
        memset(memory, 1, sizes[i]);
        ec_backend_cpu.host_free(device, memory, sizes[i]);
    }
    assert_null(ec_backend_cpu.host_alloc(device, SIZE_MAX));
    assert_null(ec_backend_cpu.host_alloc(device, SIZE_MAX - 5000));

    struct ec_device_info info;
    ec_backend_cpu.describe(device, &info);
    assert_non_null(strstr(info.name, "2 threads"));
    assert_int_equal(info.pinned_bytes, -1);
    struct ec_limits limits;
    assert_int_equal(ec_backend_cpu.measure(device, (size_t)1 << 20, EC_MEASURE_ALL, &limits, NULL), EC_OK);
    assert_true(limits.memcpy_gb_per_s > 0);
    assert_true(limits.h2d_gb_per_s != limits.h2d_gb_per_s);
    ec_backend_cpu.close(&device);
    assert_null(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_checks_parameters),
        cmocka_unit_test(bad_images_are_refused),
        cmocka_unit_test(overlap_is_found),
        cmocka_unit_test(every_plane_is_compared),
        cmocka_unit_test(sizes_and_depths_change_from_call_to_call),
        cmocka_unit_test(kernels_are_copied),
        cmocka_unit_test(host_memory_is_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
