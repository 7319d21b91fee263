#include "canny.h"

namespace
{

int32_t words_of(int32_t width_px)
{
    return (width_px + 63) / 64;
}

int64_t bitmap_bytes(int32_t width_px, int32_t height_px)
{
    return ec_gpu_pitch_bytes((int64_t)words_of(width_px) * height_px * (int64_t)sizeof(uint64_t));
}

} // namespace

size_t ec_canny_scratch_bytes(int32_t width_px, int32_t height_px)
{
    const size_t labels = (size_t)words_of(width_px) * (size_t)height_px * 32 + 1;
    return 2 * (size_t)bitmap_bytes(width_px, height_px) + labels * sizeof(uint32_t);
}

enum ec_status ec_canny(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out, void *d_scratch)
{
    const int64_t bytes = bitmap_bytes(in->width_px, in->height_px);
    ec_canny_bits bits = {};
    bits.candidates = (uint64_t *)d_scratch;
    bits.edges = (uint64_t *)((char *)d_scratch + bytes);
    bits.labels = (uint32_t *)((char *)d_scratch + 2 * bytes);
    bits.width_px = in->width_px;
    bits.height_px = in->height_px;
    bits.words = words_of(in->width_px);
    const enum ec_status status = ec_canny_maxima(queue, in, &bits);
    return status == EC_OK ? ec_canny_edges(queue, &bits, out) : status;
}
