/* Gaussian in two passes, exact: the first leaves the row sums (at most max * 2^fraction_bits: 16 bits for bytes, 32 for deeper
 * pixels), the second sums them down the columns and rounds once. */
#include "launch.cuh"
#include "pixel.cuh"

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

/* Weights with zeros on both sides, so that a thread's neighbouring outputs may run over one common stretch of input. */
template <int MARGIN>
EC_DEVICE void load_weights(uint32_t *weights, const ec_blur_taps *taps, int32_t size)
{
    const int32_t thread = threadIdx.y * blockDim.x + threadIdx.x;
    for (int32_t i = thread; i < size + 2 * MARGIN; i += blockDim.x * blockDim.y)
        weights[i] = i >= MARGIN && i < MARGIN + size ? taps->weights[i - MARGIN] : 0;
}

constexpr int ROW_COLUMNS = 4, ROW_BLOCK_X = 64, ROW_BLOCK_Y = 4, ROW_SPAN = ROW_BLOCK_X * ROW_COLUMNS;

template <class Pixel>
__global__ void __launch_bounds__(ROW_BLOCK_X *ROW_BLOCK_Y)
    blur_rows_kernel(const __grid_constant__ ec_gpu_source in, const ec_blur_taps *taps, int32_t size, void *sums,
                     int64_t sums_pitch)
{
    constexpr int MARGIN = ROW_COLUMNS - 1, PITCH = ROW_SPAN + EC_BLUR_MAX_SIZE + 1;
    __shared__ Pixel tile[ROW_BLOCK_Y * PITCH];
    __shared__ uint32_t weights[EC_BLUR_MAX_SIZE + 2 * MARGIN];
    const int32_t block_x = blockIdx.x * ROW_SPAN, block_y = blockIdx.y * ROW_BLOCK_Y;
    load_weights<MARGIN>(weights, taps, size);
    load_tile<Pixel, PITCH>(tile, in, block_x - size / 2, block_y, ROW_SPAN + size - 1, ROW_BLOCK_Y);
    __syncthreads();

    const Pixel *p = tile + threadIdx.y * PITCH + threadIdx.x * ROW_COLUMNS;
    uint32_t sum[ROW_COLUMNS] = {};
#pragma unroll 4
    for (int32_t i = 0; i < size + MARGIN; i++) {
        const uint32_t v = p[i];
#pragma unroll
        for (int k = 0; k < ROW_COLUMNS; k++)
            sum[k] += weights[MARGIN + i - k] * v;
    }
    const int32_t x = block_x + threadIdx.x * ROW_COLUMNS, y = block_y + threadIdx.y;
    if (y >= in.height_px)
        return;
    typename Sums<Pixel>::Row *row = (typename Sums<Pixel>::Row *)((char *)sums + (int64_t)y * sums_pitch);
#pragma unroll
    for (int k = 0; k < ROW_COLUMNS; k++)
        if (x + k < in.width_px)
            row[x + k] = (typename Sums<Pixel>::Row)sum[k];
}

constexpr int COLUMN_ROWS = 8, COLUMN_BLOCK_X = 64, COLUMN_BLOCK_Y = 4;

