/* Canny up to its bitmaps. A warp slides down a strip of 128 columns, four a lane, and writes the 120 in the middle: the outer
 * lanes only feed their neighbours. All that is kept of earlier rows is in registers. */
#include "canny.h"

#include "edge/canny_arith.h"
#include "edge/stable_arith.h"
#include "launch.cuh"
#include "pixel.cuh"

namespace
{

using namespace ec;

constexpr int LANE_PIXELS = 4, STRIP = 30 * LANE_PIXELS, ROWS = 20, WARPS = 4;

/* Rows that are on their way while one is worked on; UNROLL is a multiple, so that no register has to be moved. */
constexpr int AHEAD = 3, UNROLL = 3;

/* Chosen on the device, or known beforehand. */
struct Thresholds {
    const ec_canny_thresholds *chosen;
    ec_canny_thresholds known;
};

/* Four pixels from column x on, mapped, as one or two words; columns outside replicate. */
template <class Pixel>
struct Four {
    uint32_t words[sizeof(Pixel)];
};

EC_DEVICE int32_t pixel_of(const Four<uint8_t> &four, int i)
{
    return four.words[0] >> 8 * i & 0xff;
}

EC_DEVICE int32_t pixel_of(const Four<uint16_t> &four, int i)
{
    return four.words[i / 2] >> 16 * (i % 2) & 0xffff;
}

template <class Pixel>
EC_DEVICE Four<Pixel> load_four(const ec_gpu_source &in, int channel, int32_t x, int32_t y)
{
    constexpr int PER_WORD = 4 / sizeof(Pixel), BITS = 8 * sizeof(Pixel);
    const Pixel *row = channel_row<Pixel>(in, channel, ec_clamp_i32(y, 0, in.height_px - 1));
    const bool maps = in.expand || in.max != (Pixel)~0;
    Four<Pixel> four = {};
    if (in.vector && x >= 0 && x + LANE_PIXELS <= in.width_px) {
#pragma unroll
        for (int k = 0; k < (int)sizeof(Pixel); k++)
            four.words[k] = ((const uint32_t *)(row + x))[k];
        if (!maps)
            return four;
#pragma unroll
        for (int k = 0; k < (int)sizeof(Pixel); k++) {
            uint32_t word = 0;
#pragma unroll
            for (int i = 0; i < PER_WORD; i++)
                word |= (uint32_t)map_value(in, (Pixel)(four.words[k] >> BITS * i)) << BITS * i;
            four.words[k] = word;
        }
        return four;
    }
#pragma unroll
    for (int i = 0; i < LANE_PIXELS; i++) {
        const int32_t value = map_value(in, row[ec_clamp_i32(x + i, 0, in.width_px - 1)]);
        four.words[i / PER_WORD] |= (uint32_t)value << BITS * (i % PER_WORD);
    }
    return four;
}

template <class Pixel>
EC_DEVICE Four<Pixel> from_left(const Four<Pixel> &four)
{
    Four<Pixel> left;
#pragma unroll
    for (int k = 0; k < (int)sizeof(Pixel); k++)
        left.words[k] = __shfl_up_sync(0xffffffffu, four.words[k], 1);
    return left;
}

template <class Pixel>
EC_DEVICE Four<Pixel> from_right(const Four<Pixel> &four)
{
    Four<Pixel> right;
#pragma unroll
    for (int k = 0; k < (int)sizeof(Pixel); k++)
        right.words[k] = __shfl_down_sync(0xffffffffu, four.words[k], 1);
    return right;
}

EC_DEVICE int32_t shift_up(int32_t v)
{
    return (int32_t)__shfl_up_sync(0xffffffffu, (uint32_t)v, 1);
}
EC_DEVICE int32_t shift_down(int32_t v)
{
    return (int32_t)__shfl_down_sync(0xffffffffu, (uint32_t)v, 1);
}
EC_DEVICE int64_t shift_up(int64_t v)
{
    const uint32_t low = __shfl_up_sync(0xffffffffu, (uint32_t)v, 1);
    return (int64_t)((uint64_t)__shfl_up_sync(0xffffffffu, (uint32_t)((uint64_t)v >> 32), 1) << 32 | low);
}
EC_DEVICE int64_t shift_down(int64_t v)
{
    const uint32_t low = __shfl_down_sync(0xffffffffu, (uint32_t)v, 1);
    return (int64_t)((uint64_t)__shfl_down_sync(0xffffffffu, (uint32_t)((uint64_t)v >> 32), 1) << 32 | low);
}

/* The last SIZE rows' horizontal sums of four columns, oldest first. */
template <int SIZE>
struct Window {
    int32_t along[SIZE][LANE_PIXELS], across[SIZE][LANE_PIXELS];
};

template <class Pixel, int SIZE>
EC_DEVICE void push_row(Window<SIZE> *window, const Four<Pixel> &four, const ec_gradient_taps &taps)
{
    constexpr int HALF = SIZE / 2;
    const Four<Pixel> left = from_left(four), right = from_right(four);
    int32_t pixels[LANE_PIXELS + 2 * HALF];
#pragma unroll
    for (int i = 0; i < LANE_PIXELS; i++)
        pixels[HALF + i] = pixel_of(four, i);
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        pixels[i] = pixel_of(left, LANE_PIXELS - HALF + i);
        pixels[HALF + LANE_PIXELS + i] = pixel_of(right, i);
    }
#pragma unroll
    for (int j = 0; j + 1 < SIZE; j++)
#pragma unroll
        for (int i = 0; i < LANE_PIXELS; i++) {
            window->along[j][i] = window->along[j + 1][i];
            window->across[j][i] = window->across[j + 1][i];
        }
#pragma unroll
    for (int i = 0; i < LANE_PIXELS; i++) {
        int32_t along = 0, across = 0;
        if (SIZE == 3) {
            along = pixels[i + 2] - pixels[i];
            across = pixels[i] + 2 * pixels[i + 1] + pixels[i + 2];
        } else {
#pragma unroll
            for (int k = 0; k < SIZE; k++) {
                along += taps.derive[k] * pixels[i + k];
                across += taps.smooth[k] * pixels[i + k];
            }
        }
        window->along[SIZE - 1][i] = along;
        window->across[SIZE - 1][i] = across;
    }
}

