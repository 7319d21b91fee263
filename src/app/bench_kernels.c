/* The device's part of a benchmark: one operator on frames of noise, without a pipeline. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "app/bench_trial.h"
#include "edge/packed.h"

#define ONE_FRAME_REPETITIONS 31

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
    if (edge->channels == EC_CHANNELS_RGB)
        snprintf(label + strlen(label), size - strlen(label), ", rgb");
    if (edge->blur_sigma > 0)
        snprintf(label + strlen(label), size - strlen(label), ", blur %.3g", edge->blur_sigma);
    if (picture->depth_bits > 8)
        snprintf(label + strlen(label), size - strlen(label), ", %d bit", picture->depth_bits);
}

static enum ec_status measure_one_frame(struct bench_trial *t, struct ec_spread *out_ms, struct ec_error *error)
{
    double ms[ONE_FRAME_REPETITIONS];
    for (int i = -1; i < ONE_FRAME_REPETITIONS; i++) { /* the first one only warms up */
        const int64_t start_ns = now_ns();
        if (bench_trial_run(t, error))
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
    struct bench_trial *trial = NULL;
    *result = (struct bench_result){.op = op, .backend = backend};
    params.edge.op = op;
    params.device.backend = backend->kind;
    write_label(result, &params.edge, picture);
    enum ec_status status = bench_trial_open(&trial, backend->ops, &params, picture, error);
    result->is_map = status == EC_OK && backend->kind == EC_BACKEND_CUDA && ec_plan_is_binary(&trial->plan);
    if (status == EC_OK)
        status = measure_one_frame(trial, &result->one_frame_ms, error);
    if (status == EC_OK)
        status = backend->ops->throughput(trial->device, &trial->plan, &trial->in, &result->kernels, error);
    bench_trial_close(&trial);
    return status;
}
