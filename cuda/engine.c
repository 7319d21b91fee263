/* Lanes in round-robin order: frames are collected in the order they were submitted because each lane holds one. */
#include <stdlib.h>

#include "edge/packed.h"
#include "edgecam/pipeline.h"
#include "lane.h"

struct ec_engine {
    int gpu_count, lane_count, oldest, in_flight;
    struct ec_lane_plan *gpus; /* gpu_count of them: lane i belongs to GPU i % gpu_count, so frames take turns there too */
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

/* Nothing waits for an event that was never recorded. */
static bool open_state(struct ec_lane_plan *shared, struct ec_error *error)
{
    return ec_device_alloc(shared->device, &shared->d_state, shared->state_bytes, error) &&
           EC_CUDA(error, cudaMemset(shared->d_state, 0, shared->state_bytes)) && EC_CUDA(error, cudaStreamSynchronize(NULL)) &&
           EC_CUDA(error, cudaEventCreateWithFlags(&shared->state_done, cudaEventDisableTiming));
}

/* What every GPU needs once: its copies of the plan, and the streams that its lanes share. */
static enum ec_status open_gpu(struct ec_lane_plan *shared, struct ec_error *error)
{
    if (!ec_device_enter(shared->device, error))
        return EC_ERROR_DEVICE;
    const enum ec_status status = copy_plan(shared, error);
    if (status != EC_OK)
        return status;
    return EC_CUDA(error, cudaStreamCreateWithFlags(&shared->up, cudaStreamNonBlocking)) &&
                   EC_CUDA(error, cudaStreamCreateWithFlags(&shared->down, cudaStreamNonBlocking)) &&
                   (shared->state_bytes == 0 || open_state(shared, error))
               ? EC_OK
               : EC_ERROR_DEVICE;
}

static void close_gpu(struct ec_lane_plan *shared)
{
    (void)ec_device_enter(shared->device, NULL);
    if (shared->up)
        (void)EC_CUDA(NULL, cudaStreamDestroy(shared->up));
    if (shared->down)
        (void)EC_CUDA(NULL, cudaStreamDestroy(shared->down));
    if (shared->state_done)
        (void)EC_CUDA(NULL, cudaEventDestroy(shared->state_done));
    ec_device_free(shared->device, &shared->d_state, shared->state_bytes);
    void *d_plan = shared->d_plan;
    ec_device_free(shared->device, &d_plan, sizeof shared->plan);
}

static struct ec_lane_plan *gpu_of(const struct ec_engine *engine, int lane)
{
    return &engine->gpus[lane % engine->gpu_count];
}

static void lay_out(struct ec_lane_plan *shared, const struct ec_plan *plan, int width_px, int height_px)
{
    /* Sides are at most 2^16, so that no product below comes near 2^63. */
    shared->plan = *plan;
    shared->plan.tuning = shared->device->tuning;
    shared->width_px = width_px;
    shared->height_px = height_px;
    shared->in_row_bytes = (int64_t)width_px * (plan->depth_bits > 8 ? 2 : 1);
    shared->out_row_bytes = (int64_t)width_px * (plan->output_depth_bits > 8 ? 2 : 1);
    shared->state_bytes = ec_kernels_state_bytes(plan, width_px, height_px);
    shared->scratch_bytes = ec_kernels_scratch_bytes(plan, width_px, height_px);
    shared->in_pitch_bytes = ec_gpu_pitch_bytes(shared->in_row_bytes);
    shared->out_pitch_bytes = ec_gpu_pitch_bytes(shared->out_row_bytes);
    shared->in_plane_bytes = shared->in_pitch_bytes * height_px;
    shared->in_bytes = (size_t)(shared->in_plane_bytes * plan->channels);
    shared->map_bytes = plan->packed ? (size_t)(ec_packed_row_bytes(width_px) * height_px) : 0;
    ec_band_plan_make(&shared->bands, plan, shared->device->low_latency ? height_px : 1, shared->out_pitch_bytes);
    shared->out_bytes = (size_t)(shared->out_pitch_bytes * height_px);
    if (shared->bands.out_bytes > shared->out_bytes)
        shared->out_bytes = shared->bands.out_bytes;
}

/* The driver loads a kernel when it is first launched, which takes milliseconds: here, not while frames wait. */
static enum ec_status load_kernels(const struct ec_lane *lane, const struct ec_lane_plan *shared, struct ec_error *error)
{
    const struct ec_gpu_frame frame = {
        .d_in = lane->d_in,
        .d_out = lane->d_out,
        .in_pitch_bytes = shared->in_pitch_bytes,
        .in_plane_bytes = shared->plan.channels == 1 ? 0 : shared->in_plane_bytes,
        .out_pitch_bytes = shared->out_pitch_bytes,
        .width_px = shared->width_px,
        .height_px = shared->height_px,
        .in_padded = true,
        .out_padded = true,
        .d_state = shared->d_state,
    };
    const enum ec_status status = ec_kernels_run(&shared->plan, shared->d_plan, lane->d_scratch, &frame, lane->run, error);
    if (status != EC_OK)
        return status;
    if (shared->state_bytes && !EC_CUDA(error, cudaMemsetAsync(shared->d_state, 0, shared->state_bytes, lane->run)))
        return EC_ERROR_DEVICE;
    return EC_CUDA(error, cudaStreamSynchronize(lane->run)) ? EC_OK : EC_ERROR_DEVICE;
}

enum ec_status ec_cuda_engine_open(struct ec_engine **out, struct ec_device *device, const struct ec_plan *plan, int width_px,
                                   int height_px, int lanes, struct ec_error *error)
{
    *out = NULL;
    if (lanes < 1 || lanes > EC_IN_FLIGHT_MAX)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%d lanes were asked for, expected 1 to %d", lanes, EC_IN_FLIGHT_MAX);
    struct ec_engine *engine = calloc(1, sizeof *engine + (size_t)lanes * sizeof engine->lanes[0]);
    /* Frames that look back at the one before stay where it was. */
    const int usable = ec_kernels_state_bytes(plan, width_px, height_px) ? 1 : device->peer_count + 1;
    const int gpus = usable < lanes ? usable : lanes;
    if (!engine || !(engine->gpus = calloc((size_t)gpus, sizeof *engine->gpus))) {
        free(engine);
        return ec_fail(error, EC_ERROR_MEMORY, "memory ran out while opening %d lanes", lanes);
    }
    enum ec_status status = EC_OK;
    for (; engine->gpu_count < gpus && status == EC_OK; engine->gpu_count++) {
        struct ec_lane_plan *shared = &engine->gpus[engine->gpu_count];
        shared->device = ec_device_at(device, engine->gpu_count);
        shared->leader = device;
        lay_out(shared, plan, width_px, height_px);
        status = open_gpu(shared, error);
    }
    for (; engine->lane_count < lanes && status == EC_OK; engine->lane_count++) {
        struct ec_lane *lane = &engine->lanes[engine->lane_count];
        const struct ec_lane_plan *shared = gpu_of(engine, engine->lane_count);
        status = ec_device_enter(shared->device, error) ? ec_lane_open(lane, shared, error) : EC_ERROR_DEVICE;
        if (status == EC_OK && engine->lane_count < gpus)
            status = load_kernels(lane, shared, error);
    }
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
    for (int i = 0; i < e->lane_count; i++) {
        (void)ec_device_enter(gpu_of(e, i)->device, NULL);
        ec_lane_close(&e->lanes[i], gpu_of(e, i));
    }
    for (int i = 0; i < e->gpu_count; i++)
        close_gpu(&e->gpus[i]);
    free(e->gpus);
    free(e);
    *engine = NULL;
}

enum ec_status ec_cuda_submit(struct ec_engine *engine, const struct ec_image *in, bool limited_range, struct ec_image *out,
                              struct ec_error *error)
{
    if (engine->in_flight == engine->lane_count)
        return ec_fail(error, EC_ERROR_ARGUMENT, "a frame was submitted while all %d lanes are in flight", engine->lane_count);
    const int next = (engine->oldest + engine->in_flight) % engine->lane_count;
    struct ec_lane_plan *shared = gpu_of(engine, next);
    if (!ec_device_enter(shared->device, error))
        return EC_ERROR_DEVICE;
    const enum ec_status status = ec_lane_submit(&engine->lanes[next], shared, in, limited_range, out, error);
    if (status == EC_OK)
        engine->in_flight += 1;
    return status;
}

enum ec_status ec_cuda_collect(struct ec_engine *engine, struct ec_job_times *times, struct ec_error *error)
{
    if (engine->in_flight == 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "a frame was collected while none is in flight");
    struct ec_lane_plan *shared = gpu_of(engine, engine->oldest);
    if (!ec_device_enter(shared->device, error))
        return EC_ERROR_DEVICE;
    const enum ec_status status = ec_lane_wait(&engine->lanes[engine->oldest], shared, times, error);
    if (times) {
        times->lane = engine->oldest;
        times->gpu = engine->oldest % engine->gpu_count;
    }
    engine->oldest = (engine->oldest + 1) % engine->lane_count;
    engine->in_flight -= 1;
    return status;
}