template <int SIZE>
EC_DEVICE void gradient_of(const Window<SIZE> &window, const ec_gradient_taps &taps, int i, int32_t *gx, int32_t *gy)
{
    if (SIZE == 3) {
        *gx = window.along[0][i] + 2 * window.along[1][i] + window.along[2][i];
        *gy = window.across[2][i] - window.across[0][i];
        return;
    }
    int32_t x = 0, y = 0;
#pragma unroll
    for (int j = 0; j < SIZE; j++) {
        x += taps.smooth[j] * window.along[j][i];
        y += taps.derive[j] * window.across[j][i];
    }
    *gx = SIZE == 7 ? ec_sixteenth(x) : x;
    *gy = SIZE == 7 ? ec_sixteenth(y) : y;
}

/* Row y, which was loaded AHEAD rows ago; in its place row y + AHEAD is loaded. */
template <class Pixel>
EC_DEVICE Four<Pixel> next_row(Four<Pixel> ahead[AHEAD], const ec_gpu_source &in, int channel, int32_t x, int32_t y)
{
    const Four<Pixel> four = ahead[0];
#pragma unroll
    for (int i = 0; i + 1 < AHEAD; i++)
        ahead[i] = ahead[i + 1];
    ahead[AHEAD - 1] = load_four<Pixel>(in, channel, x, y + AHEAD);
    return four;
}

/* A row of gradients and magnitudes; magnitudes[0] and [5] are the neighbours'. */
template <class Magnitude>
struct Row {
    Magnitude magnitudes[LANE_PIXELS + 2];
    int32_t gx[LANE_PIXELS], gy[LANE_PIXELS];
};

template <class Magnitude, bool L1>
EC_DEVICE Magnitude magnitude_of(int32_t gx, int32_t gy)
{
    const Magnitude across = gx, down = gy;
    return L1 ? (across < 0 ? -across : across) + (down < 0 ? -down : down) : across * across + down * down;
}

EC_DEVICE int32_t raise(int32_t m, int32_t boost)
{
    return ec_stable_raise_i32(m, boost);
}
EC_DEVICE int64_t raise(int64_t m, int32_t boost)
{
    return ec_stable_raise_i64(m, boost);
}

/* Bits of the four pixels from column x of row y that were edges in the frame before; x may lie outside. */
EC_DEVICE uint32_t kept_four(const ec_canny_bits &bits, int32_t x, int32_t y)
{
    if (!bits.kept || x < 0 || x >= bits.width_px || y < 0 || y >= bits.height_px)
        return 0;
    return ((const uint8_t *)(bits.kept + (int64_t)y * bits.words))[x / 8] >> (x & 4) & 15;
}

