/* The steps of a plan, in order: blur, second blur, operator. */
#include "kernels.h"

#include "launch.cuh"
#include "operators.h"

namespace
{

/* Only ever asked about: a kernel that exists wherever the others do. */
__global__ void probe_kernel() {}

bool vector_aligned(const void *data, int64_t pitch_bytes, int64_t plane_bytes)
{
    return ((uintptr_t)data | (uintptr_t)pitch_bytes | (uintptr_t)plane_bytes) % 16 == 0;
}

int64_t plane_bytes(int64_t pitch_bytes, int32_t height_px)
{
    return pitch_bytes * height_px;
}

int64_t blurred_pitch_bytes(const ec_plan *plan, int32_t width_px)
{
    return ec_gpu_pitch_bytes((int64_t)width_px * (plan->depth_bits > 8 ? 2 : 1));
}

int64_t sums_bytes(const ec_plan *plan, int32_t width_px, int32_t height_px)
{
    return plane_bytes(ec_blur_sums_pitch_bytes(width_px, plan->depth_bits > 8), height_px);
}

enum ec_status run_convolution(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    if (ec_convolution_strips_fits(queue->plan, in, out))
        return ec_convolution_strips(queue, in, out);
    if (ec_convolution_bytes_fits(queue->plan))
        return ec_convolution_bytes(queue, in, out);
    return ec_convolution_float_fits(queue->plan, in) ? ec_convolution_float(queue, in, out) : ec_convolution(queue, in, out);
}

enum ec_status run_operator(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out, void *d_scratch)
{
    const ec_plan *plan = queue->plan;
    if (plan->op == EC_OPERATOR_CANNY)
        return ec_canny(queue, in, out, d_scratch);
    if (plan->op == EC_OPERATOR_CONVOLUTION)
        return run_convolution(queue, in, out);
    if (plan->window_size > 3)
        return ec_gradient_wide(queue, in, out);
    if (ec_gradient_pairs_fits(plan, in, out))
        return ec_gradient_pairs(queue, in, out);
    if (ec_gradient_pairs_deep_fits(plan, in, out))
        return ec_gradient_pairs_deep(queue, in, out);
    return ec_neighbours(queue, in, out);
}

} // namespace

int64_t ec_gpu_pitch_bytes(int64_t row_bytes)
{
    return (row_bytes + EC_GPU_PITCH_ALIGN - 1) / EC_GPU_PITCH_ALIGN * EC_GPU_PITCH_ALIGN;
}

size_t ec_kernels_scratch_bytes(const struct ec_plan *plan, int32_t width_px, int32_t height_px)
{
    const size_t canny = plan->op == EC_OPERATOR_CANNY ? ec_canny_scratch_bytes(plan, width_px, height_px) : 0;
    if (plan->blur.size == 0)
        return canny;
    return canny + (size_t)(sums_bytes(plan, width_px, height_px) +
                            plan->channels * plane_bytes(blurred_pitch_bytes(plan, width_px), height_px));
}

size_t ec_kernels_state_bytes(const struct ec_plan *plan, int32_t width_px, int32_t height_px)
{
    return plan->op == EC_OPERATOR_CANNY ? ec_canny_state_bytes(plan, width_px, height_px) : 0;
}

enum ec_status ec_kernels_run(const struct ec_plan *plan, const struct ec_plan *d_plan, void *d_scratch,
                              const struct ec_gpu_frame *frame, cudaStream_t stream, struct ec_error *error)
{
    ec_gpu_source in = {};
    in.data = frame->d_in;
    in.pitch_bytes = frame->in_pitch_bytes;
    in.plane_bytes = frame->in_plane_bytes;
    in.width_px = frame->width_px;
    in.height_px = frame->height_px;
    in.max = plan->luma.max;
    in.border = plan->border;
    in.expand = frame->limited_range;
    in.vector = vector_aligned(frame->d_in, frame->in_pitch_bytes, frame->in_plane_bytes);
    in.padded = frame->in_padded;
    in.luma = plan->luma;
    ec_gpu_target out = {};
    out.data = frame->d_out;
    out.pitch_bytes = frame->out_pitch_bytes;
    out.wide = plan->output_depth_bits > 8;
    out.vector = vector_aligned(frame->d_out, frame->out_pitch_bytes, 0);
    out.padded = frame->out_padded;
    out.saturation = plan->saturation;
    out.finish = plan->finish;
    const ec_gpu_source picture = in;
    const ec_gpu_queue queue = {plan, d_plan, stream, error, frame->d_state, frame->note, &picture};
    if (plan->blur.size == 0)
        return run_operator(&queue, &in, &out, d_scratch);

    void *blurred = (char *)d_scratch + sums_bytes(plan, in.width_px, in.height_px);
    const int64_t pitch = blurred_pitch_bytes(plan, in.width_px);
    const int64_t plane = plane_bytes(pitch, in.height_px);
    const int32_t channels = in.plane_bytes ? plan->channels : 1;
    enum ec_status status = EC_OK;
    for (int32_t c = 0; c < channels && status == EC_OK; c++) {
        ec_gpu_source channel = in;
        channel.data = (const char *)in.data + c * in.plane_bytes;
        status = ec_blur(&queue, &channel, d_scratch, (char *)blurred + c * plane, pitch);
    }
    if (status != EC_OK)
        return status;
    if (plan->op == EC_OPERATOR_DOG)
        return ec_blur_difference(&queue, &in, d_scratch, blurred, pitch, &out);
    in.data = blurred;
    in.pitch_bytes = pitch;
    in.plane_bytes = channels > 1 ? plane : 0;
    in.expand = false;
    in.vector = true;
    in.padded = true;
    return run_operator(&queue, &in, &out, (char *)blurred + plan->channels * plane);
}

cudaError_t ec_kernels_probe(void)
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, probe_kernel);
}
