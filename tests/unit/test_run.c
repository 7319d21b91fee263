/* A whole run through the public interface, without files: counts, stopping, refusals. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "edgecam/pipeline.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void keep_last(void *opaque, enum ec_log_level level, const char *text)
{
    if (level == EC_LOG_ERROR)
        snprintf(opaque, 512, "%s", text);
}

static struct ec_pipeline_params small(const char *input)
{
    return (struct ec_pipeline_params){.input = input, .null_sink = true, .device = {.backend = EC_BACKEND_CPU, .threads = 2}};
}

static void every_frame_is_counted(void **state)
{
    (void)state;
    struct ec_pipeline_params params = small("demo:64x48@25");
    params.max_frames = 40;
    struct ec_pipeline *pipeline = NULL;
    assert_int_equal(ec_pipeline_open(&pipeline, &params), EC_OK);
    assert_int_equal(ec_pipeline_run(pipeline), EC_OK);
    struct ec_stats s;
    ec_pipeline_stats(pipeline, &s);
    assert_int_equal(s.frames_in, 40);
    assert_int_equal(s.frames_out, 40);
    assert_int_equal(s.frames_dropped, 0);
    assert_string_equal(s.backend, "cpu");
    assert_true(fabs(s.position_s - 1.6) < 1e-9);
    assert_true(s.latency_max_ms >= s.latency_p50_ms && s.latency_p50_ms > 0);
    assert_true(isnan(s.gpu.engines[EC_ENGINE_H2D].busy_percent));
    ec_pipeline_close(&pipeline);
    assert_null(pipeline);
    ec_pipeline_close(&pipeline);
}

static void *stop_later(void *opaque)
{
    struct ec_stats s = {0};
    while (s.frames_out < 5)
        ec_pipeline_stats(opaque, &s);
    ec_pipeline_stop(opaque);
    double *stopped = malloc(sizeof *stopped);
    *stopped = now_s();
    return stopped;
}

static void a_stop_from_another_thread_ends_an_endless_run(void **state)
{
    (void)state;
    for (int realtime = 0; realtime < 2; realtime++) {
        struct ec_pipeline_params params = small("demo:64x48@2000");
        params.realtime = realtime;
        struct ec_pipeline *pipeline = NULL;
        pthread_t thread;
        void *stopped;
        assert_int_equal(ec_pipeline_open(&pipeline, &params), EC_OK);
        assert_int_equal(pthread_create(&thread, NULL, stop_later, pipeline), 0);
        assert_int_equal(ec_pipeline_run(pipeline), EC_STOPPED);
        const double ended = now_s();
        pthread_join(thread, &stopped);
        assert_true(ended - *(double *)stopped < 1.0);
        free(stopped);
        ec_pipeline_close(&pipeline);
    }
}

static void a_stop_before_the_run_holds(void **state)
{
    (void)state;
    struct ec_pipeline_params params = small("demo:64x48@25");
    struct ec_pipeline *pipeline = NULL;
    assert_int_equal(ec_pipeline_open(&pipeline, &params), EC_OK);
    ec_pipeline_stop(pipeline);
    assert_int_equal(ec_pipeline_run(pipeline), EC_STOPPED);
    ec_pipeline_close(&pipeline);
}

static void refusals_name_the_file_and_the_cause(void **state)
{
    (void)state;
    char text[512] = "";
    struct ec_pipeline *pipeline = NULL;
    struct ec_pipeline_params params = small("/nowhere/at_all.mp4");
    params.logger = (struct ec_logger){keep_last, text};
    assert_int_equal(ec_pipeline_open(&pipeline, &params), EC_ERROR_INPUT);
    assert_null(pipeline);
    assert_non_null(strstr(text, "/nowhere/at_all.mp4"));
    params = small("demo:64x48@25");
    params.logger = (struct ec_logger){keep_last, text};
    params.null_sink = false;
    assert_int_equal(ec_pipeline_open(&pipeline, &params), EC_ERROR_ARGUMENT);
    params.output = "/nowhere/out.mp4";
    assert_int_equal(ec_pipeline_open(&pipeline, &params), EC_ERROR_OUTPUT);
    assert_non_null(strstr(text, "/nowhere/out.mp4"));
    params = small("demo:64x48@25");
    params.lanes = EC_LANES_MAX + 1;
    assert_int_equal(ec_pipeline_open(&pipeline, &params), EC_ERROR_ARGUMENT);
    params = small("demo:0x48@25");
    assert_int_equal(ec_pipeline_open(&pipeline, &params), EC_ERROR_INPUT);
    params = small("demo:70000x70000@25");
    assert_int_equal(ec_pipeline_open(&pipeline, &params), EC_ERROR_INPUT);
}

static volatile sig_atomic_t cancel;

static void *cancel_soon(void *opaque)
{
    (void)opaque;
    const struct timespec t = {0, 50000000};
    nanosleep(&t, NULL);
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* A FIFO that nobody writes: without the wish to cancel it would be waited for, for ever. */
static void opening_can_be_cancelled(void **state)
{
    (void)state;
    char name[] = "/tmp/edgecam_test_XXXXXX", fifo[64];
    assert_non_null(mkdtemp(name));
    snprintf(fifo, sizeof fifo, "%s/fifo", name);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    struct ec_pipeline_params params = small(fifo);
    params.cancel = &cancel;
    struct ec_pipeline *pipeline = NULL;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, NULL), 0);
    assert_int_equal(ec_pipeline_open(&pipeline, &params), EC_STOPPED);
    pthread_join(thread, NULL);
    unlink(fifo);
    rmdir(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_is_counted),      cmocka_unit_test(a_stop_from_another_thread_ends_an_endless_run),
        cmocka_unit_test(a_stop_before_the_run_holds), cmocka_unit_test(refusals_name_the_file_and_the_cause),
        cmocka_unit_test(opening_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
