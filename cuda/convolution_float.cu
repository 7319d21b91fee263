/* Convolution of size 3, 5, 7 and 9 in single precision: float weights, and integer ones whose sums are exact there.
 *
 * A thread owns 4 columns and ROWS rows of a shared tile of floats and goes down them, adding each row of pixels to the sums of
 * all outputs that it belongs to: sums[j] are those that have had rows 0 to j of the kernel. The code for one row is small
 * enough to stay where instructions come from, which that for all rows is not. */
#include "columns.cuh"
#include "convolution_finish.cuh"
#include "launch.cuh"

namespace
{

using namespace ec;

constexpr int BLOCK_X = 32, BLOCK_Y = 4, SPAN_X = BLOCK_X * 4, BEFORE = 4, PITCH = SPAN_X + 2 * BEFORE, FOURS = PITCH / 4;
constexpr int ROWS = 16, SPAN_Y = BLOCK_Y * ROWS;

struct alignas(16) Four {
    float v[4];
};

/* What stored pixels count as. */
EC_DEVICE Four unpack(const ec_gpu_source &in, const uint32_t *words, uint8_t)
{
    const uint32_t word = in.expand ? expand_word(words[0]) : words[0];
    Four four;
#pragma unroll
    for (int i = 0; i < 4; i++)
        four.v[i] = pixel_float<uint8_t>(word, i);
    return four;
}

EC_DEVICE Four unpack(const ec_gpu_source &in, const uint32_t *words, uint16_t)
{
    Four four;
#pragma unroll
    for (int i = 0; i < 4; i++)
        four.v[i] = fminf(pixel_float<uint16_t>(words[i / 2], i % 2), (float)in.max);
    if (in.expand)
#pragma unroll
        for (int i = 0; i < 4; i++)
            four.v[i] = (float)ec_luma_expand((int32_t)four.v[i], &in.luma);
    return four;
}

/* Fills COUNT rows of four columns of the tile, from (x, y) on every STEP rows below `end`, with every load under way before
 * the first is used. INSIDE: all of them are inside the picture. */
template <class Pixel, int COUNT, int STEP, bool INSIDE>
EC_DEVICE void fill_columns(Four *tile, const ec_gpu_source &in, int32_t x, int32_t y, int32_t rows)
{
    Columns<Pixel> columns;
    columns.place(in, x, BEFORE);
    uint32_t words[COUNT][sizeof(Pixel)];
#pragma unroll
    for (int t = 0; t < COUNT; t++) {
        int32_t wanted = y + t * STEP;
        if (!INSIDE)
            wanted = border_index_near(ec_min_i32(wanted, in.height_px - 1 + BEFORE), in.height_px, in.border);
        const Pixel *row = source_row<Pixel>(in, wanted);
        if (INSIDE || columns.whole)
            columns.load_whole(words[t], row);
        else
            columns.load_each(words[t], row);
    }
#pragma unroll
    for (int t = 0; t < COUNT; t++) {
        Four four = unpack(in, words[t], Pixel());
        if (!INSIDE && in.border == EC_BORDER_CONSTANT && (uint32_t)(y + t * STEP) >= (uint32_t)in.height_px)
            four = {};
        if (t * STEP < rows)
            tile[t * STEP * FOURS] = four;
    }
}

/* The whole tile, whose first pixel is (x, y): a warp takes every BLOCK_Y-th row of the first 32 fours, and the two that are
 * left of each row are shared out. */
template <class Pixel, int TILE_ROWS, bool INSIDE>
EC_DEVICE void fill_tile(Four *tile, const ec_gpu_source &in, int32_t x, int32_t y)
{
    constexpr int COUNT = ceil_div(TILE_ROWS, BLOCK_Y);
    constexpr int LEFT = ceil_div(2 * TILE_ROWS, BLOCK_X * BLOCK_Y);
    const int32_t i = threadIdx.x, j = threadIdx.y;
#pragma unroll
    for (int t = 0; t < LEFT; t++) {
        const int32_t k = t * BLOCK_X * BLOCK_Y + j * BLOCK_X + i, row = ec_min_i32(k / 2, TILE_ROWS - 1),
                      more = BLOCK_X + k % 2;
        fill_columns<Pixel, 1, 1, INSIDE>(tile + row * FOURS + more, in, x + more * 4, y + row, k / 2 == row);
    }
    fill_columns<Pixel, COUNT, BLOCK_Y, INSIDE>(tile + j * FOURS + i, in, x + i * 4, y + j, TILE_ROWS - j);
}

/* Adds row `i` of a thread's pixels, twelve of them, to the sums of its outputs. ALL: every row of the kernel falls on one. */
template <int SIZE, bool ALL>
EC_DEVICE void add_row(float (*sums)[4], const float *weights, const Four *p, int32_t i)
{
    const Four fours[3] = {p[0], p[1], p[2]};
#pragma unroll
    for (int j = SIZE - 1; j >= 0; j--) {
        if (!ALL && (i < j || i - j >= ROWS))
            continue;
        float next[4];
#pragma unroll
        for (int q = 0; q < 4; q++)
            next[q] = j ? sums[j - 1][q] : 0.0f;
#pragma unroll
        for (int t = 0; t < SIZE; t++)
#pragma unroll
            for (int q = 0; q < 4; q++) {
                const int column = BEFORE - SIZE / 2 + q + t;
                next[q] = fmaf(weights[j * SIZE + t], fours[column / 4].v[column % 4], next[q]);
            }
#pragma unroll
        for (int q = 0; q < 4; q++)
            sums[j][q] = next[q];
    }
}

EC_DEVICE void finish_four(const ec_gpu_source &in, const ec_gpu_target &out, int32_t x, int32_t y, const float *sums,
                           const Divisor &divisor, bool plain)
{
    if (x >= in.width_px || y >= in.height_px)
        return;
    if (plain) {
        store_byte_word(out, in.width_px, x, y, round_bytes(sums));
    } else {
        float m[4];
        respond_four(m, sums, divisor);
        store_responses(out, in.width_px, x, y, m);
    }
}

template <class Pixel, int SIZE>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, SIZE > 7 ? 3 : 4)
    convolution_float_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                             const float *weights, const Divisor divisor)
{
    __shared__ Four tile[FOURS * (SPAN_Y + SIZE - 1)];
    __shared__ Four shared_weights[ceil_div(SIZE * SIZE, 4)];
    const int32_t thread = threadIdx.y * BLOCK_X + threadIdx.x;
    if (thread < SIZE * SIZE)
        shared_weights[thread / 4].v[thread % 4] = weights[thread];
    constexpr int TILE_ROWS = SPAN_Y + SIZE - 1, PADDED_ROWS = ceil_div(TILE_ROWS, BLOCK_Y) * BLOCK_Y;
    const int32_t block_x = blockIdx.x * SPAN_X, block_y = blockIdx.y * SPAN_Y, left = block_x - BEFORE,
                  top = block_y - SIZE / 2;
    if (in.vector && left >= 0 && left + PITCH <= in.width_px && top >= 0 && top + PADDED_ROWS <= in.height_px)
        fill_tile<Pixel, TILE_ROWS, true>(tile, in, left, top);
    else
        fill_tile<Pixel, TILE_ROWS, false>(tile, in, left, top);
    __syncthreads();

    const int32_t x = block_x + threadIdx.x * 4, y = block_y + threadIdx.y * ROWS;
    const Four *p = tile + threadIdx.y * ROWS * FOURS + threadIdx.x;
    /* A vote, which is kept; the question alone would be asked again for every row. */
    const bool plain = __any_sync(0xffffffffu, sizeof(Pixel) == 1 && is_plain(out, divisor));
    /* In registers: as constant operands they would have to be fetched again for every row. */
    float w[SIZE * SIZE];
#pragma unroll
    for (int k = 0; k < SIZE * SIZE; k++)
        w[k] = shared_weights[k / 4].v[k % 4];
    float sums[SIZE][4];
#pragma unroll 1
    for (int32_t i = 0; i < SIZE - 1; i++, p += FOURS)
        add_row<SIZE, false>(sums, w, p, i);
#pragma unroll 1
    for (int32_t r = 0; r < ROWS - (SIZE - 1); r++, p += FOURS) {
        add_row<SIZE, true>(sums, w, p, r);
        finish_four(in, out, x, y + r, sums[SIZE - 1], divisor, plain);
    }
#pragma unroll 1
    for (int32_t r = ROWS - (SIZE - 1); r < ROWS; r++, p += FOURS) {
        add_row<SIZE, false>(sums, w, p, r + SIZE - 1);
        finish_four(in, out, x, y + r, sums[SIZE - 1], divisor, plain);
    }
}

