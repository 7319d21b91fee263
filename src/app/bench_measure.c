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
    const enum ec_status status = backend->ops->measure(device, picture->bytes, EC_MEASURE_ALL, &backend->limits, error);
    backend->ops->close(&device);
    return status;
}

enum ec_status bench_run_once(const struct app_context *c, const struct ec_pipeline_params *params, struct ec_stats *stats)
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
    const enum ec_status status = bench_run_once(c, &params, &result->stats);
    result->frames = usual->max_frames ? usual->max_frames : (int64_t)fmin(fmax(result->stats.fps, fewest), MOST_FRAMES);
    return status;
}

/* The device stays open between the runs, so that none of them starts it anew. */
struct runs {
    struct bench_result *result;
    const struct app_context *context;
    const struct bench_picture *picture;
    struct ec_pipeline_params params;
    struct ec_device *device;
    double frame_ms[BENCH_REPETITIONS], untimed_ms[BENCH_REPETITIONS];
};

static enum ec_status open_device(struct runs *r, struct ec_error *error)
{
    return r->result->backend->ops->open(&r->device, &r->params.device, &r->params.logger, error);
}

static enum ec_status measure_link(struct runs *r, int i, struct ec_error *error)
{
    return r->result->backend->ops->measure(r->device, r->picture->bytes, EC_MEASURE_LINK, &r->result->link[i], error);
}

static enum ec_status time_run(struct runs *r, bool untimed, double *ms, struct ec_stats *stats)
{
    r->params.device.untimed = untimed;
    const enum ec_status status = bench_run_once(r->context, &r->params, stats);
    *ms = status == EC_OK ? stats->wall_s * 1e3 / (double)stats->frames_out : NAN;
    return status;
}

/* Run i, and beside it the same run without times. */
static enum ec_status repeat(struct runs *r, int i, struct ec_error *error)
{
    struct ec_stats untimed;
    r->params.measure_limits = i == BENCH_REPETITIONS - 1;
    enum ec_status status = time_run(r, false, &r->frame_ms[i], &r->result->stats);
    if (status == EC_OK)
        status = measure_link(r, i + 1, error);
    r->params.measure_limits = false;
    if (status == EC_OK && r->result->backend->kind == EC_BACKEND_CUDA)
        status = time_run(r, true, &r->untimed_ms[i], &untimed);
    return status;
}

/* Milliseconds that the link needs for a frame at least: one plane up while the result comes down, the others alone. */
static double link_ms(const struct runs *r, const struct ec_limits *link)
{
    const double plane = (double)r->picture->bytes * 1e-6, up = plane / link->h2d_gb_per_s;
    const double others = (double)r->result->kernels.in_bytes * 1e-6 / link->h2d_gb_per_s - up;
    return others + (r->result->is_map ? up : plane / link->both_gb_per_s);
}

static void conclude(struct runs *r)
{
    struct bench_result *result = r->result;
    const double gpus = result->backend->info.gpu_count;
    double pcie[BENCH_REPETITIONS], timing[BENCH_REPETITIONS];
    for (int i = 0; i < BENCH_REPETITIONS; i++) {
        const double least_ms = (link_ms(r, &result->link[i]) + link_ms(r, &result->link[i + 1])) / 2 / gpus;
        pcie[i] = 100 * least_ms / r->frame_ms[i];
        timing[i] = gpus > 0 ? 100 * (r->frame_ms[i] / r->untimed_ms[i] - 1) : NAN;
    }
    result->frame_ms = ec_spread_of(r->frame_ms, BENCH_REPETITIONS);
    result->pcie_percent = ec_spread_of(pcie, BENCH_REPETITIONS);
    result->timing_percent = ec_spread_of(timing, BENCH_REPETITIONS);
    result->has_run = true;
}

enum ec_status bench_run_measure(struct bench_result *result, const struct app_context *c,
                                 const struct ec_pipeline_params *usual, const struct bench_picture *picture)
{
    struct ec_error error = {0};
    struct runs r = {.result = result, .context = c, .picture = picture, .params = *usual};
    r.params.edge.op = result->op;
    r.params.device.backend = result->backend->kind;

    enum ec_status status = open_device(&r, &error);
    if (status == EC_OK)
        status = choose_frames(result, c, &r.params);
    if (status == EC_OK)
        status = measure_link(&r, 0, &error);
    r.params.max_frames = result->frames;
    for (int i = 0; i < BENCH_REPETITIONS && status == EC_OK; i++)
        status = repeat(&r, i, &error);
    if (r.device)
        result->backend->ops->close(&r.device);
    if (error.status)
        ec_log(&c->logger, EC_LOG_ERROR, "%s", error.text);
    if (status == EC_OK)
        conclude(&r);
    return status;
}
