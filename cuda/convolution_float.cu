/* Convolution of size 3, 5, 7 and 9 in single precision: float weights, and integer ones whose sums are exact there.
 *
 * A warp owns ROWS rows of 128 columns of a shared tile of floats, a thread four of the columns. Each row of the tile comes
 * from shared memory once for all outputs that it belongs to, and the weights are operands that take no registers. */
#include "convolution_finish.cuh"
#include "launch.cuh"

namespace
{

using namespace ec;

constexpr int BLOCK_X = 32, BLOCK_Y = 4, THREADS = BLOCK_X * BLOCK_Y, BLOCKS = 8;
constexpr int SPAN_X = BLOCK_X * 4, ROWS = 4, SPAN_Y = BLOCK_Y * ROWS;
constexpr int BEFORE = 4, FOURS = SPAN_X / 4 + 2, COLUMNS = FOURS * 4; /* of the tile: left of the block, and in a row */

struct alignas(16) Four {
    float v[4];
};

template <int SIZE>
struct Weights {
    float v[SIZE * SIZE];
};

/* Bytes fill one word, halves two; the first pixel lies lowest. */
template <class Pixel>
constexpr int WORDS = sizeof(Pixel);

template <int COUNT>
EC_DEVICE void load_vector(uint32_t *words, const void *p)
{
    if constexpr (COUNT == 1) {
        words[0] = *(const uint32_t *)p;
    } else {
        const uint2 both = *(const uint2 *)p;
        words[0] = both.x;
        words[COUNT - 1] = both.y;
    }
}

/* The pixels of a row from x on, one by one; those outside count as anything. */
template <class Pixel>
EC_DEVICE void load_each(uint32_t *words, const Pixel *row, int32_t x, int32_t width)
{
    uint32_t v[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        v[i] = row[ec_clamp_i32(x + i, 0, width - 1)];
    if constexpr (sizeof(Pixel) == 1) {
        words[0] = v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24;
    } else {
        words[0] = v[0] | v[1] << 16;
        words[WORDS<Pixel> - 1] = v[2] | v[3] << 16;
    }
}

/* Four pixels of COUNT rows, STEP apart, from (x, y) on. INSIDE: all of them are in the picture and its rows are vectors. Else
 * columns outside count as anything, rows outside follow the border rule. */
template <class Pixel, int COUNT, int STEP, bool INSIDE>
EC_DEVICE void load_fours(uint32_t (*words)[WORDS<Pixel>], const ec_gpu_source &in, int32_t x, int32_t y)
{
    if constexpr (INSIDE) {
        const Pixel *p = source_row<Pixel>(in, y) + x;
#pragma unroll
        for (int t = 0; t < COUNT; t++, p = (const Pixel *)((const char *)p + STEP * in.pitch_bytes))
            load_vector<WORDS<Pixel>>(words[t], p);
        return;
    }
    const int32_t column = ec_clamp_i32(x, 0, in.width_px / 4 * 4 - 4);
    const bool ragged = !in.vector || (x < in.width_px && x + 4 > in.width_px);
#pragma unroll
    for (int t = 0; t < COUNT; t++) {
        const int32_t wanted = ec_min_i32(y + t * STEP, in.height_px - 1 + BEFORE);
        const Pixel *row = source_row<Pixel>(in, border_index_near(wanted, in.height_px, in.border));
        if (in.vector)
            load_vector<WORDS<Pixel>>(words[t], row + column);
        if (ragged)
            load_each<Pixel>(words[t], row, x, in.width_px);
        if (in.border == EC_BORDER_CONSTANT && (uint32_t)wanted >= (uint32_t)in.height_px)
#pragma unroll
            for (int i = 0; i < WORDS<Pixel>; i++)
                words[t][i] = 0;
    }
}

template <class Pixel>
EC_DEVICE Four unpack(const uint32_t *words)
{
    constexpr int PER_WORD = 4 / sizeof(Pixel);
    Four four;
#pragma unroll
    for (int i = 0; i < 4; i++)
        four.v[i] = pixel_float<Pixel>(words[i / PER_WORD], i % PER_WORD);
    return four;
}

/* Fills the tile, whose first pixel is (x, y): a warp takes every BLOCK_Y-th row of the first 32 fours, and the two that are
 * left of each row are shared out. Every load is under way before the first is used. INSIDE: of as many rows as warps take. */
template <class Pixel, int TILE_ROWS, bool INSIDE>
EC_DEVICE void fill_tile(Four *tile, const ec_gpu_source &in, int32_t x, int32_t y)
{
    constexpr int COUNT = ceil_div(TILE_ROWS, BLOCK_Y);
    static_assert(2 * TILE_ROWS <= THREADS, "a thread takes one of the fours that are left");
    const uint32_t i = threadIdx.x, j = threadIdx.y, thread = j * BLOCK_X + i;
    const int32_t row = ec_min_i32(thread / 2, TILE_ROWS - 1), last = BLOCK_X + thread % 2;
    uint32_t words[COUNT + 1][WORDS<Pixel>];
    load_fours<Pixel, COUNT, BLOCK_Y, INSIDE>(words, in, x + i * 4, y + j);
    load_fours<Pixel, 1, 1, INSIDE>(words + COUNT, in, x + last * 4, y + row);
#pragma unroll
    for (int t = 0; t < COUNT + 1; t++)
        map_words(in, words[t]);
#pragma unroll
    for (int t = 0; t < COUNT; t++)
        if ((t + 1) * BLOCK_Y <= TILE_ROWS || j + t * BLOCK_Y < TILE_ROWS)
            tile[(j + t * BLOCK_Y) * FOURS + i] = unpack<Pixel>(words[t]);
    if (thread < 2 * TILE_ROWS)
        tile[row * FOURS + last] = unpack<Pixel>(words[COUNT]);
}

/* Puts the columns outside that a window reaches, from those inside, which are all in the tile. */
template <int TILE_ROWS>
EC_DEVICE void fill_border(Four *tile, const ec_gpu_source &in, int32_t x)
{
    float *pixels = tile[0].v;
    for (int32_t k = threadIdx.y * BLOCK_X + threadIdx.x; k < TILE_ROWS * 2 * BEFORE; k += THREADS) {
        const int32_t row = k / (2 * BEFORE) * COLUMNS, i = k % (2 * BEFORE);
        const int32_t at = i < BEFORE ? i - BEFORE : in.width_px + i - BEFORE;
        const int32_t from = border_index_near(at, in.width_px, in.border);
        if ((uint32_t)(at - x) < (uint32_t)COLUMNS)
            pixels[row + at - x] = in.border == EC_BORDER_CONSTANT ? 0.0f : pixels[row + from - x];
    }
}

/* The sums of ROWS rows, whose windows begin at p. */
template <int SIZE>
EC_DEVICE void convolve_rows(float (*sums)[4], const float *weights, const Four *p)
{
#pragma unroll
    for (int i = 0; i < ROWS + SIZE - 1; i++) {
        const Four fours[3] = {p[i * FOURS], p[i * FOURS + 1], p[i * FOURS + 2]};
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (i < r || i - r >= SIZE)
                continue;
#pragma unroll
            for (int t = 0; t < SIZE; t++)
#pragma unroll
                for (int q = 0; q < 4; q++) {
                    const int column = BEFORE - SIZE / 2 + q + t;
                    const float before = i == r && t == 0 ? 0.0f : sums[r][q];
                    sums[r][q] = fmaf(weights[(i - r) * SIZE + t], fours[column / 4].v[column % 4], before);
                }
        }
    }
}

template <class Pixel, int SIZE>
__global__ void __launch_bounds__(THREADS, sizeof(Pixel) == 1 ? BLOCKS : BLOCKS - 1)
    convolution_float_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                             const __grid_constant__ Weights<SIZE> weights, const Divisor divisor)
{
    constexpr int TILE_ROWS = SPAN_Y + SIZE - 1, PADDED_ROWS = ceil_div(TILE_ROWS, BLOCK_Y) * BLOCK_Y;
    __shared__ Four tile[FOURS * TILE_ROWS];
    const int32_t block_x = blockIdx.x * SPAN_X, block_y = blockIdx.y * SPAN_Y, left = block_x - BEFORE,
                  top = block_y - SIZE / 2;
    const bool inside_columns = left >= 0 && left + COLUMNS <= in.width_px;
    if (in.vector && inside_columns && top >= 0 && top + PADDED_ROWS <= in.height_px)
        fill_tile<Pixel, TILE_ROWS, true>(tile, in, left, top);
    else
        fill_tile<Pixel, TILE_ROWS, false>(tile, in, left, top);
    __syncthreads();
    if (!inside_columns) {
        fill_border<TILE_ROWS>(tile, in, left);
        __syncthreads();
    }

    const int32_t x = block_x + threadIdx.x * 4, y = block_y + threadIdx.y * ROWS;
    if (y >= in.height_px)
        return;
    float sums[ROWS][4];
    convolve_rows<SIZE>(sums, weights.v, tile + threadIdx.y * ROWS * FOURS + threadIdx.x);
    const bool plain = sizeof(Pixel) == 1 && is_plain(out, divisor);
    if (plain && out.vector && x + 4 <= in.width_px && y + ROWS <= in.height_px) {
        uint8_t *to = (uint8_t *)out.data + y * out.pitch_bytes + x;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            *(uint32_t *)(to + r * out.pitch_bytes) = saturate_bytes(sums[r]);
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            finish_sums(in, out, x, y + r, sums[r], divisor, plain);
    }
}

template <class Pixel, int SIZE>
enum ec_status run(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    const ec_convolution_taps *taps = &queue->plan->convolution;
    Weights<SIZE> weights;
    for (int k = 0; k < SIZE * SIZE; k++)
        weights.v[k] = taps->float_weights[k];
    return launch(queue, "convolution_float_kernel", convolution_float_kernel<Pixel, SIZE>,
                  dim3(ceil_div(in.width_px, SPAN_X), ceil_div(in.height_px, SPAN_Y)), dim3(BLOCK_X, BLOCK_Y), in, out, weights,
                  make_divisor(taps->divisor));
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
    const int32_t size = plan->convolution.size;
    return size >= 3 && size <= 9 && in->width_px > BEFORE && in->height_px > BEFORE && sums_are_floats(plan);
}

enum ec_status ec_convolution_float(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    return queue->plan->depth_bits == 8 ? convolve<uint8_t>(queue, *in, *out) : convolve<uint16_t>(queue, *in, *out);
}
