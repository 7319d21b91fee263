#include "app/bench_measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP_FRAMES 30
#define FEWEST_FRAMES 30
#define MOST_FRAMES 5000
#define KERNEL_RUNS 21

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum ec_status bench_backend_measure(struct bench_backend *backend, const struct ec_device_params *params, size_t bytes,
                                     const struct ec_logger *logger, struct ec_error *error)
{
    struct ec_device *device = NULL;
    if (backend->ops->open(&device, params, logger, error))
        return error->status;
    backend->ops->describe(device, &backend->info);
    const enum ec_status status = backend->ops->measure(device, bytes, &backend->limits, error);
    backend->ops->close(&device);
    return status;
}

/* Runs the device's part alone, frame after frame, and takes the times that the backend measures itself. */
static enum ec_status measure_kernel(struct bench_result *result, const struct ec_pipeline_params *params,
                                     const struct ec_logger *logger, struct ec_error *error)
{
    const struct ec_backend *ops = result->backend->ops;
    const int width = result->stats.width_px, height = result->stats.height_px;
    const size_t bytes = (size_t)width * (size_t)height;
    struct ec_device *device = NULL;
    struct ec_engine *engine = NULL;
    struct ec_plan *plan = calloc(1, sizeof *plan);
    void *in_data = NULL, *out_data = NULL;
    double times[KERNEL_RUNS];

    if (!plan)
        ec_fail(error, EC_ERROR_MEMORY, "out of memory for a benchmark");
    else if (ec_plan_make(plan, &params->edge, 8, error) == EC_OK &&
             ops->open(&device, &params->device, logger, error) == EC_OK)
        ops->engine_open(&engine, device, plan, width, height, 1, error);
    if (!error->status) {
        in_data = ops->host_alloc(device, bytes);
        out_data = ops->host_alloc(device, bytes);
        if (!in_data || !out_data)
            ec_fail(error, EC_ERROR_MEMORY, "out of memory for a benchmark");
    }
    if (!error->status)
        memset(in_data, 0, bytes);
    for (int i = 0; i < KERNEL_RUNS && !error->status; i++) {
        struct ec_job_times job = {0};
        const struct ec_image in = {
            .data = in_data, .width_px = width, .height_px = height, .pitch_bytes = width, .depth_bits = 8};
        struct ec_image out = in;
        out.data = out_data;
        if (ops->submit(engine, &in, false, &out, error) == EC_OK)
            ops->collect(engine, &job, error);
        times[i] = (double)(job.end_ns[EC_ENGINE_COMPUTE] - job.start_ns[EC_ENGINE_COMPUTE]) / 1e6;
    }
    if (!error->status) {
        qsort(times, KERNEL_RUNS, sizeof *times, by_value);
        result->kernel_ms = times[KERNEL_RUNS / 2];
    }
    if (engine)
        ops->engine_close(&engine);
    if (in_data)
        ops->host_free(device, in_data, bytes);
    if (out_data)
        ops->host_free(device, out_data, bytes);
    if (device)
        ops->close(&device);
    free(plan);
    return error->status;
}

static enum ec_status run_once(const struct app_context *c, const struct ec_pipeline_params *params, struct ec_stats *stats)
{
    struct ec_pipeline *pipeline = NULL;
    enum ec_status status = ec_pipeline_open(&pipeline, params);
    if (status)
        return status;
    app_signals_watch(c->signals, pipeline);
    status = ec_pipeline_run(pipeline);
    app_signals_watch(c->signals, NULL);
    ec_pipeline_stats(pipeline, stats);
    ec_pipeline_close(&pipeline);
    return status;
}

enum ec_status bench_result_measure(struct bench_result *result, const struct bench_backend *backend, enum ec_operator op,
                                    const struct app_context *c, const struct ec_pipeline_params *usual)
{
    struct ec_error error = {0};
    struct ec_pipeline_params params = *usual;
    double times[BENCH_REPETITIONS];
    *result = (struct bench_result){.op = op, .backend = backend, .kernel_ms = NAN};
    params.edge.op = op;
    params.device.backend = backend->kind;

    params.max_frames = WARM_UP_FRAMES;
    enum ec_status status = run_once(c, &params, &result->stats);
    if (status)
        return status;
    result->frames = usual->max_frames;
    if (result->frames == 0)
        result->frames = (int64_t)fmin(fmax(result->stats.fps, FEWEST_FRAMES), MOST_FRAMES);
    params.max_frames = result->frames;
    for (int i = 0; i < BENCH_REPETITIONS; i++) {
        params.measure_limits = i == BENCH_REPETITIONS - 1;
        status = run_once(c, &params, &result->stats);
        if (status)
            return status;
        times[i] = result->stats.wall_s * 1e3 / (double)result->stats.frames_out;
    }
    qsort(times, BENCH_REPETITIONS, sizeof *times, by_value);
    result->fastest_ms = times[0];
    result->frame_ms = times[BENCH_REPETITIONS / 2];
    result->slowest_ms = times[BENCH_REPETITIONS - 1];

    if (measure_kernel(result, &params, &params.logger, &error))
        ec_log(&c->logger, EC_LOG_ERROR, "%s", error.text);
    return error.status;
}
