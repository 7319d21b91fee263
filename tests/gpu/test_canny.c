/* Canny on contours that run through many tiles, and many times over. */
#include <string.h>

#include "fixture.h"

#define THICKNESS 3
#define STEP 10

enum course { COURSE_ROWS, COURSE_COLUMNS, COURSE_COUNT };

struct pictures {
    struct ec_device *device, *cpu;
    struct ec_image in, out, expected;
};

static void open_pictures(struct pictures *p, struct ec_device *device, int width_px, int height_px)
{
    const struct ec_device_params cpu_params = {.backend = EC_BACKEND_CPU};
    struct ec_error error = {0};
    p->device = device;
    p->in = image_open(device, width_px, height_px, 8);
    p->out = image_open(device, width_px, height_px, 8);
    p->expected = image_open(device, width_px, height_px, 8);
    assert_int_equal(ec_backend_cpu.open(&p->cpu, &cpu_params, NULL, &error), EC_OK);
}

static void close_pictures(struct pictures *p)
{
    ec_backend_cpu.close(&p->cpu);
    image_close(p->device, &p->in);
    image_close(p->device, &p->out);
    image_close(p->device, &p->expected);
}

static void run(const struct ec_backend *backend, struct ec_device *device, const struct ec_plan *plan,
                const struct ec_image *in, struct ec_image *out, int times)
{
    struct ec_error error = {0};
    struct ec_engine *engine = NULL;
    if (backend->engine_open(&engine, device, plan, in->width_px, in->height_px, 1, &error) != EC_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < times; i++)
        if (backend->submit(engine, in, false, out, &error) != EC_OK || backend->collect(engine, NULL, &error) != EC_OK)
            fail_msg("%s", error.text);
    backend->engine_close(&engine);
}

/* A dark square of THICKNESS pixels; `along` the lines and `across` them. */
static void dab(struct ec_image *image, enum course course, int along, int across, uint8_t value)
{
    for (int j = across; j < across + THICKNESS; j++)
        for (int i = along; i < along + THICKNESS; i++) {
            const int x = course == COURSE_ROWS ? i : j, y = course == COURSE_ROWS ? j : i;
            if (x < image->width_px && y < image->height_px)
                ((uint8_t *)image->data)[y * image->pitch_bytes + x] = value;
        }
}

/* One line through the whole image that turns at the borders, and is darker where it begins. */
static void draw_course(struct ec_image *image, enum course course)
{
    const int length = course == COURSE_ROWS ? image->width_px : image->height_px;
    const int breadth = course == COURSE_ROWS ? image->height_px : image->width_px;
    const int first = 4, last = length - 5 - THICKNESS;
    memset(image->data, 128, image_bytes(image));
    for (int k = 0; k * STEP < breadth; k++) {
        for (int i = first; i <= last; i++)
            dab(image, course, i, k * STEP + 4, 96);
        for (int j = 0; j < STEP; j++)
            dab(image, course, k % 2 ? first : last, k * STEP + 4 + j, 96);
    }
    for (int i = first; i < first + 4; i++)
        dab(image, course, i, 4, 0);
}

static size_t count_white(const struct ec_image *image)
{
    size_t white = 0;
    for (size_t i = 0; i < image_bytes(image); i++)
        white += ((const uint8_t *)image->data)[i] == 255;
    return white;
}

static void long_contours_are_followed(void **state)
{
    const struct fixture *f = *state;
    const int sizes[][2] = {{200, 90}, {65, 300}, {f->width_px, f->height_px}};
    /* The blur rounds the turns, at which thin contours would break. */
    const struct ec_edge_params params = {.op = EC_OPERATOR_CANNY,
                                          .norm = EC_NORM_L1,
                                          .blur_sigma = 1.4,
                                          .low = 10,
                                          .high = 150,
                                          .has_low = true,
                                          .has_high = true};
    struct ec_error error = {0};
    struct ec_plan plan;
    assert_int_equal(ec_plan_make(&plan, &params, 8, &error), EC_OK);
    for (int s = 0; s < 3; s++) {
        struct pictures p = {0};
        open_pictures(&p, f->device, sizes[s][0], sizes[s][1]);
        for (int course = 0; course < COURSE_COUNT; course++) {
            draw_course(&p.in, (enum course)course);
            run(&ec_backend_cpu, p.cpu, &plan, &p.in, &p.expected, 1);
            run(&ec_backend_cuda, f->device, &plan, &p.in, &p.out, 1);
            assert_true(count_white(&p.expected) > image_bytes(&p.in) / 8);
            if (memcmp(p.out.data, p.expected.data, image_bytes(&p.out)) != 0)
                fail_msg("course %d at %dx%d differs from the CPU", course, sizes[s][0], sizes[s][1]);
        }
        close_pictures(&p);
    }
}

/* On noise with low thresholds every tile and every run depends on its neighbours. */
static void every_run_gives_the_same_bytes(void **state)
{
    const struct fixture *f = *state;
    const double thresholds[][2] = {{100, 200}, {300, 900}, {200, 1250}};
    struct pictures p = {0};
    struct ec_error error = {0};
    open_pictures(&p, f->device, f->width_px, f->height_px);
    fill_noise(&p.in, 5);
    for (int t = 0; t < 3; t++) {
        const struct ec_edge_params params = {.op = EC_OPERATOR_CANNY,
                                              .norm = EC_NORM_L1,
                                              .low = thresholds[t][0],
                                              .high = thresholds[t][1],
                                              .has_low = true,
                                              .has_high = true};
        struct ec_plan plan;
        assert_int_equal(ec_plan_make(&plan, &params, 8, &error), EC_OK);
        run(&ec_backend_cpu, p.cpu, &plan, &p.in, &p.expected, 1);
        for (int i = 0; i < f->runs; i++) {
            run(&ec_backend_cuda, f->device, &plan, &p.in, &p.out, 1);
            if (memcmp(p.out.data, p.expected.data, image_bytes(&p.out)) != 0)
                fail_msg("run %d with thresholds %g and %g differs from the CPU", i, params.low, params.high);
        }
    }
    close_pictures(&p);
}

int test_canny(struct fixture *fixture)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(long_contours_are_followed, fixture),
        cmocka_unit_test_prestate(every_run_gives_the_same_bytes, fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
