/* Results of two values as one bit a pixel. A thread makes a word of 32 pixels; its neighbours read on where it ends. */
#include "launch.cuh"
#include "pixel.cuh"

namespace
{

constexpr int BLOCK_X = 64, BLOCK_Y = 4;

/* Bit i: byte or half i of the word is not 0. */
EC_DEVICE uint32_t bits_of(uint32_t word, uint8_t)
{
    return ((word & 0xff) != 0) | ((word & 0xff00) != 0) << 1 | ((word & 0xff0000) != 0) << 2 | ((word & 0xff000000) != 0) << 3;
}
EC_DEVICE uint32_t bits_of(uint32_t word, uint16_t)
{
    return ((word & 0xffff) != 0) | ((word & 0xffff0000) != 0) << 1;
}

/* Rows of `from` start on 16-byte boundaries and are readable up to the next multiple of 128 bytes, which 32 pixels divide. */
template <class Pixel>
__global__ void pack_kernel(const char *from, int64_t from_pitch_bytes, uint32_t *to, int64_t to_pitch_words, int32_t width,
                            int32_t height)
{
    constexpr int VECTORS = 2 * sizeof(Pixel), PER_WORD = 4 / sizeof(Pixel);
    const int32_t word = (int32_t)(blockIdx.x * BLOCK_X + threadIdx.x);
    if (word * 32 >= width)
        return;
    const uint32_t inside = width - word * 32 >= 32 ? 0xffffffffu : (1u << (width - word * 32)) - 1;
    for (int32_t y = (int32_t)(blockIdx.y * BLOCK_Y + threadIdx.y); y < height; y += (int32_t)(gridDim.y * BLOCK_Y)) {
        const uint4 *row = (const uint4 *)(from + y * from_pitch_bytes) + word * VECTORS;
        uint32_t bits = 0;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const uint4 four = row[v];
            const uint32_t words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int k = 0; k < 4; k++)
                bits |= bits_of(words[k], Pixel()) << ((v * 4 + k) * PER_WORD);
        }
        to[y * to_pitch_words + word] = bits & inside;
    }
}

} // namespace

enum ec_status ec_kernels_pack(const void *d_from, int64_t from_pitch_bytes, bool wide, void *d_to, int64_t to_pitch_bytes,
                               int32_t width_px, int32_t height_px, cudaStream_t stream, struct ec_error *error)
{
    const ec_gpu_queue queue = {NULL, NULL, stream, error, NULL, NULL, NULL};
    const int rows = ec::ceil_div(height_px, BLOCK_Y);
    const dim3 grid((unsigned)ec::ceil_div(ec::ceil_div(width_px, 32), BLOCK_X), (unsigned)(rows < 65535 ? rows : 65535));
    return ec::launch(&queue, "pack_kernel", wide ? pack_kernel<uint16_t> : pack_kernel<uint8_t>, grid, dim3(BLOCK_X, BLOCK_Y),
                      (const char *)d_from, from_pitch_bytes, (uint32_t *)d_to, to_pitch_bytes / 4, width_px, height_px);
}
