/* Gradients of aperture 5 and 7: separable. A thread owns one column and slides down ROWS rows of a shared tile, holding the
 * last SIZE row sums, so each pixel's horizontal work is done once. */
#include "tile.cuh"

namespace
{

using namespace ec;

constexpr int ROWS = 8, BLOCK_X = 64, BLOCK_Y = 4;

template <class Pixel, int SIZE>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    gradient_wide_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                         const __grid_constant__ ec_gradient_taps taps, enum ec_norm norm)
{
    constexpr int MARGIN = CHUNK<Pixel>, PITCH = BLOCK_X + 2 * MARGIN, HEIGHT = BLOCK_Y * ROWS + SIZE - 1;
    __shared__ __align__(16) Pixel tile[PITCH * HEIGHT];
    const int32_t block_x = blockIdx.x * BLOCK_X, block_y = blockIdx.y * BLOCK_Y * ROWS;
    load_tile<Pixel>(tile, PITCH, in, block_x - MARGIN, block_y - SIZE / 2, PITCH / CHUNK<Pixel>, HEIGHT, SIZE / 2);
    __syncthreads();

    const int32_t x = block_x + threadIdx.x, y = block_y + threadIdx.y * ROWS;
    const Pixel *p = tile + threadIdx.y * ROWS * PITCH + MARGIN - SIZE / 2 + threadIdx.x;
    int32_t along[SIZE], across[SIZE];
#pragma unroll
    for (int j = 0; j < ROWS + SIZE - 1; j++) {
        int32_t along_sum = 0, across_sum = 0;
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            const int32_t v = p[j * PITCH + i];
            along_sum += taps.derive[i] * v;
            across_sum += taps.smooth[i] * v;
        }
        along[j % SIZE] = along_sum;
        across[j % SIZE] = across_sum;
        const int row = j - (SIZE - 1);
        if (row < 0)
            continue;
        int32_t gx = 0, gy = 0;
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            gx += taps.smooth[i] * along[(row + i) % SIZE];
            gy += taps.derive[i] * across[(row + i) % SIZE];
        }
        if (x < in.width_px && y + row < in.height_px) {
            const int32_t m = norm == EC_NORM_L1 ? ec_abs_i32(gx) + ec_abs_i32(gy) : magnitude_l2(gx, gy, out.saturation);
            store_value(out, x, y + row, ec_finish(m, &out.finish));
        }
    }
}

template <class Pixel>
auto choose(int size) -> void (*)(ec_gpu_source, ec_gpu_target, ec_gradient_taps, enum ec_norm)
{
    return size == 5 ? gradient_wide_kernel<Pixel, 5> : gradient_wide_kernel<Pixel, 7>;
}

} // namespace

enum ec_status ec_gradient_wide(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    const ec_plan *plan = queue->plan;
    const dim3 grid(ceil_div(in->width_px, BLOCK_X), ceil_div(in->height_px, BLOCK_Y * ROWS));
    return launch(queue, "gradient_wide_kernel",
                  plan->depth_bits == 8 ? choose<uint8_t>(plan->window_size) : choose<uint16_t>(plan->window_size), grid,
                  dim3(BLOCK_X, BLOCK_Y), *in, *out, plan->gradient, plan->norm);
}
