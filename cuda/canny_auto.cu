/* Automatic thresholds, which stay on the device: a kernel counts, and a thread chooses. */
#include "canny.h"

#include "edge/canny_arith.h"
#include "launch.cuh"
#include "pixel.cuh"

namespace
{

using namespace ec;

constexpr int BLOCK = 256, BLOCKS_MOST = 512, BINS = EC_AUTO_GRAYS + EC_AUTO_MAGNITUDES;

static_assert(sizeof(ec_auto_counts) == BINS * sizeof(uint32_t), "bins follow each other");

/* The largest of the channels' magnitudes at (x, y). */
template <class Pixel>
EC_DEVICE int64_t magnitude_at(const ec_gpu_source &in, const ec_plan *plan, int channels, int32_t x, int32_t y)
{
    const int size = plan->gradient.size, half = size / 2;
    int64_t largest = 0;
    for (int c = 0; c < channels; c++) {
        int32_t gx = 0, gy = 0;
        for (int j = 0; j < size; j++) {
            const Pixel *row = channel_row<Pixel>(in, c, ec_clamp_i32(y + j - half, 0, in.height_px - 1));
            int32_t along = 0, across = 0;
            for (int i = 0; i < size; i++) {
                const int32_t value = map_value(in, row[ec_clamp_i32(x + i - half, 0, in.width_px - 1)]);
                along += plan->gradient.derive[i] * value;
                across += plan->gradient.smooth[i] * value;
            }
            gx += plan->gradient.smooth[j] * along;
            gy += plan->gradient.derive[j] * across;
        }
        const int64_t m = ec_canny_magnitude(size == 7 ? ec_sixteenth(gx) : gx, size == 7 ? ec_sixteenth(gy) : gy, plan->norm);
        largest = m > largest ? m : largest;
    }
    return largest;
}

template <class Pixel>
__global__ void __launch_bounds__(BLOCK)
    canny_count_kernel(const __grid_constant__ ec_gpu_source in, const ec_plan *plan, int channels, uint32_t *counts)
{
    __shared__ uint32_t bins[BINS];
    for (int i = threadIdx.x; i < BINS; i += BLOCK)
        bins[i] = 0;
    __syncthreads();
    const int32_t columns = (in.width_px + EC_AUTO_COLUMN_STEP - 1) / EC_AUTO_COLUMN_STEP;
    const int32_t rows = (in.height_px + EC_AUTO_ROW_STEP - 1) / EC_AUTO_ROW_STEP;
    const int64_t pixels = (int64_t)columns * rows;
    const bool measures = plan->automatic.kind == EC_AUTO_PERCENTILE;
    for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < pixels; i += (int64_t)gridDim.x * BLOCK) {
        const int32_t x = (int32_t)(i % columns) * EC_AUTO_COLUMN_STEP, y = (int32_t)(i / columns) * EC_AUTO_ROW_STEP;
        for (int c = 0; c < channels; c++)
            atomicAdd(&bins[ec_auto_gray_bin(map_value(in, channel_row<Pixel>(in, c, y)[x]), plan->depth_bits)], 1u);
        if (measures)
            atomicAdd(&bins[EC_AUTO_GRAYS + ec_auto_magnitude_bin(magnitude_at<Pixel>(in, plan, channels, x, y), plan)], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += BLOCK)
        if (bins[i])
            atomicAdd(counts + i, bins[i]);
}

/* The arithmetic is the host's, on one thread; the others only fetch for it. */
__global__ void __launch_bounds__(BLOCK) canny_choose_kernel(const ec_plan *plan, const uint32_t *counts, ec_auto_state *state,
                                                             ec_auto_choice *choice, ec_gpu_note *note)
{
    __shared__ ec_auto_counts counted;
    __shared__ ec_auto_state kept;
    for (int i = threadIdx.x; i < BINS; i += BLOCK)
        ((uint32_t *)&counted)[i] = counts[i];
    for (int i = threadIdx.x; i < (int)(sizeof kept / sizeof(uint32_t)); i += BLOCK)
        ((uint32_t *)&kept)[i] = ((const uint32_t *)state)[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        ec_auto_choice chosen;
        ec_auto_choose(&chosen, &kept, &counted, plan, note ? note->weight : EC_AUTO_WHOLE);
        *choice = chosen;
        if (note)
            note->choice = chosen;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < (int)(sizeof kept / sizeof(uint32_t)); i += BLOCK)
        ((uint32_t *)state)[i] = ((const uint32_t *)&kept)[i];
}

} // namespace

enum ec_status ec_canny_choose(const ec_gpu_queue *queue, const ec_gpu_source *in, ec_canny_choosing *choosing)
{
    uint32_t *counts = (uint32_t *)&choosing->counts;
    if (!EC_CUDA(queue->error, cudaMemsetAsync(counts, 0, sizeof choosing->counts, queue->stream)))
        return EC_ERROR_DEVICE;
    const int64_t pixels = (int64_t)ceil_div(in->width_px, EC_AUTO_COLUMN_STEP) * ceil_div(in->height_px, EC_AUTO_ROW_STEP);
    const int64_t blocks = (pixels + BLOCK - 1) / BLOCK;
    const dim3 grid((unsigned)(blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST));
    const int channels = in->plane_bytes ? EC_CHANNELS_MAX : 1;
    const auto kernel = queue->plan->depth_bits == 8 ? canny_count_kernel<uint8_t> : canny_count_kernel<uint16_t>;
    const enum ec_status status =
        launch(queue, "canny_count_kernel", kernel, grid, dim3(BLOCK), *in, queue->d_plan, channels, counts);
    if (status != EC_OK)
        return status;
    return launch(queue, "canny_choose_kernel", canny_choose_kernel, dim3(1), dim3(BLOCK), queue->d_plan,
                  (const uint32_t *)counts, (ec_auto_state *)queue->d_state, &choosing->choice, queue->note);
}
