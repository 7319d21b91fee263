/* The device's part of a benchmark: one operator on frames of noise, without a pipeline. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/bench_measure.h"
#include "edge/packed.h"

#define ONE_FRAME_REPETITIONS 31

struct trial {
    const struct ec_backend *ops;
    struct ec_device *device;
    struct ec_engine *engine;
    struct ec_plan plan;
    struct ec_image in, out;
    size_t bytes; /* of either image at most */
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool is_float(const struct ec_kernel *kernel)
{
    bool fraction = false;
    for (int i = 0; i < kernel->size * kernel->size; i++)
        fraction |= kernel->weights[i] != (float)(int)kernel->weights[i];
    return fraction;
}

static void write_label(struct bench_result *result, const struct ec_edge_params *edge, const struct bench_picture *picture)
{
    const bool gradient = result->op <= EC_OPERATOR_ROBERTS;
    char *label = result->label;
    const size_t size = sizeof result->label;
    snprintf(label, size, "%s", ec_operator_name(result->op));
    if (gradient)
        snprintf(label + strlen(label), size - strlen(label), " %s", edge->norm == EC_NORM_L1 ? "l1" : "l2");
    if (result->op == EC_OPERATOR_SOBEL && edge->aperture > 3)
        snprintf(label + strlen(label), size - strlen(label), " %dx%d", edge->aperture, edge->aperture);
    if (result->op == EC_OPERATOR_CONVOLUTION)
        snprintf(label + strlen(label), size - strlen(label), " %dx%d%s", edge->kernel.size, edge->kernel.size,
                 is_float(&edge->kernel) ? ", float" : "");
    if (edge->threshold > 0)
        snprintf(label + strlen(label), size - strlen(label), ", threshold %g", edge->threshold);
    if (edge->blur_sigma > 0)
        snprintf(label + strlen(label), size - strlen(label), ", blur %.3g", edge->blur_sigma);
    if (picture->depth_bits > 8)
        snprintf(label + strlen(label), size - strlen(label), ", %d bit", picture->depth_bits);
}

/* Noise over the whole range of the depth: the same everywhere, and nothing that a cache or a branch could learn. */
static void fill_noise(const struct trial *t)
{
    const uint32_t keep = (1u << t->in.depth_bits) - 1;
    const size_t pixels = (size_t)t->in.width_px * (size_t)t->in.height_px;
    uint32_t state = 1;
    for (size_t i = 0; i < pixels; i++) {
        state = state * 1664525u + 1013904223u;
        if (t->in.depth_bits > 8)
            ((uint16_t *)t->in.data)[i] = (uint16_t)(state >> 15 & keep);
        else
            ((uint8_t *)t->in.data)[i] = (uint8_t)(state >> 23 & keep);
    }
}

static enum ec_status trial_open(struct trial *t, const struct ec_pipeline_params *params, const struct bench_picture *picture,
                                 struct ec_error *error)
{
    struct ec_edge_params edge = params->edge;
    const int deep = picture->depth_bits > 8;
    edge.output_depth_bits = params->native_depth ? 0 : 8;
    if (ec_plan_make(&t->plan, &edge, picture->depth_bits, error) ||
        t->ops->open(&t->device, &params->device, &params->logger, error) ||
        t->ops->engine_open(&t->engine, t->device, &t->plan, picture->width_px, picture->height_px, 1, error))
        return error->status;
    t->bytes = picture->bytes;
    t->in = (struct ec_image){.width_px = picture->width_px,
                              .height_px = picture->height_px,
                              .pitch_bytes = (ptrdiff_t)picture->width_px * (1 + deep),
                              .depth_bits = picture->depth_bits};
    t->out = t->in;
    t->out.depth_bits = t->plan.output_depth_bits;
    t->in.data = t->ops->host_alloc(t->device, t->bytes);
    t->out.data = t->ops->host_alloc(t->device, t->bytes);
    if (!t->in.data || !t->out.data)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for frames of %dx%d", picture->width_px, picture->height_px);
    fill_noise(t);
    return EC_OK;
}

static void trial_close(struct trial *t)
{
    if (t->engine)
        t->ops->engine_close(&t->engine);
    if (t->in.data)
        t->ops->host_free(t->device, t->in.data, t->bytes);
    if (t->out.data)
        t->ops->host_free(t->device, t->out.data, t->bytes);
    if (t->device)
        t->ops->close(&t->device);
}

static enum ec_status measure_one_frame(struct trial *t, struct ec_spread *out_ms, struct ec_error *error)
{
    double ms[ONE_FRAME_REPETITIONS];
    for (int i = -1; i < ONE_FRAME_REPETITIONS; i++) { /* the first one only warms up */
        const int64_t start_ns = now_ns();
        if (t->ops->submit(t->engine, &t->in, false, &t->out, error) || t->ops->collect(t->engine, NULL, error))
            return error->status;
        if (i >= 0)
            ms[i] = (double)(now_ns() - start_ns) * 1e-6;
    }
    *out_ms = ec_spread_of(ms, ONE_FRAME_REPETITIONS);
    return EC_OK;
}

enum ec_status bench_kernels_measure(struct bench_result *result, const struct bench_backend *backend, enum ec_operator op,
                                     const struct ec_pipeline_params *usual, const struct bench_picture *picture,
                                     struct ec_error *error)
{
    struct ec_pipeline_params params = *usual;
    struct trial *trial = calloc(1, sizeof *trial);
    *result = (struct bench_result){.op = op, .backend = backend};
    if (!trial)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for a benchmark");
    params.edge.op = op;
    params.device.backend = backend->kind;
    write_label(result, &params.edge, picture);
    trial->ops = backend->ops;
    enum ec_status status = trial_open(trial, &params, picture, error);
    result->is_map = status == EC_OK && backend->kind == EC_BACKEND_CUDA && ec_plan_is_binary(&trial->plan);
    if (status == EC_OK)
        status = measure_one_frame(trial, &result->one_frame_ms, error);
    if (status == EC_OK)
        status = backend->ops->throughput(trial->device, &trial->plan, &trial->in, &result->kernels, error);
    trial_close(trial);
    free(trial);
    return status;
}