/* Of several channels the first of those with the largest magnitude counts. */
template <class Magnitude, bool L1, int SIZE, int CHANNELS>
EC_DEVICE void measure(Row<Magnitude> *row, const Window<SIZE> windows[CHANNELS], const ec_gradient_taps &taps, int32_t x,
                       int32_t width, bool inside, uint32_t kept, int32_t boost)
{
#pragma unroll
    for (int i = 0; i < LANE_PIXELS; i++) {
        gradient_of(windows[0], taps, i, &row->gx[i], &row->gy[i]);
        Magnitude m = magnitude_of<Magnitude, L1>(row->gx[i], row->gy[i]);
#pragma unroll
        for (int c = 1; c < CHANNELS; c++) {
            int32_t gx, gy;
            gradient_of(windows[c], taps, i, &gx, &gy);
            const Magnitude other = magnitude_of<Magnitude, L1>(gx, gy);
            row->gx[i] = other > m ? gx : row->gx[i];
            row->gy[i] = other > m ? gy : row->gy[i];
            m = other > m ? other : m;
        }
        if (kept >> i & 1)
            m = raise(m, boost);
        row->magnitudes[1 + i] = inside && x + i >= 0 && x + i < width ? m : 0;
    }
    row->magnitudes[0] = shift_up(row->magnitudes[LANE_PIXELS]);
    row->magnitudes[LANE_PIXELS + 1] = shift_down(row->magnitudes[1]);
}

/* The direction of gradients of bytes, in 32 bits: |gx| and |gy| are at most 48 * 255, and 12240 * (2^16 + 13573) < 2^30. */
template <class Pixel>
EC_DEVICE enum ec_direction direction_of(int32_t gx, int32_t gy)
{
    if (sizeof(Pixel) > 1)
        return ec_canny_direction(gx, gy);
    const int32_t x = ec_abs_i32(gx), y = ec_abs_i32(gy) << EC_CANNY_TANGENT_BITS, flat = x * EC_CANNY_TANGENT;
    if (y < flat)
        return EC_DIRECTION_HORIZONTAL;
    if (y > flat + (x << (EC_CANNY_TANGENT_BITS + 1)))
        return EC_DIRECTION_VERTICAL;
    return (gx ^ gy) < 0 ? EC_DIRECTION_RISING : EC_DIRECTION_FALLING;
}

/* Bits of four pixels: low half of a byte for candidates, high half for strong ones. */
template <class Pixel, class Magnitude>
EC_DEVICE uint32_t find_maxima(const Row<Magnitude> rows[3], Magnitude low, Magnitude high)
{
    uint32_t bits = 0;
    const Magnitude *up = rows[0].magnitudes, *row = rows[1].magnitudes, *down = rows[2].magnitudes;
#pragma unroll
    for (int i = 0; i < LANE_PIXELS; i++) {
        const Magnitude m = row[1 + i];
        if (m <= low)
            continue;
        const enum ec_direction direction = direction_of<Pixel>(rows[1].gx[i], rows[1].gy[i]);
        const bool horizontal = direction == EC_DIRECTION_HORIZONTAL, vertical = direction == EC_DIRECTION_VERTICAL;
        const bool falling = direction == EC_DIRECTION_FALLING;
        const Magnitude before = horizontal ? row[i] : vertical ? up[1 + i] : falling ? up[i] : up[2 + i];
        const Magnitude after = horizontal ? row[2 + i] : vertical ? down[1 + i] : falling ? down[2 + i] : down[i];
        if (ec_canny_is_maximum(m, before, after, direction))
            bits |= 1u << i | (m > high ? 16u << i : 0);
    }
    return bits;
}

