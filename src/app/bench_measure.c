#include "app/bench_measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WARM_UP_FRAMES 30
#define FEWEST_FRAMES 30
#define FEWEST_GPU_FRAMES 3000
#define MOST_FRAMES 10000

enum ec_status bench_picture_parse(struct bench_picture *picture, const char *input, struct ec_error *error)
{
    int fps = 0;
    *picture = (struct bench_picture){.depth_bits = 8};
    const int read =
        sscanf(input, "cycle:%5dx%5d@%4d:%2d", &picture->width_px, &picture->height_px, &fps, &picture->depth_bits);
    if (read < 2 || picture->width_px < 1 || picture->height_px < 1 || picture->width_px > EC_IMAGE_MAX_SIDE_PX ||
        picture->height_px > EC_IMAGE_MAX_SIDE_PX || picture->depth_bits < 8 || picture->depth_bits > 16)
        return ec_fail(error, EC_ERROR_ARGUMENT, "--demo=%s: expected a picture like 3840x2160@60", input + 6);
    picture->bytes = (size_t)picture->width_px * (size_t)picture->height_px * (picture->depth_bits > 8 ? 2 : 1);
    return EC_OK;
}

enum ec_status bench_backend_measure(struct bench_backend *backend, const struct ec_device_params *params,
                                     const struct bench_picture *picture, const struct ec_logger *logger,
                                     struct ec_error *error)
{
    struct ec_device *device = NULL;
    if (backend->ops->open(&device, params, logger, error))
        return error->status;
    backend->ops->describe(device, &backend->info);
    const enum ec_status status = backend->ops->measure(device, picture->bytes, &backend->limits, error);
    backend->ops->close(&device);
    return status;
}

static enum ec_status run_once(const struct app_context *c, const struct ec_pipeline_params *params, struct ec_stats *stats)
{
    struct ec_pipeline *pipeline = NULL;
    enum ec_status status = ec_pipeline_open(&pipeline, params);
    if (status)
        return status;
    app_signals_watch(c->signals, &(struct app_watched){.pipeline = pipeline, .writes_file = true});
    status = ec_pipeline_run(pipeline);
    app_signals_unwatch(c->signals, pipeline);
    ec_pipeline_stats(pipeline, stats);
    ec_pipeline_close(&pipeline);
    return status;
}

/* A second's worth, after a short run that also warms up. */
static enum ec_status choose_frames(struct bench_result *result, const struct app_context *c,
                                    const struct ec_pipeline_params *usual)
{
    struct ec_pipeline_params params = *usual;
    const double fewest = result->backend->kind == EC_BACKEND_CUDA ? FEWEST_GPU_FRAMES : FEWEST_FRAMES;
    params.max_frames = WARM_UP_FRAMES;
    const enum ec_status status = run_once(c, &params, &result->stats);
    result->frames = usual->max_frames ? usual->max_frames : (int64_t)fmin(fmax(result->stats.fps, fewest), MOST_FRAMES);
    return status;
}

/* What the way to the device and back takes now: on a shared machine it changes from minute to minute. */
static enum ec_status measure_two_way(double *gb_per_s, const struct bench_result *result,
                                      const struct ec_pipeline_params *params, const struct bench_picture *picture,
                                      struct ec_error *error)
{
    *gb_per_s = NAN;
    if (result->backend->kind != EC_BACKEND_CUDA)
        return EC_OK;
    struct bench_backend now = *result->backend;
    const enum ec_status status = bench_backend_measure(&now, &params->device, picture, &params->logger, error);
    *gb_per_s = now.limits.both_gb_per_s;
    return status;
}

enum ec_status bench_run_measure(struct bench_result *result, const struct app_context *c,
                                 const struct ec_pipeline_params *usual, const struct bench_picture *picture)
{
    struct ec_error error = {0};
    struct ec_pipeline_params params = *usual;
    double times[BENCH_REPETITIONS];
    params.edge.op = result->op;
    params.device.backend = result->backend->kind;

    enum ec_status status = choose_frames(result, c, &params);
    if (status == EC_OK)
        status = measure_two_way(&result->two_way_before_gb_per_s, result, &params, picture, &error);
    params.max_frames = result->frames;
    for (int i = 0; i < BENCH_REPETITIONS && status == EC_OK; i++) {
        params.measure_limits = i == BENCH_REPETITIONS - 1;
        status = run_once(c, &params, &result->stats);
        times[i] = result->stats.wall_s * 1e3 / (double)result->stats.frames_out;
    }
    if (status == EC_OK)
        status = measure_two_way(&result->two_way_after_gb_per_s, result, &params, picture, &error);
    if (error.status)
        ec_log(&c->logger, EC_LOG_ERROR, "%s", error.text);
    if (status != EC_OK)
        return status;
    result->frame_ms = ec_spread_of(times, BENCH_REPETITIONS);
    result->has_run = true;
    return EC_OK;
}
