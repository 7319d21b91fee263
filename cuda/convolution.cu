/* Convolution of any odd size: a thread owns 4 columns and ROWS rows of a shared tile. */
#include "launch.cuh"
#include "pixel.cuh"

namespace
{

using namespace ec;

constexpr int COLUMNS = 4, ROWS = 2, BLOCK_X = 32, BLOCK_Y = 8, SPAN_X = BLOCK_X * COLUMNS, SPAN_Y = BLOCK_Y * ROWS;
constexpr int MARGIN = COLUMNS - 1;
constexpr int WEIGHTS_PITCH = EC_KERNEL_MAX_SIZE + 2 * MARGIN;

/* Exact in 32 bits, exact in 64 bits, float. */
struct Narrow {
    using Weight = int32_t;
    using Sum = int32_t;
};
struct Wide {
    using Weight = int32_t;
    using Sum = int64_t;
};
struct Float {
    using Weight = float;
    using Sum = float;
};

EC_DEVICE void accumulate(int32_t *sum, int32_t weight, int32_t v)
{
    *sum += weight * v;
}
EC_DEVICE void accumulate(int64_t *sum, int32_t weight, int32_t v)
{
    *sum += (int64_t)weight * v;
}
/* A weight of zero left or right of the row leaves the sum's value as it is. */
EC_DEVICE void accumulate(float *sum, float weight, int32_t v)
{
    *sum = fmaf(weight, (float)v, *sum);
}

EC_DEVICE uint32_t finish(int32_t sum, int64_t divisor, const struct ec_finish &f)
{
    return ec_finish(divisor == 1 ? sum : ec_divide_half_even(sum, divisor), &f);
}
EC_DEVICE uint32_t finish(int64_t sum, int64_t divisor, const struct ec_finish &f)
{
    return ec_finish(ec_divide_half_even(sum, divisor), &f);
}
EC_DEVICE uint32_t finish(float sum, int64_t, const struct ec_finish &f)
{
    return ec_finish_float(sum, &f);
}

/* `weights`: size x size, row-major. */
template <class Pixel, class Arithmetic>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    convolution_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                       const typename Arithmetic::Weight *weights, int32_t size, int64_t divisor)
{
    using Weight = typename Arithmetic::Weight;
    using Sum = typename Arithmetic::Sum;
    constexpr int PITCH = SPAN_X + EC_KERNEL_MAX_SIZE + 1;
    __shared__ Pixel tile[PITCH * (SPAN_Y + EC_KERNEL_MAX_SIZE - 1)];
    __shared__ Weight padded[WEIGHTS_PITCH * EC_KERNEL_MAX_SIZE];
    const int32_t block_x = blockIdx.x * SPAN_X, block_y = blockIdx.y * SPAN_Y;
    for (int32_t j = threadIdx.y; j < size; j += BLOCK_Y)
        for (int32_t i = threadIdx.x; i < size + 2 * MARGIN; i += BLOCK_X)
            padded[j * WEIGHTS_PITCH + i] = i >= MARGIN && i < MARGIN + size ? weights[j * size + i - MARGIN] : (Weight)0;
    load_tile<Pixel, PITCH>(tile, in, block_x - size / 2, block_y - size / 2, SPAN_X + size - 1, SPAN_Y + size - 1);
    __syncthreads();

    Sum sums[ROWS][COLUMNS] = {};
    const Pixel *p = tile + threadIdx.y * ROWS * PITCH + threadIdx.x * COLUMNS;
    for (int32_t j = 0; j < size; j++) {
        const Weight *w = padded + j * WEIGHTS_PITCH + MARGIN;
#pragma unroll 4
        for (int32_t i = 0; i < size + MARGIN; i++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const int32_t v = p[(j + r) * PITCH + i];
#pragma unroll
                for (int k = 0; k < COLUMNS; k++)
                    accumulate(&sums[r][k], w[i - k], v);
            }
        }
    }
    const int32_t x = block_x + threadIdx.x * COLUMNS, y = block_y + threadIdx.y * ROWS;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int k = 0; k < COLUMNS; k++)
            if (x + k < in.width_px && y + r < in.height_px)
                store_value(out, x + k, y + r, finish(sums[r][k], divisor, out.finish));
}

template <class Pixel>
enum ec_status convolve(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    const ec_convolution_taps *taps = &queue->plan->convolution, *d_taps = &queue->d_plan->convolution;
    const dim3 grid(ceil_div(in.width_px, SPAN_X), ceil_div(in.height_px, SPAN_Y)), block(BLOCK_X, BLOCK_Y);
    const int64_t divisor = taps->divisor;
    if (!taps->integer)
        return launch(queue, "convolution_kernel", convolution_kernel<Pixel, Float>, grid, block, in, out,
                      (const float *)d_taps->float_weights, taps->size, divisor);
    const int32_t *weights = d_taps->integer_weights;
    return taps->wide_sum ? launch(queue, "convolution_kernel", convolution_kernel<Pixel, Wide>, grid, block, in, out, weights,
                                   taps->size, divisor)
                          : launch(queue, "convolution_kernel", convolution_kernel<Pixel, Narrow>, grid, block, in, out,
                                   weights, taps->size, divisor);
}

} // namespace

enum ec_status ec_convolution(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    return queue->plan->depth_bits == 8 ? convolve<uint8_t>(queue, *in, *out) : convolve<uint16_t>(queue, *in, *out);
}