template <class Pixel, int SIZE, class Magnitude, bool L1, int CHANNELS, bool STABLE>
__global__ void __launch_bounds__(32 * WARPS, SIZE == 3 && sizeof(Magnitude) == 4 && CHANNELS == 1 ? 5 : 1)
    canny_maxima_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gradient_taps taps,
                        const __grid_constant__ ec_canny_bits bits, Thresholds thresholds, int32_t boost)
{
    constexpr int HALF = SIZE / 2;
    const int32_t lane = threadIdx.x, strip = blockIdx.x, first = (blockIdx.y * WARPS + threadIdx.y) * ROWS;
    const int32_t end = ec_min_i32(first + ROWS, in.height_px), x = strip * STRIP + (lane - 1) * LANE_PIXELS;
    const int64_t top = sizeof(Magnitude) == 4 ? INT32_MAX : INT64_MAX;
    const ec_canny_thresholds used = thresholds.chosen ? *thresholds.chosen : thresholds.known;
    const Magnitude low = (Magnitude)(used.low < top ? used.low : top);
    const Magnitude high = (Magnitude)(used.high < top ? used.high : top);
    const int32_t byte = strip * (STRIP / 8) + lane / 2, row_bytes = bits.words * 8;
    const bool writes = lane % 2 == 1 && lane < 31 && byte < row_bytes;
    if (first >= end)
        return;

    Window<SIZE> windows[CHANNELS] = {};
    Row<Magnitude> rows[3] = {};
    Four<Pixel> ahead[CHANNELS][AHEAD];
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            ahead[c][i] = load_four<Pixel>(in, c, x, first - 1 - HALF + i);
#pragma unroll
        for (int i = 0; i < 2 * HALF; i++)
            push_row(&windows[c], next_row(ahead[c], in, c, x, first - 1 - HALF + i), taps);
    }
#pragma unroll UNROLL
    for (int32_t y = first - 1; y <= end; y++) {
        rows[0] = rows[1];
        rows[1] = rows[2];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            push_row(&windows[c], next_row(ahead[c], in, c, x, y + HALF), taps);
        const uint32_t kept = STABLE ? kept_four(bits, x, y) : 0;
        measure<Magnitude, L1, SIZE, CHANNELS>(&rows[2], windows, taps, x, in.width_px, y >= 0 && y < in.height_px, kept,
                                               boost);
        if (y <= first)
            continue;
        const uint32_t found = find_maxima<Pixel>(rows, low, high);
        const uint32_t next = __shfl_down_sync(0xffffffffu, found, 1);
        const int64_t at = (int64_t)(y - 1) * row_bytes + byte;
        if (writes) {
            ((uint8_t *)bits.candidates)[at] = (uint8_t)((found & 15) | (next & 15) << 4);
            ((uint8_t *)bits.edges)[at] = (uint8_t)(found >> 4 | (next & 0xf0));
        }
    }
}

using Kernel = void (*)(ec_gpu_source, ec_gradient_taps, ec_canny_bits, Thresholds, int32_t);

template <class Pixel, class Magnitude, bool L1, int CHANNELS, bool STABLE>
Kernel choose(int size)
{
    return size == 3   ? canny_maxima_kernel<Pixel, 3, Magnitude, L1, CHANNELS, STABLE>
           : size == 5 ? canny_maxima_kernel<Pixel, 5, Magnitude, L1, CHANNELS, STABLE>
                       : canny_maxima_kernel<Pixel, 7, Magnitude, L1, CHANNELS, STABLE>;
}

/* Squares of bytes' gradients fit 32 bits; those of deeper ones only sometimes, and there 64 bits are taken. */
template <int CHANNELS, bool STABLE>
Kernel choose(const ec_plan *plan)
{
    const int size = plan->gradient.size;
    const bool l1 = plan->norm == EC_NORM_L1;
    if (plan->depth_bits == 8)
        return l1 ? choose<uint8_t, int32_t, true, CHANNELS, STABLE>(size)
                  : choose<uint8_t, int32_t, false, CHANNELS, STABLE>(size);
    return l1 ? choose<uint16_t, int32_t, true, CHANNELS, STABLE>(size)
              : choose<uint16_t, int64_t, false, CHANNELS, STABLE>(size);
}

} // namespace

enum ec_status ec_canny_maxima(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_canny_thresholds *d_thresholds,
                               const ec_canny_bits *bits)
{
    const ec_plan *plan = queue->plan;
    /* Every byte of a row of words gets its bits, those past the width too. */
    const dim3 grid(ceil_div(64 * bits->words, STRIP), ceil_div(in->height_px, ROWS * WARPS));
    const Thresholds thresholds = {d_thresholds, plan->canny};
    /* In colour one kernel does for both: it is slower by far more than the look at bits->kept. */
    const Kernel kernel = in->plane_bytes ? choose<EC_CHANNELS_MAX, true>(plan)
                          : bits->kept    ? choose<1, true>(plan)
                                          : choose<1, false>(plan);
    return launch(queue, "canny_maxima_kernel", kernel, grid, dim3(32, WARPS), *in, plan->gradient, *bits, thresholds,
                  plan->stable_boost);
}
