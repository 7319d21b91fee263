/* Every CUDA call of a run fails in turn, once or for good: the run ends with one sentence and the right status, or goes on on
 * the CPU with every frame; nothing hangs, nothing leaks. On the stand-in for the CUDA runtime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "edgecam/pipeline.h"

/* More frames than lanes, so that every lane is used again. */
enum { FRAMES = 4, OUTPUT_BYTES = 8192 };
#define OUTPUT "test_cuda_lost.y4m"

struct outcome {
    enum ec_status status;
    struct ec_stats stats;
    int errors;
    char text[512];
};

static void keep_errors(void *opaque, enum ec_log_level level, const char *text)
{
    struct outcome *o = opaque;
    if (level != EC_LOG_ERROR)
        return;
    o->errors++;
    snprintf(o->text, sizeof o->text, "%s", text);
}

struct setting {
    bool low_latency;
    double threshold; /* results become maps, which the CPU that takes over does not make */
};

static void run(struct outcome *o, enum ec_backend_kind backend, const struct setting *setting)
{
    *o = (struct outcome){0};
    const bool low_latency = setting->low_latency;
    const struct ec_pipeline_params params = {
        .input = low_latency ? "demo:16x130@25" : "demo:16x12@25", /* high enough for two bands */
        .max_frames = FRAMES,
        .null_sink = setting->threshold == 0,
        .output = setting->threshold > 0 ? OUTPUT : NULL,
        .overwrite = true,
        .edge.threshold = setting->threshold,
        .device = {.backend = backend, .threads = 1, .low_latency = low_latency},
        .logger = {keep_errors, o},
    };
    struct ec_pipeline *pipeline = NULL;
    o->status = ec_pipeline_open(&pipeline, &params);
    if (o->status == EC_OK) {
        o->status = ec_pipeline_run(pipeline);
        ec_pipeline_stats(pipeline, &o->stats);
    }
    ec_pipeline_close(&pipeline);
}

static size_t read_output(char *bytes, size_t size)
{
    FILE *file = fopen(OUTPUT, "rb");
    assert_non_null(file);
    const size_t count = fread(bytes, 1, size, file);
    fclose(file);
    return count;
}

static void each_call_fails_in_turn(const struct setting *setting)
{
    static char expected[OUTPUT_BYTES], bytes[OUTPUT_BYTES];
    struct outcome o;
    size_t count = 0;
    shim_fail_at(-1, false);
    run(&o, EC_BACKEND_CUDA, setting);
    assert_int_equal(o.status, EC_OK);
    assert_int_equal(o.stats.frames_out, FRAMES);
    assert_string_equal(o.stats.backend, "cuda");
    const long calls = shim_calls();
    if (setting->threshold > 0)
        count = read_output(expected, sizeof expected);
    assert_true(count < sizeof expected && (count > 0) == (setting->threshold > 0));
    assert_true(calls > 10 * FRAMES);
    int taken_over = 0, refused = 0;
    for (long call = 0; call < calls; call++)
        for (int for_good = 0; for_good < 2; for_good++) {
            shim_fail_at(call, for_good);
            run(&o, EC_BACKEND_AUTO, setting);
            if (o.status != EC_OK || o.stats.frames_out != FRAMES || o.errors)
                fail_msg("call %ld, %s: status %d, %d frames: %s", call, for_good ? "for good" : "once", (int)o.status,
                         (int)o.stats.frames_out, o.text);
            if (count > 0) {
                assert_int_equal(read_output(bytes, sizeof bytes), count);
                assert_memory_equal(bytes, expected, count);
            }
            taken_over += strcmp(o.stats.backend, "cpu") == 0;

            shim_fail_at(call, for_good);
            run(&o, EC_BACKEND_CUDA, setting);
            const bool whole = o.status == EC_OK && o.stats.frames_out == FRAMES && o.errors == 0;
            const bool said = o.status == EC_ERROR_DEVICE && o.errors == 1 && o.text[0];
            if (!whole && !said)
                fail_msg("call %ld, %s, cuda only: status %d, %d frames, %d errors: %s", call, for_good ? "for good" : "once",
                         (int)o.status, (int)o.stats.frames_out, o.errors, o.text);
            refused += said;
        }
    print_message("%ld calls: the CPU took over %d times, %d sentences\n", calls, taken_over, refused);
    assert_true(taken_over > calls && refused > calls);
    shim_fail_at(-1, false);
    assert_int_equal(shim_device_bytes_used(), 0);
}

static void with_whole_frames(void **state)
{
    (void)state;
    each_call_fails_in_turn(&(struct setting){0});
}

static void with_bands(void **state)
{
    (void)state;
    each_call_fails_in_turn(&(struct setting){.low_latency = true});
}

static void with_maps(void **state)
{
    (void)state;
    each_call_fails_in_turn(&(struct setting){.threshold = 60});
    assert_int_equal(remove(OUTPUT), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(with_whole_frames), cmocka_unit_test(with_bands),
                                       cmocka_unit_test(with_maps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
