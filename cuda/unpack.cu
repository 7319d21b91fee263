/* Samples from the high bits of their words to the low ones: NVDEC's P010 and P016. In place, too. */
#include "launch.cuh"

namespace ec
{

__global__ void unpack_kernel(const uint16_t *from, int64_t from_pitch_bytes, uint16_t *to, int64_t to_pitch_bytes,
                              int32_t width, int32_t height, int32_t shift)
{
    const int32_t x = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    if (x >= width)
        return;
    for (int32_t y = (int32_t)(blockIdx.y * blockDim.y + threadIdx.y); y < height; y += (int32_t)(gridDim.y * blockDim.y)) {
        const uint16_t *in = (const uint16_t *)((const char *)from + y * from_pitch_bytes);
        uint16_t *out = (uint16_t *)((char *)to + y * to_pitch_bytes);
        out[x] = (uint16_t)(in[x] >> shift);
    }
}

} // namespace ec

enum ec_status ec_kernels_unpack(const struct ec_gpu_frame *frame, void *d_to, int64_t to_pitch_bytes, int32_t shift,
                                 cudaStream_t stream, struct ec_error *error)
{
    const struct ec_gpu_queue queue = {NULL, NULL, stream, error, NULL, NULL, NULL};
    const dim3 block(64, 4);
    const int rows = ec::ceil_div(frame->height_px, (int)block.y);
    const dim3 grid((unsigned)ec::ceil_div(frame->width_px, (int)block.x), (unsigned)(rows < 4096 ? rows : 4096));
    return ec::launch(&queue, "unpack_kernel", ec::unpack_kernel, grid, block, (const uint16_t *)frame->d_in,
                      frame->in_pitch_bytes, (uint16_t *)d_to, to_pitch_bytes, frame->width_px, frame->height_px, shift);
}
