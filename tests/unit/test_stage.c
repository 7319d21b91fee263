/* The stage against a backend that fails on demand: order, nothing lost or doubled, the CPU's take-over, the end of a halt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libavutil/buffer.h>

#include "pipeline/stage.h"

enum { WIDTH = 40, HEIGHT = 12, FRAMES = 25, LANES = 3, NEVER = 1000000 };

/* A device that works like the reference, a few calls long. */
struct ec_device {
    int submits_left, collects_left;
    enum ec_status open_status;
};

struct ec_engine {
    struct ec_device *device;
    struct ec_plan plan;
    int in_flight;
};

static enum ec_status fake_engine_open(struct ec_engine **out, struct ec_device *device, const struct ec_plan *plan,
                                       int width_px, int height_px, int lanes, struct ec_error *error)
{
    (void)width_px;
    (void)height_px;
    (void)lanes;
    *out = NULL;
    if (device->open_status != EC_OK)
        return ec_fail(error, device->open_status, "no memory on the device");
    *out = calloc(1, sizeof **out);
    (*out)->device = device;
    (*out)->plan = *plan;
    return EC_OK;
}

static void fake_engine_close(struct ec_engine **engine)
{
    free(*engine);
    *engine = NULL;
}

static enum ec_status fake_submit(struct ec_engine *e, const struct ec_image *in, bool limited_range, struct ec_image *out,
                                  struct ec_error *error)
{
    assert_true(e->in_flight < LANES);
    if (e->device->submits_left-- <= 0)
        return ec_fail(error, EC_ERROR_DEVICE, "the device was lost");
    e->in_flight++;
    return ec_reference_run(&e->plan, in, limited_range, out, error);
}

static enum ec_status fake_collect(struct ec_engine *e, struct ec_job_times *times, struct ec_error *error)
{
    (void)times;
    assert_true(e->in_flight > 0);
    if (e->device->collects_left-- <= 0)
        return ec_fail(error, EC_ERROR_DEVICE, "the device was lost");
    e->in_flight--;
    return EC_OK;
}

static const struct ec_backend fake = {.name = "fake",
                                       .engine_open = fake_engine_open,
                                       .engine_close = fake_engine_close,
                                       .submit = fake_submit,
                                       .collect = fake_collect};

static struct ec_item make_frame(int64_t index)
{
    struct ec_item item = {.kind = EC_ITEM_FRAME, .frame = {.index = index, .owner = av_buffer_alloc(WIDTH * HEIGHT)}};
    uint8_t *p = item.frame.owner->data;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        p[i] = (uint8_t)(i * 31 + index * 17 + (i * i) % 251);
    item.frame.image =
        (struct ec_image){.data = p, .width_px = WIDTH, .height_px = HEIGHT, .pitch_bytes = WIDTH, .depth_bits = 8};
    return item;
}

struct outcome {
    enum ec_status opened, ran;
    int frames;
    const char *backend;
};