/* `narrow` NULL: the blurred pixels themselves, else their finished difference from `narrow`. */
template <class Pixel>
__global__ void __launch_bounds__(COLUMN_BLOCK_X *COLUMN_BLOCK_Y)
    blur_columns_kernel(const void *sums, int64_t sums_pitch, int32_t width, int32_t height, enum ec_border border,
                        const ec_blur_taps *taps, int32_t size, int32_t fraction_bits, const void *narrow, int64_t narrow_pitch,
                        const __grid_constant__ ec_gpu_target out)
{
    using Row = typename Sums<Pixel>::Row;
    using Total = typename Sums<Pixel>::Total;
    constexpr int MARGIN = COLUMN_ROWS - 1;
    __shared__ uint32_t weights[EC_BLUR_MAX_SIZE + 2 * MARGIN];
    load_weights<MARGIN>(weights, taps, size);
    __syncthreads();

    const int32_t x = blockIdx.x * COLUMN_BLOCK_X + threadIdx.x;
    const int32_t y = (blockIdx.y * COLUMN_BLOCK_Y + threadIdx.y) * COLUMN_ROWS;
    if (x >= width || y >= height)
        return;
    Total total[COLUMN_ROWS] = {};
#pragma unroll 8
    for (int32_t i = 0; i < size + MARGIN; i++) {
        const int32_t source_y = ec_border_index(y - size / 2 + i, height, border);
        const uint32_t v = source_y < 0 ? 0 : ((const Row *)((const char *)sums + (int64_t)source_y * sums_pitch))[x];
#pragma unroll
        for (int k = 0; k < COLUMN_ROWS; k++)
            total[k] += (Total)weights[MARGIN + i - k] * v;
    }
#pragma unroll
    for (int k = 0; k < COLUMN_ROWS; k++) {
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
enum ec_status blur(const ec_gpu_queue *queue, bool wide, const ec_gpu_source &in, void *sums, const void *narrow,
                    int64_t narrow_pitch, const ec_gpu_target &out)
{
    const ec_blur_taps *taps = wide ? &queue->plan->blur_wide : &queue->plan->blur;
    const ec_blur_taps *d_taps = wide ? &queue->d_plan->blur_wide : &queue->d_plan->blur;
    const int64_t sums_pitch = ec_blur_sums_pitch_bytes(in.width_px, sizeof(Pixel) > 1);
    const dim3 row_grid(ceil_div(in.width_px, ROW_SPAN), ceil_div(in.height_px, ROW_BLOCK_Y));
    const dim3 column_grid(ceil_div(in.width_px, COLUMN_BLOCK_X), ceil_div(in.height_px, COLUMN_BLOCK_Y * COLUMN_ROWS));
    const enum ec_status status = launch(queue, "blur_rows_kernel", blur_rows_kernel<Pixel>, row_grid,
                                         dim3(ROW_BLOCK_X, ROW_BLOCK_Y), in, d_taps, taps->size, sums, sums_pitch);
    if (status != EC_OK)
        return status;
    return launch(queue, "blur_columns_kernel", blur_columns_kernel<Pixel>, column_grid, dim3(COLUMN_BLOCK_X, COLUMN_BLOCK_Y),
                  (const void *)sums, sums_pitch, in.width_px, in.height_px, in.border, d_taps, taps->size, taps->fraction_bits,
                  narrow, narrow_pitch, out);
}

} // namespace

int64_t ec_blur_sums_pitch_bytes(int32_t width_px, bool deep)
{
    return ec_gpu_pitch_bytes((int64_t)width_px * (deep ? sizeof(Sums<uint16_t>::Row) : sizeof(Sums<uint8_t>::Row)));
}

enum ec_status ec_blur(const ec_gpu_queue *queue, bool wide, const ec_gpu_source *in, void *sums, void *blurred,
                       int64_t blurred_pitch_bytes)
{
    ec_gpu_target out = {};
    out.data = blurred;
    out.pitch_bytes = blurred_pitch_bytes;
    out.wide = queue->plan->depth_bits > 8;
    return out.wide ? blur<uint16_t>(queue, wide, *in, sums, nullptr, 0, out)
                    : blur<uint8_t>(queue, wide, *in, sums, nullptr, 0, out);
}

enum ec_status ec_blur_difference(const ec_gpu_queue *queue, const ec_gpu_source *in, void *sums, const void *narrow,
                                  int64_t narrow_pitch_bytes, const ec_gpu_target *out)
{
    return queue->plan->depth_bits > 8 ? blur<uint16_t>(queue, true, *in, sums, narrow, narrow_pitch_bytes, *out)
                                       : blur<uint8_t>(queue, true, *in, sums, narrow, narrow_pitch_bytes, *out);
}
