/* Convolution of bytes with weights that are signed bytes: four products an instruction. A thread owns 4 columns and ROWS rows.
 *
 * The window of its first column starts at a word of the tile, for which the kernel is widened by zeros on the left to a
 * multiple of 4 pixels before the centre; those of the other columns start one, two and three bytes later. */
#include "convolution_finish.cuh"
#include "pair.cuh"
#include "tile.cuh"

namespace
{

using namespace ec;

constexpr int ROWS = 4, BLOCK_X = 32, BLOCK_Y = 8, SPAN_X = BLOCK_X * 4, SPAN_Y = BLOCK_Y * ROWS;
constexpr int MARGIN = 16, PITCH = SPAN_X + 2 * MARGIN;
constexpr int WORDS_MAX = 8;

/* Row j of the widened kernel, four weights a word. */
struct Weights {
    int32_t words[EC_KERNEL_MAX_SIZE][WORDS_MAX];
};

EC_DEVICE int32_t multiply_add_bytes(uint32_t pixels, int32_t weights, int32_t sum)
{
#ifdef __CUDA_ARCH__
    int32_t r;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(pixels), "r"(weights), "r"(sum));
    return r;
#else
    for (int i = 0; i < 4; i++)
        sum += (int32_t)(pixels >> (8 * i) & 255) * (int8_t)((uint32_t)weights >> (8 * i));
    return sum;
#endif
}

/* SIZE 0: any size whose widened rows are WORDS words. */
template <int WORDS, int SIZE>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    convolution_bytes_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                             const __grid_constant__ Weights weights, int32_t any_size, int64_t divisor)
{
    constexpr int MAX_SIZE = SIZE ? SIZE : EC_KERNEL_MAX_SIZE;
    __shared__ __align__(16) uint8_t tile[PITCH * (SPAN_Y + MAX_SIZE - 1)];
    const int32_t size = SIZE ? SIZE : any_size, before = (size / 2 + 3) / 4 * 4;
    const int32_t block_x = blockIdx.x * SPAN_X, block_y = blockIdx.y * SPAN_Y;
    load_tile<uint8_t>(tile, PITCH, in, block_x - MARGIN, block_y - size / 2, PITCH / CHUNK<uint8_t>, SPAN_Y + size - 1);
    __syncthreads();

    const uint32_t *p = (const uint32_t *)(tile + threadIdx.y * ROWS * PITCH + MARGIN - before) + threadIdx.x;
    int32_t sums[ROWS][4] = {};
#pragma unroll(SIZE ? SIZE + ROWS - 1 : 1)
    for (int32_t i = 0; i < size + ROWS - 1; i++) {
        uint32_t row[4][WORDS + 1];
#pragma unroll
        for (int k = 0; k <= WORDS; k++)
            row[0][k] = p[i * (PITCH / 4) + k];
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            row[1][k] = permute(row[0][k], row[0][k + 1], 0x4321);
            row[2][k] = permute(row[0][k], row[0][k + 1], 0x5432);
            row[3][k] = permute(row[0][k], row[0][k + 1], 0x6543);
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int32_t j = i - r;
            if (j < 0 || j >= size)
                continue;
#pragma unroll
            for (int k = 0; k < WORDS; k++) {
                const int32_t w = weights.words[j][k];
#pragma unroll
                for (int q = 0; q < 4; q++)
                    sums[r][q] = multiply_add_bytes(row[q][k], w, sums[r][q]);
            }
        }
    }
    const int32_t x = block_x + threadIdx.x * 4, y = block_y + threadIdx.y * ROWS;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        uint32_t v[4];
#pragma unroll
        for (int q = 0; q < 4; q++)
            v[q] = finish_sum(sums[r][q], divisor, out.finish);
        if (x < in.width_px && y + r < in.height_px)
            store_four(out, in.width_px, x, y + r, v);
    }
}

using Kernel = void (*)(ec_gpu_source, ec_gpu_target, Weights, int32_t, int64_t);

Kernel choose(int size, int words)
{
    static const Kernel any[WORDS_MAX] = {convolution_bytes_kernel<1, 0>, convolution_bytes_kernel<2, 0>,
                                          convolution_bytes_kernel<3, 0>, convolution_bytes_kernel<4, 0>,
                                          convolution_bytes_kernel<5, 0>, convolution_bytes_kernel<6, 0>,
                                          convolution_bytes_kernel<7, 0>, convolution_bytes_kernel<8, 0>};
    switch (size) {
    case 3:
        return convolution_bytes_kernel<2, 3>;
    case 5:
        return convolution_bytes_kernel<2, 5>;
    case 7:
        return convolution_bytes_kernel<2, 7>;
    default:
        return any[words - 1];
    }
}

} // namespace

bool ec_convolution_bytes_fits(const ec_plan *plan)
{
    const ec_convolution_taps *taps = &plan->convolution;
    if (plan->depth_bits != 8 || !taps->integer || taps->wide_sum)
        return false;
    for (int32_t i = 0; i < taps->size * taps->size; i++)
        if (taps->integer_weights[i] < INT8_MIN || taps->integer_weights[i] > INT8_MAX)
            return false;
    return true;
}

enum ec_status ec_convolution_bytes(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    const ec_convolution_taps *taps = &queue->plan->convolution;
    const int size = taps->size, before = (size / 2 + 3) / 4 * 4, words = ceil_div(before - size / 2 + size, 4);
    Weights weights = {};
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++) {
            const int at = before - size / 2 + i;
            const uint32_t byte = (uint32_t)taps->integer_weights[j * size + i] & 255;
            weights.words[j][at / 4] |= (int32_t)(byte << (at % 4 * 8));
        }
    return launch(queue, "convolution_bytes_kernel", choose(size, words),
                  dim3(ceil_div(in->width_px, SPAN_X), ceil_div(in->height_px, SPAN_Y)), dim3(BLOCK_X, BLOCK_Y), *in, *out,
                  weights, size, taps->divisor);
}