static struct outcome run(struct ec_device *device, bool fall_back, bool halted)
{
    struct outcome o = {0};
    struct ec_error error = {0};
    struct ec_plan *plan = malloc(sizeof *plan);
    const struct ec_edge_params edge = {0};
    assert_int_equal(ec_plan_make(plan, &edge, 8, &error), EC_OK);
    struct ec_device *cpu = NULL;
    const struct ec_device_params cpu_params = {.backend = EC_BACKEND_CPU, .threads = 1};
    assert_int_equal(ec_backend_cpu.open(&cpu, &cpu_params, NULL, &error), EC_OK);
    struct ec_pool *results = ec_pool_open(&ec_backend_cpu, cpu);
    struct ec_meters *meters = ec_meters_open();
    atomic_bool halt = halted;
    const struct ec_stage_params params = {.backend = &fake,
                                           .device = device,
                                           .plan = plan,
                                           .width_px = WIDTH,
                                           .height_px = HEIGHT,
                                           .time_base = {1, 25},
                                           .lanes = LANES,
                                           .fall_back = fall_back,
                                           .threads = 1,
                                           .results = results,
                                           .meters = meters,
                                           .halt = &halt};
    struct ec_queue *in = ec_queue_open(FRAMES, 1000, false), *out = ec_queue_open(FRAMES, 1000, false);
    struct ec_stage *stage = NULL;
    o.opened = ec_stage_open(&stage, &params, &error);
    if (o.opened == EC_OK) {
        int64_t wait = 0;
        for (int i = 0; i < FRAMES; i++) {
            struct ec_item item = make_frame(i);
            assert_true(ec_queue_push(in, &item, &wait));
        }
        ec_queue_close_input(in);
        o.ran = ec_stage_run(stage, in, out, &error);
        o.backend = ec_stage_backend(stage);
        struct ec_item item;
        uint8_t expected[WIDTH * HEIGHT];
        while (ec_queue_pop(out, &item, -1, &wait) == EC_QUEUE_OK) {
            assert_int_equal(item.frame.index, o.frames);
            struct ec_item source = make_frame(o.frames);
            struct ec_image want = {
                .data = expected, .width_px = WIDTH, .height_px = HEIGHT, .pitch_bytes = WIDTH, .depth_bits = 8};
            assert_int_equal(ec_reference_run(plan, &source.frame.image, false, &want, &error), EC_OK);
            for (int y = 0; y < HEIGHT; y++)
                assert_memory_equal((uint8_t *)item.frame.image.data + y * item.frame.image.pitch_bytes, expected + y * WIDTH,
                                    WIDTH);
            ec_item_release(&source);
            ec_item_release(&item);
            o.frames++;
        }
    }
    ec_stage_close(&stage);
    ec_queue_free(&in);
    ec_queue_free(&out);
    ec_pool_close(&results);
    ec_meters_free(&meters);
    ec_backend_cpu.close(&cpu);
    free(plan);
    return o;
}

static void all_frames_come_in_order(void **state)
{
    (void)state;
    struct ec_device device = {NEVER, NEVER, EC_OK};
    const struct outcome o = run(&device, false, false);
    assert_int_equal(o.ran, EC_OK);
    assert_int_equal(o.frames, FRAMES);
    assert_string_equal(o.backend, "fake");
}

static void the_cpu_takes_over_at_any_call(void **state)
{
    (void)state;
    for (int calls = 0; calls < FRAMES; calls++)
        for (int in_collect = 0; in_collect < 2; in_collect++) {
            struct ec_device device = {in_collect ? NEVER : calls, in_collect ? calls : NEVER, EC_OK};
            const struct outcome o = run(&device, true, false);
            assert_int_equal(o.ran, EC_OK);
            assert_int_equal(o.frames, FRAMES);
            assert_string_equal(o.backend, "cpu");
        }
}

static void without_fall_back_the_error_ends_the_run(void **state)
{
    (void)state;
    for (int calls = 0; calls < FRAMES; calls += 5) {
        struct ec_device device = {calls, NEVER, EC_OK};
        const struct outcome o = run(&device, false, false);
        assert_int_equal(o.ran, EC_ERROR_DEVICE);
        assert_true(o.frames <= calls);
    }
}

static void a_device_without_memory(void **state)
{
    (void)state;
    struct ec_device device = {NEVER, NEVER, EC_ERROR_DEVICE};
    assert_int_equal(run(&device, false, false).opened, EC_ERROR_DEVICE);
    const struct outcome o = run(&device, true, false);
    assert_int_equal(o.frames, FRAMES);
    assert_string_equal(o.backend, "cpu");
}

static void a_halt_drops_what_was_not_started(void **state)
{
    (void)state;
    struct ec_device device = {NEVER, NEVER, EC_OK};
    const struct outcome o = run(&device, false, true);
    assert_int_equal(o.ran, EC_OK);
    assert_int_equal(o.frames, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_frames_come_in_order),
        cmocka_unit_test(the_cpu_takes_over_at_any_call),
        cmocka_unit_test(without_fall_back_the_error_ends_the_run),
        cmocka_unit_test(a_device_without_memory),
        cmocka_unit_test(a_halt_drops_what_was_not_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
