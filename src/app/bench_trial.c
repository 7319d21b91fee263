#include "app/bench_trial.h"

#include <stdlib.h>

/* Noise over the whole range of the depth: the same everywhere, and nothing that a cache or a branch could learn. */
static void fill_noise(const struct bench_trial *t)
{
    const uint32_t keep = (1u << t->in.depth_bits) - 1;
    const size_t pixels = (size_t)t->in.width_px * (size_t)t->in.height_px * (size_t)t->plan.channels;
    uint32_t state = 1;
    for (size_t i = 0; i < pixels; i++) {
        state = state * 1664525u + 1013904223u;
        if (t->in.depth_bits > 8)
            ((uint16_t *)t->in.data)[i] = (uint16_t)(state >> 15 & keep);
        else
            ((uint8_t *)t->in.data)[i] = (uint8_t)(state >> 23 & keep);
    }
}

static enum ec_status prepare(struct bench_trial *t, const struct ec_pipeline_params *params,
                              const struct bench_picture *picture, struct ec_error *error)
{
    struct ec_edge_params edge = params->edge;
    const int deep = picture->depth_bits > 8;
    edge.output_depth_bits = params->native_depth ? 0 : 8;
    if (ec_plan_make(&t->plan, &edge, picture->depth_bits, error) ||
        t->ops->open(&t->device, &params->device, &params->logger, error) ||
        t->ops->engine_open(&t->engine, t->device, &t->plan, picture->width_px, picture->height_px, 1, error))
        return error->status;
    t->bytes = picture->bytes * (size_t)t->plan.channels;
    t->in = (struct ec_image){.width_px = picture->width_px,
                              .height_px = picture->height_px,
                              .pitch_bytes = (ptrdiff_t)picture->width_px * (1 + deep),
                              .depth_bits = picture->depth_bits};
    t->out = t->in;
    t->out.depth_bits = t->plan.output_depth_bits;
    t->in.plane_bytes = t->plan.channels > 1 ? (ptrdiff_t)picture->bytes : 0;
    t->in.data = t->ops->host_alloc(t->device, t->bytes);
    t->out.data = t->ops->host_alloc(t->device, t->bytes);
    if (!t->in.data || !t->out.data)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for frames of %dx%d", picture->width_px, picture->height_px);
    fill_noise(t);
    return EC_OK;
}

enum ec_status bench_trial_open(struct bench_trial **out, const struct ec_backend *ops, const struct ec_pipeline_params *params,
                                const struct bench_picture *picture, struct ec_error *error)
{
    struct bench_trial *t = *out = calloc(1, sizeof *t);
    if (!t)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for a benchmark");
    t->ops = ops;
    const enum ec_status status = prepare(t, params, picture, error);
    if (status != EC_OK)
        bench_trial_close(out);
    return status;
}

void bench_trial_close(struct bench_trial **trial)
{
    struct bench_trial *t = *trial;
    if (!t)
        return;
    if (t->engine)
        t->ops->engine_close(&t->engine);
    if (t->in.data)
        t->ops->host_free(t->device, t->in.data, t->bytes);
    if (t->out.data)
        t->ops->host_free(t->device, t->out.data, t->bytes);
    if (t->device)
        t->ops->close(&t->device);
    free(t);
    *trial = NULL;
}

enum ec_status bench_trial_run(struct bench_trial *t, struct ec_error *error)
{
    const enum ec_status status = t->ops->submit(t->engine, &t->in, false, &t->out, error);
    return status == EC_OK ? t->ops->collect(t->engine, NULL, error) : status;
}
