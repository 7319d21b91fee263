/* Convolution of bytes with weights that are signed bytes, as products of matrices.
 *
 * A warp owns ROWS rows of 256 columns. Of one row of pixels, matrix A holds in its row m the 32 pixels from `before` columns
 * left of column 16 m on, so that the words which its lanes load lie side by side. Times a matrix whose column n holds one row
 * of the kernel, moved down by the place of an output pixel among 16, it gives that row's share of 16 x 8 outputs. Two such
 * matrices give all 16 columns: the first those at 4k and 4k + 1, the second those at 4k + 2 and 4k + 3, for then a lane ends
 * with four neighbours. Kernels wider than 17 take two steps of 32 pixels. */
#include "convolution_finish.cuh"
#include "matrix.cuh"
#include "tile.cuh"

namespace
{

using namespace ec;

constexpr int BLOCK_X = 32, BLOCK_Y = 4, HALF = 128, SPAN_X = 2 * HALF;

/* Rows that a warp works on at once, of ROWS. */
constexpr int GROUP = 4;
template <int SIZE>
constexpr int ROWS = SIZE ? 8 : GROUP;

constexpr int MARGIN = 16, PITCH = SPAN_X + 2 * MARGIN; /* of the tile of pixels */

/* Left of its first output a matrix begins this many columns, a multiple of 4. */
EC_HD constexpr int columns_before(int size)
{
    return (size / 2 + 3) / 4 * 4;
}

constexpr int steps_needed(int size)
{
    return ceil_div(columns_before(size) + 16 + size / 2, 32);
}

constexpr int ONE_STEP_SIZE = 17;
static_assert(steps_needed(ONE_STEP_SIZE) == 1 && steps_needed(EC_KERNEL_MAX_SIZE) == 2, "matrices hold the largest kernels");

/* Taps 0 to 6 of each row of a kernel as bytes of two words, the eighth byte zero, and taps 7 and 8 in a third. */
struct Taps {
    uint32_t words[9][3];
};

/* The bytes of two words that are the taps from `tap` on, of `count`; byte 7 for those that there are not. */
EC_DEVICE uint32_t select_taps(int32_t tap, int32_t count)
{
    uint32_t selector = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        selector |= ((uint32_t)(tap + i) < (uint32_t)count ? (uint32_t)(tap + i) : 7u) << (4 * i);
    return selector;
}

/* What a lane holds of the two matrices of every row. */
template <int SIZE>
EC_DEVICE void make_weights(uint32_t (*b)[2][2], const Taps &taps)
{
    const int lane = threadIdx.x, column = lane / 4;
#pragma unroll
    for (int n = 0; n < 2; n++)
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const int32_t tap = 4 * (lane % 4 + 4 * k - column / 2) - columns_before(SIZE) + SIZE / 2 - 2 * n - column % 2;
            const uint32_t low = select_taps(tap, SIZE < 7 ? SIZE : 7), high = SIZE > 7 ? select_taps(tap - 7, SIZE - 7) : 0;
#pragma unroll
            for (int j = 0; j < SIZE; j++) {
                b[j][n][k] = permute(taps.words[j][0], taps.words[j][1], low);
                if (SIZE > 7)
                    b[j][n][k] |= permute(taps.words[j][2], 0, high);
            }
        }
}

/* The rows of the kernel in zeros, so that any four bytes that a matrix may hold are one word: those of row j from tap
 * 4 * (i - 3 - before / 4) + size / 2 - shift on are at[shift][j][i]. */
template <int MAX_SIZE, int STEPS>
struct Table {
    uint32_t at[4][MAX_SIZE][3 + 8 * STEPS];
};

