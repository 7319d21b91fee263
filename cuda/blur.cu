/* Gaussian in two passes, exact: the first leaves the row sums (at most max * 2^fraction_bits: 16 bits for bytes, 32 for deeper
 * pixels), the second sums them down the columns and rounds once. Any size; blur_bytes.cu is faster where it fits. */
#include "pair.cuh"
#include "tile.cuh"

namespace
{

using namespace ec;

template <class Pixel>
struct Sums;

template <>
struct Sums<uint8_t> {
    using Row = uint16_t;
    using Total = uint32_t; /* 255 * 2^16 */
};

template <>
struct Sums<uint16_t> {
    using Row = uint32_t;
    using Total = uint64_t;
};

/* Weights with zeros on both sides, so that a thread's outputs, `margin` apart at most, run over one stretch of input. */
EC_DEVICE void load_weights(uint32_t *weights, int32_t count, const ec_blur_taps *taps, int32_t size, int32_t margin)
{
    for (int32_t i = threadIdx.y * blockDim.x + threadIdx.x; i < count; i += blockDim.x * blockDim.y)
        weights[i] = i >= margin && i < margin + size ? taps->weights[i - margin] : 0;
}

/* A step takes STEP inputs to STEP outputs: weights[STEP - 1 + t - k] is that of input t in output k. The first STEP - 1 are
 * those that the last step had at its end. */
template <int STEP>
EC_DEVICE void slide_weights(uint32_t *window, const uint32_t *next)
{
#pragma unroll
    for (int i = 0; i < STEP - 1; i++)
        window[i] = window[i + STEP];
#pragma unroll
    for (int i = 0; i < STEP; i++)
        window[STEP - 1 + i] = next[i];
}

constexpr int ROW_STEP = 4, ROW_BLOCK_X = 64, ROW_BLOCK_Y = 4, ROW_SPAN = ROW_BLOCK_X * ROW_STEP;
constexpr int WEIGHTS_MAX = (EC_BLUR_MAX_SIZE + 31) / 16 * 16;

template <class Pixel>
__global__ void __launch_bounds__(ROW_BLOCK_X *ROW_BLOCK_Y)
    blur_rows_kernel(const __grid_constant__ ec_gpu_source in, const ec_blur_taps *taps, int32_t size, void *sums,
                     int64_t sums_pitch)
{
    constexpr int PITCH = ROW_SPAN + 2 * (EC_BLUR_MAX_SIZE / 2 + CHUNK<Pixel>) / CHUNK<Pixel> * CHUNK<Pixel>;
    __shared__ __align__(16) Pixel tile[ROW_BLOCK_Y * PITCH];
    __shared__ __align__(16) uint32_t weights[WEIGHTS_MAX];
    const int32_t block_x = blockIdx.x * ROW_SPAN, block_y = blockIdx.y * ROW_BLOCK_Y;
    const int32_t margin = (size / 2 + CHUNK<Pixel> - 1) / CHUNK<Pixel> * CHUNK<Pixel>, zeros = margin - size / 2;
    load_weights(weights, WEIGHTS_MAX, taps, size, zeros % ROW_STEP);
    load_tile<Pixel>(tile, PITCH, in, block_x - margin, block_y, (ROW_SPAN + 2 * margin) / CHUNK<Pixel>, ROW_BLOCK_Y, margin);
    __syncthreads();

    /* From a multiple of ROW_STEP on, so that the pixels come as vectors. */
    const Pixel *p = tile + threadIdx.y * PITCH + zeros / ROW_STEP * ROW_STEP + threadIdx.x * ROW_STEP;
    uint32_t sum[ROW_STEP] = {}, window[2 * ROW_STEP] = {};
    for (int32_t i = 0; i < zeros % ROW_STEP + size + ROW_STEP - 1; i += ROW_STEP) {
        slide_weights<ROW_STEP>(window, weights + i);
#pragma unroll
        for (int t = 0; t < ROW_STEP; t++) {
            const uint32_t v = p[i + t];
#pragma unroll
            for (int k = 0; k < ROW_STEP; k++)
                sum[k] += window[ROW_STEP - 1 + t - k] * v;
        }
    }
    const int32_t x = block_x + threadIdx.x * ROW_STEP, y = block_y + threadIdx.y;
    if (y >= in.height_px)
        return;
    typename Sums<Pixel>::Row *row = (typename Sums<Pixel>::Row *)((char *)sums + (int64_t)y * sums_pitch);
#pragma unroll
    for (int k = 0; k < ROW_STEP; k++)
        if (x + k < in.width_px)
            row[x + k] = (typename Sums<Pixel>::Row)sum[k];
}

constexpr int COLUMN_STEP = 8, COLUMN_BLOCK_X = 64, COLUMN_BLOCK_Y = 4;

/* `narrow` NULL: the blurred pixels themselves, else their finished difference from `narrow`. */
template <class Pixel>
__global__ void __launch_bounds__(COLUMN_BLOCK_X *COLUMN_BLOCK_Y)
    blur_columns_kernel(const void *sums, int64_t sums_pitch, int32_t width, int32_t height, enum ec_border border,
                        const ec_blur_taps *taps, int32_t size, int32_t fraction_bits, const void *narrow, int64_t narrow_pitch,
                        const __grid_constant__ ec_gpu_target out)
{
    using Row = typename Sums<Pixel>::Row;
    using Total = typename Sums<Pixel>::Total;
    __shared__ __align__(16) uint32_t weights[WEIGHTS_MAX];
    load_weights(weights, WEIGHTS_MAX, taps, size, 0);
    __syncthreads();

    const int32_t x = blockIdx.x * COLUMN_BLOCK_X + threadIdx.x;
    const int32_t y = (blockIdx.y * COLUMN_BLOCK_Y + threadIdx.y) * COLUMN_STEP;
    if (x >= width || y >= height)
        return;
    Total total[COLUMN_STEP] = {};
    uint32_t window[2 * COLUMN_STEP] = {};
    for (int32_t i = 0; i < size + COLUMN_STEP - 1; i += COLUMN_STEP) {
        slide_weights<COLUMN_STEP>(window, weights + i);
        uint32_t v[COLUMN_STEP];
#pragma unroll
        for (int t = 0; t < COLUMN_STEP; t++) {
            const int32_t source_y = ec_border_index(y - size / 2 + i + t, height, border);
            v[t] = source_y < 0 ? 0 : ((const Row *)((const char *)sums + (int64_t)source_y * sums_pitch))[x];
        }
#pragma unroll
        for (int t = 0; t < COLUMN_STEP; t++)
#pragma unroll
            for (int k = 0; k < COLUMN_STEP; k++)
                total[k] += (Total)window[COLUMN_STEP - 1 + t - k] * v[t];
    }
#pragma unroll
    for (int k = 0; k < COLUMN_STEP; k++) {
        if (y + k >= height)
            return;
        int32_t v = ec_blur_round(total[k], fraction_bits);
        if (narrow)
            v = (int32_t)ec_finish(ec_abs_i32(v - ((const Pixel *)((const char *)narrow + (y + k) * narrow_pitch))[x]),
                                   &out.finish);
        store_value(out, x, y + k, (uint32_t)v);
    }
}

template <class Pixel>
enum ec_status blur(const ec_gpu_queue *queue, const ec_blur_taps *taps, const ec_blur_taps *d_taps, const ec_gpu_source &in,
                    void *sums, const void *narrow, int64_t narrow_pitch, const ec_gpu_target &out)
{
    const int64_t sums_pitch = ec_blur_sums_pitch_bytes(in.width_px, sizeof(Pixel) > 1);
    const dim3 row_grid(ceil_div(in.width_px, ROW_SPAN), ceil_div(in.height_px, ROW_BLOCK_Y));
    const dim3 column_grid(ceil_div(in.width_px, COLUMN_BLOCK_X), ceil_div(in.height_px, COLUMN_BLOCK_Y * COLUMN_STEP));
    const enum ec_status status = launch(queue, "blur_rows_kernel", blur_rows_kernel<Pixel>, row_grid,
                                         dim3(ROW_BLOCK_X, ROW_BLOCK_Y), in, d_taps, taps->size, sums, sums_pitch);
    if (status != EC_OK)
        return status;
    return launch(queue, "blur_columns_kernel", blur_columns_kernel<Pixel>, column_grid, dim3(COLUMN_BLOCK_X, COLUMN_BLOCK_Y),
                  (const void *)sums, sums_pitch, in.width_px, in.height_px, in.border, d_taps, taps->size, taps->fraction_bits,
                  narrow, narrow_pitch, out);
}

enum ec_status run(const ec_gpu_queue *queue, bool wide, const ec_gpu_source &in, void *sums, const void *narrow,
                   int64_t narrow_pitch, const ec_gpu_target &out)
{
    const ec_blur_taps *taps = wide ? &queue->plan->blur_wide : &queue->plan->blur;
    const ec_blur_taps *d_taps = wide ? &queue->d_plan->blur_wide : &queue->d_plan->blur;
    if (queue->plan->depth_bits > 8)
        return blur<uint16_t>(queue, taps, d_taps, in, sums, narrow, narrow_pitch, out);
    if (ec_blur_bytes_fits(taps))
        return ec_blur_bytes(queue, taps, &in, narrow, narrow_pitch, &out);
    return blur<uint8_t>(queue, taps, d_taps, in, sums, narrow, narrow_pitch, out);
}

} // namespace

int64_t ec_blur_sums_pitch_bytes(int32_t width_px, bool deep)
{
    return ec_gpu_pitch_bytes((int64_t)width_px * (deep ? sizeof(Sums<uint16_t>::Row) : sizeof(Sums<uint8_t>::Row)));
}

enum ec_status ec_blur(const ec_gpu_queue *queue, const ec_gpu_source *in, void *sums, void *blurred,
                       int64_t blurred_pitch_bytes)
{
    ec_gpu_target out = {};
    out.data = blurred;
    out.pitch_bytes = blurred_pitch_bytes;
    out.wide = queue->plan->depth_bits > 8;
    out.vector = true;
    return run(queue, false, *in, sums, nullptr, 0, out);
}

enum ec_status ec_blur_difference(const ec_gpu_queue *queue, const ec_gpu_source *in, void *sums, const void *narrow,
                                  int64_t narrow_pitch_bytes, const ec_gpu_target *out)
{
    return run(queue, true, *in, sums, narrow, narrow_pitch_bytes, *out);
}
