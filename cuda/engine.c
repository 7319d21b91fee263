/* Lanes in round-robin order: frames are collected in the order they were submitted because each lane holds one. */
#include <stdlib.h>

#include "edgecam/pipeline.h"
#include "lane.h"

struct ec_engine {
    struct ec_lane_plan shared;
    int lane_count, oldest, in_flight;
    struct ec_lane lanes[];
};

static enum ec_status copy_plan(struct ec_lane_plan *shared, struct ec_error *error)
{
    void *d_plan = NULL;
    if (!ec_device_alloc(shared->device, &d_plan, sizeof shared->plan, error))
        return EC_ERROR_DEVICE;
    shared->d_plan = d_plan;
    return EC_CUDA(error, cudaMemcpy(d_plan, &shared->plan, sizeof shared->plan, cudaMemcpyHostToDevice)) ? EC_OK
                                                                                                          : EC_ERROR_DEVICE;
}

enum ec_status ec_cuda_engine_open(struct ec_engine **out, struct ec_device *device, const struct ec_plan *plan, int width_px,
                                   int height_px, int lanes, struct ec_error *error)
{
    *out = NULL;
    if (lanes < 1 || lanes > EC_LANES_MAX)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%d lanes were asked for, expected 1 to %d", lanes, EC_LANES_MAX);
    if (!ec_device_enter(device, error))
        return EC_ERROR_DEVICE;
    struct ec_engine *engine = calloc(1, sizeof *engine + (size_t)lanes * sizeof engine->lanes[0]);
    if (!engine)
        return ec_fail(error, EC_ERROR_MEMORY, "memory ran out while opening %d lanes", lanes);
    struct ec_lane_plan *shared = &engine->shared;
    /* Sides are at most 2^16, so that no product below comes near 2^63. */
    *shared = (struct ec_lane_plan){
        .device = device,
        .plan = *plan,
        .width_px = width_px,
        .height_px = height_px,
        .in_row_bytes = (int64_t)width_px * (plan->depth_bits > 8 ? 2 : 1),
        .out_row_bytes = (int64_t)width_px * (plan->output_depth_bits > 8 ? 2 : 1),
        .scratch_bytes = ec_kernels_scratch_bytes(plan, width_px, height_px),
    };
    shared->in_pitch_bytes = ec_gpu_pitch_bytes(shared->in_row_bytes);
    shared->out_pitch_bytes = ec_gpu_pitch_bytes(shared->out_row_bytes);
    shared->in_plane_bytes = shared->in_pitch_bytes * height_px;
    shared->in_bytes = (size_t)(shared->in_plane_bytes * plan->channels);
    ec_band_plan_make(&shared->bands, plan, device->low_latency ? height_px : 1, shared->out_pitch_bytes);
    shared->out_bytes = (size_t)(shared->out_pitch_bytes * height_px);
    if (shared->bands.out_bytes > shared->out_bytes)
        shared->out_bytes = shared->bands.out_bytes;
    engine->lane_count = lanes;

    enum ec_status status = copy_plan(shared, error);
    if (status == EC_OK && (!EC_CUDA(error, cudaStreamCreateWithFlags(&shared->up, cudaStreamNonBlocking)) ||
                            !EC_CUDA(error, cudaStreamCreateWithFlags(&shared->down, cudaStreamNonBlocking))))
        status = EC_ERROR_DEVICE;
    for (int i = 0; i < lanes && status == EC_OK; i++)
        status = ec_lane_open(&engine->lanes[i], shared, error);
    if (status != EC_OK)
        goto fail;
    *out = engine;
    return EC_OK;
fail:
    ec_cuda_engine_close(&engine);
    return status;
}

void ec_cuda_engine_close(struct ec_engine **engine)
{
    struct ec_engine *e = *engine;
    if (!e)
        return;
    (void)ec_device_enter(e->shared.device, NULL);
    for (int i = 0; i < e->lane_count; i++)
        ec_lane_close(&e->lanes[i], &e->shared);
    if (e->shared.up)
        (void)EC_CUDA(NULL, cudaStreamDestroy(e->shared.up));
    if (e->shared.down)
        (void)EC_CUDA(NULL, cudaStreamDestroy(e->shared.down));
    void *d_plan = e->shared.d_plan;
    ec_device_free(e->shared.device, &d_plan, sizeof e->shared.plan);
    free(e);
    *engine = NULL;
}

enum ec_status ec_cuda_submit(struct ec_engine *engine, const struct ec_image *in, bool limited_range, struct ec_image *out,
                              struct ec_error *error)
{
    if (engine->in_flight == engine->lane_count)
        return ec_fail(error, EC_ERROR_ARGUMENT, "a frame was submitted while all %d lanes are in flight", engine->lane_count);
    if (!ec_device_enter(engine->shared.device, error))
        return EC_ERROR_DEVICE;
    struct ec_lane *lane = &engine->lanes[(engine->oldest + engine->in_flight) % engine->lane_count];
    const enum ec_status status = ec_lane_submit(lane, &engine->shared, in, limited_range, out, error);
    if (status == EC_OK)
        engine->in_flight += 1;
    return status;
}

enum ec_status ec_cuda_collect(struct ec_engine *engine, struct ec_job_times *times, struct ec_error *error)
{
    if (engine->in_flight == 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "a frame was collected while none is in flight");
    if (!ec_device_enter(engine->shared.device, error))
        return EC_ERROR_DEVICE;
    const enum ec_status status = ec_lane_wait(&engine->lanes[engine->oldest], &engine->shared, times, error);
    if (times)
        times->lane = engine->oldest;
    engine->oldest = (engine->oldest + 1) % engine->lane_count;
    engine->in_flight -= 1;
    return status;
}
