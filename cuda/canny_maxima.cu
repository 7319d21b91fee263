/* Canny up to its bitmaps. A warp slides down a strip of 128 columns, four a lane, and writes the 120 in the middle: the outer
 * lanes only feed their neighbours. All that is kept of earlier rows is in registers. */
#include "canny.h"

#include <type_traits>

#include "edge/canny_arith.h"
#include "edge/stable_arith.h"
#include "launch.cuh"
#include "pair.cuh"

namespace
{

using namespace ec;

constexpr int LANE_PIXELS = 4, STRIP = 30 * LANE_PIXELS, WARPS = 4;

/* Of a warp: fewer would cost more in rows that are worked on twice than they gain in warps. */
constexpr int ROWS_LEAST = 16, ROWS_MOST = 60;

/* Chosen on the device, or known beforehand. */
struct Thresholds {
    const ec_canny_thresholds *chosen;
    ec_canny_thresholds known;
};

/* Four neighbouring pixels, as one or two words. */
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

/* Where a lane finds its four columns; those outside replicate. Loading is one thing and reading what has come another, for
 * rows are loaded long before they are read. */
template <class Pixel>
struct Columns {
    static constexpr uint32_t WHOLE = 0x3210;

    bool each; /* one by one, else the words at x, and which of their bytes it is */
    int32_t x;
    uint32_t selector; /* for a second word moved on by one word, unless it repeats a pixel */

    __device__ __forceinline__ void place(const ec_gpu_source &in, int32_t first)
    {
        const int32_t last = in.width_px / LANE_PIXELS * LANE_PIXELS - LANE_PIXELS;
        each = !in.vector || last < 0 || (first > last && in.width_px % LANE_PIXELS != 0);
        x = each ? first : ec_clamp_i32(first, 0, last);
        const uint32_t start = sizeof(Pixel) == 1 ? 0x0000 : 0x1010, end = sizeof(Pixel) == 1 ? 0x3333 : 0x7676;
        selector = x == first ? WHOLE : first < 0 ? start : end;
    }

    __device__ __forceinline__ Four<Pixel> load(const ec_gpu_source &in, int channel, int32_t y) const
    {
        constexpr int PER_WORD = 4 / sizeof(Pixel), BITS = 8 * sizeof(Pixel);
        const Pixel *row = channel_row<Pixel>(in, channel, ec_clamp_i32(y, 0, in.height_px - 1));
        Four<Pixel> four = {};
        if (each) {
#pragma unroll
            for (int i = 0; i < LANE_PIXELS; i++)
                four.words[i / PER_WORD] |= (uint32_t)row[ec_clamp_i32(x + i, 0, in.width_px - 1)] << BITS * (i % PER_WORD);
        } else {
#pragma unroll
            for (int k = 0; k < (int)sizeof(Pixel); k++)
                four.words[k] = ((const uint32_t *)(row + x))[k];
        }
        return four;
    }