template <int MAX_SIZE, int STEPS>
EC_DEVICE void fill_table(Table<MAX_SIZE, STEPS> *table, const int32_t *weights, int32_t size)
{
    constexpr int WORDS = 3 + 8 * STEPS;
    const int32_t first = size / 2 - columns_before(size) - 12;
    for (int32_t k = threadIdx.y * BLOCK_X + threadIdx.x; k < 4 * size * WORDS; k += BLOCK_X * BLOCK_Y) {
        const int32_t i = k % WORDS, j = k / WORDS % size, shift = k / WORDS / size;
        uint32_t word = 0;
#pragma unroll
        for (int b = 0; b < 4; b++) {
            const int32_t tap = first + 4 * i - shift + b;
            if ((uint32_t)tap < (uint32_t)size)
                word |= ((uint32_t)weights[j * size + tap] & 255) << (8 * b);
        }
        table->at[shift][j][i] = word;
    }
}

/* What a lane holds of row j's two matrices, step s. */
template <int MAX_SIZE, int STEPS>
EC_DEVICE void take_weights(uint32_t (*b)[2], const Table<MAX_SIZE, STEPS> &table, int j, int s)
{
    const int lane = threadIdx.x, column = lane / 4, word = lane % 4 - column / 2 + 3 + 8 * s;
#pragma unroll
    for (int n = 0; n < 2; n++)
#pragma unroll
        for (int k = 0; k < 2; k++)
            b[n][k] = table.at[2 * n + column % 2][j][word + 4 * k];
}

/* The lane's part of matrix A. */
EC_DEVICE void take_pixels(uint32_t *a, const uint8_t *row)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        a[i] = ((const uint32_t *)(row + i % 2 * HALF + i / 2 * 16))[threadIdx.x];
}

/* The output of one row: sums[n] from matrix n. */
EC_DEVICE void finish_row(const ec_gpu_source &in, const ec_gpu_target &out, int32_t x, int32_t y, const int32_t (*sums)[4],
                          const Divisor &divisor, bool plain)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int32_t four[4] = {sums[0][2 * half], sums[0][2 * half + 1], sums[1][2 * half], sums[1][2 * half + 1]};
        finish_sums(in, out, x + half * HALF + (int32_t)threadIdx.x * 4, y, four, divisor, plain);
    }
}

template <int SIZE>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, 4)
    convolution_bytes_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                             const __grid_constant__ Taps taps, const Divisor divisor)
{
    constexpr int SPAN_Y = BLOCK_Y * ROWS<SIZE>;
    __shared__ __align__(16) uint8_t tile[PITCH * (SPAN_Y + SIZE - 1)];
    const int32_t x = blockIdx.x * SPAN_X, y = blockIdx.y * SPAN_Y;
    load_tile_at_once<uint8_t, PITCH / CHUNK<uint8_t>, SPAN_Y + SIZE - 1, BLOCK_X * BLOCK_Y>(tile, PITCH, in, x - MARGIN,
                                                                                             y - SIZE / 2, SIZE / 2);
    uint32_t b[SIZE][2][2];
    make_weights<SIZE>(b, taps);
    __syncthreads();
    const bool plain = is_plain(out, divisor);
    const uint8_t *pixels = tile + threadIdx.y * ROWS<SIZE> * PITCH + MARGIN - columns_before(SIZE);
#pragma unroll 1
    for (int r = 0; r < ROWS<SIZE>; r += GROUP) {
        int32_t sums[GROUP][2][4] = {};
#pragma unroll
        for (int i = 0; i < SIZE + GROUP - 1; i++) {
            uint32_t a[4];
            take_pixels(a, pixels + (r + i) * PITCH);
#pragma unroll
            for (int k = 0; k < GROUP; k++)
                if (i >= k && i - k < SIZE)
#pragma unroll
                    for (int n = 0; n < 2; n++)
                        multiply_add_matrices(sums[k][n], a, b[i - k][n]);
        }
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            finish_row(in, out, x, y + threadIdx.y * ROWS<SIZE> + r + k, sums[k], divisor, plain);
    }
}