template <class Pixel, int SIZE>
enum ec_status run(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    const ec_convolution_taps *taps = &queue->plan->convolution;
    return launch(queue, "convolution_float_kernel", convolution_float_kernel<Pixel, SIZE>,
                  dim3(ceil_div(in.width_px, SPAN_X), ceil_div(in.height_px, SPAN_Y)), dim3(BLOCK_X, BLOCK_Y), in, out,
                  queue->d_plan->convolution.float_weights, make_divisor(taps->divisor));
}

template <class Pixel>
enum ec_status convolve(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    switch (queue->plan->convolution.size) {
    case 3:
        return run<Pixel, 3>(queue, in, out);
    case 5:
        return run<Pixel, 5>(queue, in, out);
    case 7:
        return run<Pixel, 7>(queue, in, out);
    default:
        return run<Pixel, 9>(queue, in, out);
    }
}

} // namespace

bool ec_convolution_float_fits(const ec_plan *plan, const ec_gpu_source *in)
{
    const ec_convolution_taps *taps = &plan->convolution;
    if (taps->size < 3 || taps->size > 9 || in->width_px <= BEFORE || in->height_px <= BEFORE)
        return false;
    if (!taps->integer)
        return true;
    double total = 0;
    for (int k = 0; k < taps->size * taps->size; k++)
        total += fabs((double)taps->float_weights[k]);
    return total * plan->luma.max <= 1 << 24;
}

enum ec_status ec_convolution_float(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    return queue->plan->depth_bits == 8 ? convolve<uint8_t>(queue, *in, *out) : convolve<uint16_t>(queue, *in, *out);
}
