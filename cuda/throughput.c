#include "throughput.h"

#include <stdlib.h>

#include "chains.h"
#include "check.h"
#include "device.h"
#include "kernels.h"

#define REPETITIONS 15
#define FRAMES 240 /* a repetition */
/* Several times what the last cache of any GPU up to now holds. */
#define ROTATE_BYTES ((size_t)512 << 20)

struct setting {
    struct ec_device *device;
    const struct ec_plan *plan;
    struct ec_chains chains;
    int pairs;
    size_t in_bytes, out_bytes, read_bytes, copy_bytes, pair_bytes, scratch_bytes, state_bytes;
    struct ec_gpu_frame frame; /* of pair 0 */
    void *d_pairs, *d_plan, *d_scratch[EC_THROUGHPUT_STREAMS], *d_state[EC_THROUGHPUT_STREAMS];
    int used; /* pairs that this measurement rotates over */
};

static size_t aligned(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static struct ec_gpu_frame frame_at(const struct setting *s, int i)
{
    char *pair = (char *)s->d_pairs + (size_t)(i % s->used) * s->pair_bytes;
    struct ec_gpu_frame frame = s->frame;
    frame.d_in = pair;
    frame.d_out = pair + s->pair_bytes / 2;
    return frame;
}

static bool queue_frame(void *opaque, int i, int chain, cudaStream_t stream, struct ec_error *error)
{
    const struct setting *s = opaque;
    struct ec_gpu_frame frame = frame_at(s, i);
    frame.d_state = s->d_state[chain];
    return ec_kernels_run(s->plan, s->d_plan, s->d_scratch[chain], &frame, stream, error) == EC_OK;
}

static bool queue_copy(void *opaque, int i, int chain, cudaStream_t stream, struct ec_error *error)
{
    const struct setting *s = opaque;
    const struct ec_gpu_frame frame = frame_at(s, i);
    (void)chain;
    return EC_CUDA(error, cudaMemcpyAsync(frame.d_out, frame.d_in, s->copy_bytes, cudaMemcpyDeviceToDevice, stream));
}

static void lay_out(struct setting *s, const struct ec_image *content)
{
    const int64_t in_row = (int64_t)content->width_px * (s->plan->depth_bits > 8 ? 2 : 1);
    const int64_t out_row = (int64_t)content->width_px * (s->plan->output_depth_bits > 8 ? 2 : 1);
    s->frame = (struct ec_gpu_frame){.in_pitch_bytes = ec_gpu_pitch_bytes(in_row),
                                     .out_pitch_bytes = ec_gpu_pitch_bytes(out_row),
                                     .width_px = content->width_px,
                                     .height_px = content->height_px,
                                     .in_padded = true,
                                     .out_padded = true};
    const int64_t channels = s->plan->channels, in_plane = s->frame.in_pitch_bytes * content->height_px;
    s->frame.in_plane_bytes = channels > 1 ? in_plane : 0;
    s->in_bytes = (size_t)(channels * in_plane);
    s->out_bytes = (size_t)(s->frame.out_pitch_bytes * content->height_px);
    s->read_bytes = (size_t)(channels * in_row * content->height_px);
    s->copy_bytes = (size_t)((channels * in_row + out_row) / 2 * content->height_px);
    s->pair_bytes = 2 * aligned(s->in_bytes > s->out_bytes ? s->in_bytes : s->out_bytes);
    s->scratch_bytes = ec_kernels_scratch_bytes(s->plan, content->width_px, content->height_px);
    s->state_bytes = ec_kernels_state_bytes(s->plan, content->width_px, content->height_px);
    const size_t wanted = ROTATE_BYTES / s->pair_bytes;
    s->pairs = wanted < 2 ? 2 : wanted > FRAMES ? FRAMES : (int)wanted;
}

static bool fill(struct setting *s, const struct ec_image *content, struct ec_error *error)
{
    const size_t row = (size_t)content->width_px * (s->plan->depth_bits > 8 ? 2 : 1);
    s->used = s->pairs;
    for (int i = 0; i < s->pairs; i++) {
        for (int c = 0; c < s->plan->channels; c++) {
            void *d_in = (char *)s->d_pairs + (size_t)i * s->pair_bytes + c * s->frame.in_plane_bytes;
            const void *in = (const char *)content->data + c * content->plane_bytes;
            if (!EC_CUDA(error, cudaMemcpy2DAsync(d_in, (size_t)s->frame.in_pitch_bytes, in, (size_t)content->pitch_bytes, row,
                                                  (size_t)content->height_px, cudaMemcpyHostToDevice, s->chains.streams[0])))
                return false;
        }
    }
    return EC_CUDA(error, cudaMemcpyAsync(s->d_plan, s->plan, sizeof *s->plan, cudaMemcpyHostToDevice, s->chains.streams[0])) &&
           EC_CUDA(error, cudaStreamSynchronize(s->chains.streams[0]));
}

static bool open_setting(struct setting *s, const struct ec_image *content, struct ec_error *error)
{
    if (!ec_chains_open(&s->chains, error) ||
        !ec_device_alloc(s->device, &s->d_pairs, (size_t)s->pairs * s->pair_bytes, error) ||
        !ec_device_alloc(s->device, &s->d_plan, sizeof *s->plan, error))
        return false;
    for (int c = 0; s->scratch_bytes > 0 && c < EC_THROUGHPUT_STREAMS; c++)
        if (!ec_device_alloc(s->device, &s->d_scratch[c], s->scratch_bytes, error))
            return false;
    for (int c = 0; s->state_bytes > 0 && c < EC_THROUGHPUT_STREAMS; c++)
        if (!ec_device_alloc(s->device, &s->d_state[c], s->state_bytes, error) ||
            !EC_CUDA(error, cudaMemsetAsync(s->d_state[c], 0, s->state_bytes, s->chains.streams[0])))
            return false;
    return fill(s, content, error);
}

static void close_setting(struct setting *s)
{
    for (int c = 0; c < EC_THROUGHPUT_STREAMS; c++) {
        ec_device_free(s->device, &s->d_scratch[c], s->scratch_bytes);
        ec_device_free(s->device, &s->d_state[c], s->state_bytes);
    }
    ec_device_free(s->device, &s->d_plan, sizeof *s->plan);
    ec_device_free(s->device, &s->d_pairs, (size_t)s->pairs * s->pair_bytes);
    ec_chains_close(&s->chains);
}

static bool time_both(struct setting *s, int streams, int pairs, struct ec_frame_times *out, struct ec_error *error)
{
    s->used = pairs;
    return ec_chains_time(&s->chains, streams, FRAMES, REPETITIONS, queue_copy, s, &out->copy_us, error) &&
           ec_chains_time(&s->chains, streams, FRAMES, REPETITIONS, queue_frame, s, &out->frame_us, error);
}

enum ec_status ec_cuda_throughput(struct ec_device *device, const struct ec_plan *plan, const struct ec_image *content,
                                  struct ec_throughput *out, struct ec_error *error)
{
    struct ec_error first = {0};
    struct ec_plan tuned = *plan;
    struct setting s = {.device = device, .plan = &tuned};
    tuned.tuning = device->tuning;
    *out = (struct ec_throughput){.frames = FRAMES, .repetitions = REPETITIONS};
    if (!ec_device_enter(device, error))
        return EC_ERROR_DEVICE;
    lay_out(&s, content);
    out->frame_bytes = 2 * (int64_t)s.copy_bytes;
    out->in_bytes = (int64_t)s.read_bytes;
    out->buffers = s.pairs;
    if (open_setting(&s, content, &first) && time_both(&s, 1, s.pairs, &out->serial, &first) &&
        time_both(&s, EC_THROUGHPUT_STREAMS, s.pairs, &out->parallel, &first))
        time_both(&s, 1, 1, &out->cached, &first);
    close_setting(&s);
    return first.status == EC_OK ? EC_OK : ec_fail(error, first.status, "%s", first.text);
}