/* The same for any size that STEPS matrices in a row hold. */
template <int STEPS>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, 4)
    convolution_bytes_any_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                                 const int32_t *weights, int32_t size, const Divisor divisor)
{
    constexpr int MAX_SIZE = STEPS == 1 ? ONE_STEP_SIZE : EC_KERNEL_MAX_SIZE, SPAN_Y = BLOCK_Y * ROWS<0>;
    __shared__ __align__(16) uint8_t tile[PITCH * (SPAN_Y + MAX_SIZE - 1)];
    __shared__ Table<MAX_SIZE, STEPS> table;
    const int32_t x = blockIdx.x * SPAN_X, y = blockIdx.y * SPAN_Y;
    load_tile<uint8_t>(tile, PITCH, in, x - MARGIN, y - size / 2, PITCH / CHUNK<uint8_t>, SPAN_Y + size - 1, size / 2);
    fill_table(&table, weights, size);
    __syncthreads();

    const uint8_t *pixels = tile + threadIdx.y * ROWS<0> * PITCH + MARGIN - columns_before(size);
    int32_t sums[ROWS<0>][2][4] = {};
#pragma unroll 1
    for (int32_t i = 0; i < size + ROWS<0> - 1; i++) {
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            uint32_t a[4];
            take_pixels(a, pixels + i * PITCH + 32 * s);
#pragma unroll
            for (int k = 0; k < ROWS<0>; k++) {
                if (i < k || i - k >= size)
                    continue;
                uint32_t b[2][2];
                take_weights(b, table, i - k, s);
#pragma unroll
                for (int n = 0; n < 2; n++)
                    multiply_add_matrices(sums[k][n], a, b[n]);
            }
        }
    }
    const bool plain = is_plain(out, divisor);
#pragma unroll
    for (int k = 0; k < ROWS<0>; k++)
        finish_row(in, out, x, y + threadIdx.y * ROWS<0> + k, sums[k], divisor, plain);
}

template <int ROWS_A_WARP>
dim3 make_grid(const ec_gpu_source &in)
{
    return dim3(ceil_div(in.width_px, SPAN_X), ceil_div(in.height_px, BLOCK_Y * ROWS_A_WARP));
}

template <int SIZE>
enum ec_status run(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    const ec_convolution_taps *taps = &queue->plan->convolution;
    Taps packed = {};
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++) {
            const int byte = i < 7 ? i : i + 1;
            packed.words[j][byte / 4] |= ((uint32_t)taps->integer_weights[j * SIZE + i] & 255) << (byte % 4 * 8);
        }
    return launch(queue, "convolution_bytes_kernel", convolution_bytes_kernel<SIZE>, make_grid<ROWS<SIZE>>(in),
                  dim3(BLOCK_X, BLOCK_Y), in, out, packed, make_divisor(taps->divisor));
}

enum ec_status run_any(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    const ec_convolution_taps *taps = &queue->plan->convolution;
    return launch(queue, "convolution_bytes_any_kernel",
                  steps_needed(taps->size) == 1 ? convolution_bytes_any_kernel<1> : convolution_bytes_any_kernel<2>,
                  make_grid<ROWS<0>>(in), dim3(BLOCK_X, BLOCK_Y), in, out, queue->d_plan->convolution.integer_weights,
                  taps->size, make_divisor(taps->divisor));
}

} // namespace

bool ec_convolution_bytes_fits(const ec_plan *plan)
{
    const ec_convolution_taps *taps = &plan->convolution;
    if (plan->depth_bits != 8 || !taps->integer)
        return false;
    for (int32_t i = 0; i < taps->size * taps->size; i++)
        if (taps->integer_weights[i] < INT8_MIN || taps->integer_weights[i] > INT8_MAX)
            return false;
    return true;
}

enum ec_status ec_convolution_bytes(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    switch (queue->plan->convolution.size) {
    case 3:
        return run<3>(queue, *in, *out);
    case 5:
        return run<5>(queue, *in, *out);
    case 7:
        return run<7>(queue, *in, *out);
    case 9:
        return run<9>(queue, *in, *out);
    default:
        return run_any(queue, *in, *out);
    }
}
