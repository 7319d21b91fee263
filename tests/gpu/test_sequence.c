/* Detectors that look back in time: with any number of frames in flight the bytes and thresholds of the CPU backend. */
#include <string.h>

#include "edgecam/pipeline.h"
#include "fixture.h"

#define FRAMES 14
#define CUT 8 /* a scene begins here */

struct film {
    struct ec_device *device, *cpu;
    struct ec_image in[FRAMES], out[FRAMES], expected[FRAMES];
    struct ec_job_times times[FRAMES];
};

/* Steps of light, which may flicker, in which a bright square moves, with noise; the second scene is another one, and darker.
 */
static void draw_frame(struct ec_image *image, int frame, bool flickers)
{
    const uint32_t max = (1u << image->depth_bits) - 1;
    const int scene = frame >= CUT, square_x = 7 * frame, square_y = 3 * frame;
    fill_noise(image, (unsigned)frame + 3);
    for (int y = 0; y < image->height_px; y++)
        for (int x = 0; x < image->width_px; x++) {
            void *pixel = (char *)image->data + y * image->pitch_bytes + (ptrdiff_t)x * (image->depth_bits > 8 ? 2 : 1);
            const uint32_t noise = image->depth_bits == 8 ? *(uint8_t *)pixel : *(uint16_t *)pixel;
            const bool in_square = x >= square_x && x < square_x + 40 && y >= square_y && y < square_y + 30;
            const uint32_t steps =
                scene ? (uint32_t)(x / 21 * 5 + y / 13 * 7) % 29 : (uint32_t)(x / 16 * 11 + y / 24 * 17) % 113;
            const uint32_t still = (steps + (in_square ? 60 : 30)) * (8 + (flickers ? (uint32_t)frame * 3 % 5 : 3)) / 12;
            const uint32_t light = still * (max / 255) + noise % (max / 255 * 16);
            if (image->depth_bits == 8)
                *(uint8_t *)pixel = (uint8_t)light;
            else
                *(uint16_t *)pixel = (uint16_t)light;
        }
}

static void film_open(struct film *film, const struct fixture *fixture, int depth_bits, int channels, bool flickers)
{
    struct ec_device *device = fixture->device;
    const int width_px = fixture->width_px / 3, height_px = fixture->height_px / 3;
    const struct ec_device_params cpu_params = {.backend = EC_BACKEND_CPU, .threads = 3};
    struct ec_error error = {0};
    film->device = device;
    assert_int_equal(ec_backend_cpu.open(&film->cpu, &cpu_params, NULL, &error), EC_OK);
    for (int i = 0; i < FRAMES; i++) {
        struct ec_image *in = &film->in[i];
        *in = image_open(device, width_px, height_px * channels, depth_bits);
        for (int c = 0; c < channels; c++) {
            struct ec_image plane = *in;
            plane.height_px = height_px;
            plane.data = (char *)in->data + c * height_px * in->pitch_bytes;
            draw_frame(&plane, channels == 1 ? i : i + c, flickers);
        }
        in->height_px = height_px;
        in->plane_bytes = channels > 1 ? height_px * in->pitch_bytes : 0;
        in->time_ns = i < 5 ? i * 33000000 : i * 50000000;
        film->out[i] = image_open(device, width_px, height_px, depth_bits);
        film->expected[i] = image_open(device, width_px, height_px, depth_bits);
    }
}

static void film_close(struct film *film)
{
    for (int i = 0; i < FRAMES; i++) {
        film->in[i].height_px *= film->in[i].plane_bytes ? EC_CHANNELS_MAX : 1;
        image_close(film->device, &film->in[i]);
        image_close(film->device, &film->out[i]);
        image_close(film->device, &film->expected[i]);
    }
    ec_backend_cpu.close(&film->cpu);
}

static void run(struct film *film, const struct ec_backend *backend, struct ec_device *device, const struct ec_plan *plan,
                struct ec_image *out, int lanes)
{
    struct ec_error error = {0};
    struct ec_engine *engine = NULL;
    assert_int_equal(backend->engine_open(&engine, device, plan, film->in[0].width_px, film->in[0].height_px, lanes, &error),
                     EC_OK);
    for (int i = 0; i < FRAMES + lanes; i++) {
        if (i >= lanes && backend->collect(engine, &film->times[i - lanes], &error) != EC_OK)
            fail_msg("%s", error.text);
        if (i < FRAMES && backend->submit(engine, &film->in[i], i % 5 == 4, &out[i], &error) != EC_OK)
            fail_msg("%s", error.text);
    }
    backend->engine_close(&engine);
}

