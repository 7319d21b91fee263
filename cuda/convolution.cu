/* Convolution of any odd size and any weights: a thread owns 4 columns and ROWS rows of a shared tile.
 *
 * The kernel is widened by zeros to a multiple of 4 on the left and in all, so that pixels and
 * weights come four at a time. A weight of zero before or after a row leaves a sum as it is, a float one too. */
#include "convolution_finish.cuh"
#include "tile.cuh"

namespace
{

using namespace ec;

constexpr int ROWS = 4, BLOCK_X = 32, BLOCK_Y = 4, SPAN_X = BLOCK_X * 4, SPAN_Y = BLOCK_Y * ROWS;

/* Exact in 32 bits, exact in 64 bits, float. */
struct Narrow {
    using Weight = int32_t;
    using Sum = int32_t;
    using Divisor = ec::Divisor;
};
struct Wide {
    using Weight = int32_t;
    using Sum = int64_t;
    using Divisor = int64_t;
};
struct Float {
    using Weight = float;
    using Sum = float;
    using Divisor = ec::Divisor;
};

EC_DEVICE void accumulate(int32_t *sum, int32_t weight, int32_t v)
{
    *sum += weight * v;
}
EC_DEVICE void accumulate(int64_t *sum, int32_t weight, int32_t v)
{
    *sum += (int64_t)weight * v;
}
EC_DEVICE void accumulate(float *sum, float weight, float v)
{
    *sum = fmaf(weight, v, *sum);
}

/* Four elements at a 16-byte boundary. */
template <class Element>
struct alignas(16) Four {
    Element v[4];
};

/* `weights`: size x size, row-major. MAX_SIZE bounds size and sets how much shared memory a block takes. */
template <class Pixel, class Arithmetic, int MAX_SIZE>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    convolution_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                       const typename Arithmetic::Weight *weights, int32_t size, const typename Arithmetic::Divisor divisor)
{
    using Weight = typename Arithmetic::Weight; /* also a pixel's type in the tile */
    using Sum = typename Arithmetic::Sum;
    constexpr int MARGIN = 16, PITCH = SPAN_X + 2 * MARGIN, WEIGHTS_PITCH = (MAX_SIZE / 2 + 3) / 4 * 4 + MAX_SIZE / 2 + 1 + 3;
    constexpr int WEIGHTS_FOURS = WEIGHTS_PITCH / 4;
    __shared__ Four<Weight> tile[PITCH / 4 * (SPAN_Y + MAX_SIZE - 1)];
    __shared__ Four<Weight> widened[WEIGHTS_FOURS * MAX_SIZE];
    const int32_t block_x = blockIdx.x * SPAN_X, block_y = blockIdx.y * SPAN_Y;
    const int32_t before = (size / 2 + 3) / 4 * 4, zeros = before - size / 2, fours = (zeros + size + 3) / 4;
    for (int32_t k = threadIdx.y * BLOCK_X + threadIdx.x; k < size * WEIGHTS_FOURS * 4; k += BLOCK_X * BLOCK_Y) {
        const int32_t j = k / (WEIGHTS_FOURS * 4), i = k % (WEIGHTS_FOURS * 4) - zeros;
        widened[k / 4].v[k % 4] = i >= 0 && i < size ? weights[j * size + i] : (Weight)0;
    }
    load_tile<Pixel>(&tile[0].v[0], PITCH, in, block_x - MARGIN, block_y - size / 2, PITCH / CHUNK<Pixel>, SPAN_Y + size - 1,
                     MARGIN);
    __syncthreads();

    const Four<Weight> *p = tile + threadIdx.y * ROWS * (PITCH / 4) + (MARGIN - before) / 4 + threadIdx.x;
    Sum sums[ROWS][4] = {};
    for (int32_t i = 0; i < size + ROWS - 1; i++) {
        Four<Weight> left = p[i * (PITCH / 4)];
        for (int32_t k = 0; k < fours; k++) {
            const Four<Weight> right = p[i * (PITCH / 4) + k + 1];
            const Weight v[8] = {left.v[0], left.v[1], left.v[2], left.v[3], right.v[0], right.v[1], right.v[2], right.v[3]};
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (i - r < 0 || i - r >= size)
                    continue;
                const Four<Weight> w = widened[(i - r) * WEIGHTS_FOURS + k];
#pragma unroll
                for (int q = 0; q < 4; q++)
#pragma unroll
                    for (int t = 0; t < 4; t++)
                        accumulate(&sums[r][q], w.v[t], v[q + t]);
            }
            left = right;
        }
    }
    const int32_t x = block_x + threadIdx.x * 4, y = block_y + threadIdx.y * ROWS;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (x >= in.width_px || y + r >= in.height_px)
            break;
        float m[4];
        respond_four(m, sums[r], divisor);
        store_responses(out, in.width_px, x, y + r, m);
    }
}

template <class Pixel, class Arithmetic>
enum ec_status run(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out,
                   const typename Arithmetic::Weight *weights, const typename Arithmetic::Divisor &divisor)
{
    const ec_convolution_taps *taps = &queue->plan->convolution;
    const dim3 grid(ceil_div(in.width_px, SPAN_X), ceil_div(in.height_px, SPAN_Y));
    return launch(queue, "convolution_kernel",
                  taps->size <= 9 ? convolution_kernel<Pixel, Arithmetic, 9>
                                  : convolution_kernel<Pixel, Arithmetic, EC_KERNEL_MAX_SIZE>,
                  grid, dim3(BLOCK_X, BLOCK_Y), in, out, weights, taps->size, divisor);
}

template <class Pixel>
enum ec_status convolve(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    const ec_convolution_taps *taps = &queue->plan->convolution, *d_taps = &queue->d_plan->convolution;
    const Divisor divisor = make_divisor(taps->divisor);
    if (!taps->integer)
        return run<Pixel, Float>(queue, in, out, d_taps->float_weights, divisor);
    if (taps->wide_sum || taps->divisor > DIVISOR_MAX)
        return run<Pixel, Wide>(queue, in, out, d_taps->integer_weights, taps->divisor);
    return run<Pixel, Narrow>(queue, in, out, d_taps->integer_weights, divisor);
}

} // namespace

enum ec_status ec_convolution(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    return queue->plan->depth_bits == 8 ? convolve<uint8_t>(queue, *in, *out) : convolve<uint16_t>(queue, *in, *out);
}
