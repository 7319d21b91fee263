/* Where the picture stands still: edges of the frame before stay known there, elsewhere they are forgotten. */
#include "canny.h"

#include "edge/stable_arith.h"
#include "launch.cuh"
#include "pixel.cuh"

namespace
{

using namespace ec;

/* A warp takes eight squares side by side, a thread a row of one of them. */
constexpr int SQUARES = 8, WARPS = 4;

static_assert(SQUARES * EC_STABLE_ROWS == 32 && EC_STABLE_BLOCK == 16, "a half word of bits, a thread for each row");

/* Puts the sums of a square's row in the place of the last frame's; how far they are from each other. */
template <class Pixel>
EC_DEVICE uint32_t compare_row(const ec_gpu_source &in, const ec_plan *plan, int channels, uint16_t *cells, int32_t x,
                               int32_t y)
{
    uint32_t difference = 0;
    for (int k = 0; k < EC_STABLE_RUNS; k++) {
        int32_t sum = 0;
        for (int c = 0; c < channels; c++) {
            const Pixel *row = channel_row<Pixel>(in, c, y);
            for (int i = x + k * EC_STABLE_RUN; i < ec_min_i32(x + (k + 1) * EC_STABLE_RUN, in.width_px); i++)
                sum += ec_stable_value(row[i], plan);
        }
        difference += (uint32_t)ec_abs_i32(sum - cells[k]);
        cells[k] = (uint16_t)sum;
    }
    return difference;
}

template <class Pixel>
__global__ void __launch_bounds__(32 * WARPS) canny_still_kernel(const __grid_constant__ ec_gpu_source in, const ec_plan *plan,
                                                                 int channels, uint64_t *kept, int32_t words, uint16_t *cells)
{
    const int32_t squares = (in.width_px + EC_STABLE_BLOCK - 1) / EC_STABLE_BLOCK;
    const int32_t square = (blockIdx.x * WARPS + threadIdx.y) * SQUARES + threadIdx.x % SQUARES, part = threadIdx.x / SQUARES;
    const int32_t x = square * EC_STABLE_BLOCK, top = blockIdx.y * EC_STABLE_BLOCK, y = top + part * EC_STABLE_ROW_STEP;
    const bool inside = square < squares && y < in.height_px;
    uint32_t difference = 0;
    if (inside) {
        const int64_t row = y / EC_STABLE_ROW_STEP;
        difference = compare_row<Pixel>(in, plan, channels, cells + (row * squares + square) * EC_STABLE_RUNS, x, y);
    }
    difference += __shfl_down_sync(0xffffffffu, difference, 2 * SQUARES);
    difference += __shfl_down_sync(0xffffffffu, difference, SQUARES);
    const int32_t rows = ec_min_i32(EC_STABLE_BLOCK, in.height_px - top);
    if (part != 0 || !inside)
        return;
    const int32_t width = ec_min_i32(EC_STABLE_BLOCK, in.width_px - x);
    const int32_t sums = (width + EC_STABLE_RUN - 1) / EC_STABLE_RUN * ((rows + EC_STABLE_ROW_STEP - 1) / EC_STABLE_ROW_STEP);
    if (!ec_stable_has_moved(difference, sums, channels))
        return;
    for (int32_t i = 0; i < rows; i++)
        ((uint16_t *)(kept + (int64_t)(top + i) * words))[square] = 0;
}

} // namespace

enum ec_status ec_canny_still(const ec_gpu_queue *queue, const ec_canny_bits *bits)
{
    const ec_gpu_source *in = queue->picture;
    const dim3 grid(ceil_div(ceil_div(in->width_px, EC_STABLE_BLOCK), SQUARES * WARPS),
                    ceil_div(in->height_px, EC_STABLE_BLOCK));
    const int channels = in->plane_bytes ? EC_CHANNELS_MAX : 1;
    const auto kernel = queue->plan->depth_bits == 8 ? canny_still_kernel<uint8_t> : canny_still_kernel<uint16_t>;
    return launch(queue, "canny_still_kernel", kernel, grid, dim3(32, WARPS), *in, queue->d_plan, channels, bits->kept,
                  bits->words, bits->cells);
}