    __device__ __forceinline__ Four<Pixel> read(const ec_gpu_source &in, const Four<Pixel> &loaded) const
    {
        Four<Pixel> four;
#pragma unroll
        for (int k = 0; k < (int)sizeof(Pixel); k++)
            four.words[k] =
                permute(loaded.words[0], loaded.words[sizeof(Pixel) - 1], k && selector == WHOLE ? WHOLE + 0x4444 : selector);
        map_words(in, four.words);
        return four;
    }
};

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

/* Row y, which was loaded AHEAD rows ago, if at all; in its place row y + AHEAD is loaded. */
template <int AHEAD, class Pixel>
EC_DEVICE Four<Pixel> next_row(Four<Pixel> *ahead, const Columns<Pixel> &columns, const ec_gpu_source &in, int channel,
                               int32_t y)
{
    const Four<Pixel> last = columns.load(in, channel, y + AHEAD), loaded = AHEAD ? ahead[0] : last;
#pragma unroll
    for (int i = 0; i + 1 < AHEAD; i++)
        ahead[i] = ahead[i + 1];
    if (AHEAD)
        ahead[AHEAD - 1] = last;
    return columns.read(in, loaded);
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

/* The gradients of four pixels, of which only the direction is asked, and that seldom. */
template <class Pixel>
struct Slopes {
    int32_t gx[LANE_PIXELS], gy[LANE_PIXELS];

    __device__ __forceinline__ void put(int i, int32_t x, int32_t y)
    {
        gx[i] = x;
        gy[i] = y;
    }
    __device__ __forceinline__ enum ec_direction direction(int i) const { return direction_of<Pixel>(gx[i], gy[i]); }
};

/* Those of bytes fit 16 bits each. */
template <>
struct Slopes<uint8_t> {
    uint32_t pairs[LANE_PIXELS];

    __device__ __forceinline__ void put(int i, int32_t x, int32_t y) { pairs[i] = permute((uint32_t)x, (uint32_t)y, 0x5410); }
    __device__ __forceinline__ enum ec_direction direction(int i) const
    {
        return direction_of<uint8_t>((int16_t)pairs[i], (int32_t)pairs[i] >> 16);
    }
};

/* In colour registers are scarce: the directions alone, a byte each. */
struct Directions {
    uint32_t bytes;

    template <class Pixel>
    __device__ __forceinline__ Directions &operator=(const Slopes<Pixel> &slopes)
    {
        bytes = 0;
#pragma unroll
        for (int i = 0; i < LANE_PIXELS; i++)
            bytes |= (uint32_t)slopes.direction(i) << 8 * i;
        return *this;
    }
    __device__ __forceinline__ enum ec_direction direction(int i) const
    {
        return (enum ec_direction)(bytes >> 8 * i & 0xff);
    }
};

/* A row of magnitudes and directions; magnitudes[0] and [5] are the neighbours'. */
template <class Magnitude, class Slopes>
struct Row {
    Magnitude magnitudes[LANE_PIXELS + 2];
    Slopes slopes;
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
template <bool L1, class Magnitude, class Pixel, int SIZE>
EC_DEVICE void add_channel(Magnitude *magnitudes, Slopes<Pixel> *slopes, const Window<SIZE> &window,
                           const ec_gradient_taps &taps, bool first)
{
#pragma unroll
    for (int i = 0; i < LANE_PIXELS; i++) {
        int32_t gx, gy;
        gradient_of(window, taps, i, &gx, &gy);
        const Magnitude m = magnitude_of<Magnitude, L1>(gx, gy);
        if (first || m > magnitudes[i]) {
            magnitudes[i] = m;
            slopes->put(i, gx, gy);
        }
    }
}

/* Raises what was an edge before, leaves nothing in columns from `end` on, and asks the neighbours. */
template <class Magnitude, class Slopes>
EC_DEVICE void complete_row(Row<Magnitude, Slopes> *row, int32_t x, int32_t end, uint32_t kept, int32_t boost)
{
#pragma unroll
    for (int i = 0; i < LANE_PIXELS; i++) {
        Magnitude *m = &row->magnitudes[1 + i];
        if (kept >> i & 1)
            *m = raise(*m, boost);
        *m = (uint32_t)(x + i) < (uint32_t)end ? *m : 0;
    }
    row->magnitudes[0] = shift_up(row->magnitudes[LANE_PIXELS]);
    row->magnitudes[LANE_PIXELS + 1] = shift_down(row->magnitudes[1]);
}

/* Bits of four pixels: low half of a byte for candidates, high half for strong ones. */
template <class Magnitude, class Slopes>
EC_DEVICE uint32_t find_maxima(const Row<Magnitude, Slopes> rows[3], Magnitude low, Magnitude high)
{
    uint32_t bits = 0;
    const Magnitude *up = rows[0].magnitudes, *row = rows[1].magnitudes, *down = rows[2].magnitudes;
#pragma unroll
    for (int i = 0; i < LANE_PIXELS; i++) {
        const Magnitude m = row[1 + i];
        if (m <= low)
            continue;
        const enum ec_direction direction = rows[1].slopes.direction(i);
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
__global__ void __launch_bounds__(32 * WARPS, SIZE > 3 || sizeof(Magnitude) > 4 || CHANNELS > 1 ? 1
                                              : sizeof(Pixel) > 1 || STABLE                     ? 4
                                                                                                : 5)
    canny_maxima_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gradient_taps taps,
                        const __grid_constant__ ec_canny_bits bits, Thresholds thresholds, int32_t rows_a_warp, int32_t boost)
{
    constexpr int HALF = SIZE / 2;
    constexpr int AHEAD = CHANNELS == 1 ? 3 : SIZE < 7 ? 1 : 0; /* rows that are on their way while one is worked on */
    const int32_t lane = threadIdx.x, strip = blockIdx.x, first = (blockIdx.y * WARPS + threadIdx.y) * rows_a_warp;
    const int32_t end = ec_min_i32(first + rows_a_warp, in.height_px), x = strip * STRIP + (lane - 1) * LANE_PIXELS;
    const int64_t top = sizeof(Magnitude) == 4 ? INT32_MAX : INT64_MAX;
    const ec_canny_thresholds used = thresholds.chosen ? *thresholds.chosen : thresholds.known;
    const Magnitude low = (Magnitude)(used.low < top ? used.low : top);
    const Magnitude high = (Magnitude)(used.high < top ? used.high : top);
    const int32_t byte = strip * (STRIP / 8) + lane / 2, row_bytes = bits.words * 8;
    const bool writes = lane % 2 == 1 && lane < 31 && byte < row_bytes;
    if (first >= end)
        return;

    Window<SIZE> windows[CHANNELS] = {};
    Row<Magnitude, typename std::conditional<CHANNELS == 1, Slopes<Pixel>, Directions>::type> rows[3] = {};
    Four<Pixel> ahead[CHANNELS][AHEAD + 1];
    Columns<Pixel> columns;
    columns.place(in, x);
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            ahead[c][i] = columns.load(in, c, first - 1 - HALF + i);
#pragma unroll
        for (int i = 0; i < 2 * HALF; i++)
            push_row(&windows[c], next_row<AHEAD>(ahead[c], columns, in, c, first - 1 - HALF + i), taps);
    }
    /* A multiple of those, so that no register has to be moved; but in colour all of them are needed. */
#pragma unroll(CHANNELS == 1 ? AHEAD : 1)
    for (int32_t y = first - 1; y <= end; y++) {
        rows[0] = rows[1];
        rows[1] = rows[2];
        Slopes<Pixel> slopes = {};
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            push_row(&windows[c], next_row<AHEAD>(ahead[c], columns, in, c, y + HALF), taps);
            add_channel<L1>(&rows[2].magnitudes[1], &slopes, windows[c], taps, c == 0);
        }
        rows[2].slopes = slopes;
        complete_row(&rows[2], x, y >= 0 && y < in.height_px ? in.width_px : 0, STABLE ? kept_four(bits, x, y) : 0, boost);
        if (y <= first)
            continue;
        const uint32_t found = find_maxima(rows, low, high);
        const uint32_t next = __shfl_down_sync(0xffffffffu, found, 1);
        const int64_t at = (int64_t)(y - 1) * row_bytes + byte;
        if (writes) {
            ((uint8_t *)bits.candidates)[at] = (uint8_t)((found & 15) | (next & 15) << 4);
            ((uint8_t *)bits.edges)[at] = (uint8_t)(found >> 4 | (next & 0xf0));
        }
    }
}

using Kernel = void (*)(ec_gpu_source, ec_gradient_taps, ec_canny_bits, Thresholds, int32_t, int32_t);

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

/* Rows of a warp for which the blocks of a frame fill the device once, or twice and so on if they are many. */
int32_t choose_rows(int32_t height_px, int32_t strips, int blocks_at_once)
{
    int32_t rows = height_px;
    for (int turns = 1; rows > ROWS_MOST; turns++)
        rows = ceil_div(height_px, ec_max_i32(turns * blocks_at_once / strips, turns) * WARPS);
    return ec_max_i32(rows, ROWS_LEAST);
}

} // namespace

enum ec_status ec_canny_maxima(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_canny_thresholds *d_thresholds,
                               const ec_canny_bits *bits)
{
    const ec_plan *plan = queue->plan;
    const Thresholds thresholds = {d_thresholds, plan->canny};
    /* In colour one kernel does for both: it is slower by far more than the look at bits->kept. */
    const Kernel kernel = in->plane_bytes ? choose<EC_CHANNELS_MAX, true>(plan)
                          : bits->kept    ? choose<1, true>(plan)
                                          : choose<1, false>(plan);
    int at_once;
    if (!blocks_at_once(queue, kernel, 32 * WARPS, &at_once))
        return EC_ERROR_DEVICE;
    /* Every byte of a row of words gets its bits, those past the width too. */
    const int32_t strips = ceil_div(64 * bits->words, STRIP), rows = choose_rows(in->height_px, strips, at_once);
    return launch(queue, "canny_maxima_kernel", kernel, dim3(strips, ceil_div(in->height_px, rows * WARPS)), dim3(32, WARPS),
                  *in, plan->gradient, *bits, thresholds, rows, plan->stable_boost);
}