/* The film must be one in which looking back changes something. */
static void compare(struct film *film, const struct ec_edge_params *params, const char *name)
{
    struct ec_error error = {0};
    struct ec_plan plan;
    struct ec_job_times wanted[FRAMES];
    if (ec_plan_make(&plan, params, film->in[0].depth_bits, &error) != EC_OK)
        fail_msg("%s: %s", name, error.text);
    run(film, &ec_backend_cpu, film->cpu, &plan, film->expected, 1);
    memcpy(wanted, film->times, sizeof wanted);
    int differ = 0;
    for (int i = 1; i < FRAMES; i++) {
        struct ec_image alone = film->out[i];
        assert_int_equal(ec_reference_run(&plan, &film->in[i], i % 5 == 4, &alone, &error), EC_OK);
        differ += memcmp(alone.data, film->expected[i].data, image_bytes(&alone)) != 0;
    }
    if (differ < FRAMES / 4)
        fail_msg("%s: the frames do not depend on each other", name);
    for (int lanes = 1; lanes <= 4; lanes += 3) {
        for (int i = 0; i < FRAMES; i++)
            memset(film->out[i].data, 0x5a, image_bytes(&film->out[i]));
        run(film, &ec_backend_cuda, film->device, &plan, film->out, lanes);
        for (int i = 0; i < FRAMES; i++) {
            if (memcmp(film->out[i].data, film->expected[i].data, image_bytes(&film->out[i])) != 0)
                fail_msg("%s: frame %d with %d lanes differs from the CPU", name, i, lanes);
            assert_int_equal(film->times[i].has_thresholds, wanted[i].has_thresholds);
            assert_true(film->times[i].low == wanted[i].low && film->times[i].high == wanted[i].high);
        }
    }
}

static void automatic_thresholds_follow_in_order(void **state)
{
    const struct fixture *f = *state;
    for (int t = 0; t < 6; t++) {
        const struct ec_edge_params params = {.op = EC_OPERATOR_CANNY,
                                              .norm = (enum ec_norm)(t % 2),
                                              .aperture = t == 4 ? 7 : 3,
                                              .blur_sigma = t == 3 ? 1.2 : 0,
                                              .channels = t == 5 ? EC_CHANNELS_RGB : EC_CHANNELS_LUMA,
                                              .automatic = (enum ec_auto)(EC_AUTO_MEDIAN + t % 3)};
        struct film film = {0};
        film_open(&film, f, t == 1 ? 10 : 8, t == 5 ? EC_CHANNELS_MAX : 1, true);
        compare(&film, &params, "automatic");
        film_close(&film);
    }
}

static void kept_edges_pass_on_in_order(void **state)
{
    const struct fixture *f = *state;
    for (int t = 0; t < 5; t++) {
        const struct ec_edge_params params = {.op = EC_OPERATOR_CANNY,
                                              .norm = (enum ec_norm)(t % 2),
                                              .aperture = t == 3 ? 5 : 3,
                                              .blur_sigma = t == 1 ? 1.2 : 0,
                                              .channels = t == 4 ? EC_CHANNELS_RGB : EC_CHANNELS_LUMA,
                                              .automatic = t == 1 ? EC_AUTO_OTSU : EC_AUTO_OFF,
                                              .has_low = t != 1,
                                              .has_high = t != 1,
                                              .low = t == 3 ? 500 : 60,
                                              .high = t == 3 ? 1000 : 120,
                                              .stable = t == 2 ? 1 : 0.3};
        struct film film = {0};
        film_open(&film, f, t >= 2 && t < 4 ? 12 : 8, t == 4 ? EC_CHANNELS_MAX : 1, false);
        compare(&film, &params, "stable");
        film_close(&film);
    }
}

int test_sequence(struct fixture *fixture)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(automatic_thresholds_follow_in_order, fixture),
                                       cmocka_unit_test_prestate(kept_edges_pass_on_in_order, fixture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
