/* Gaussian of bytes up to 33 taps in one pass: a block keeps the row sums of its part in shared memory. Exact, as blur.cu. */
#include "pair.cuh"
#include "tile.cuh"

namespace
{

using namespace ec;

constexpr int ROWS = 4, BLOCK_X = 32, BLOCK_Y = 8, SPAN_X = BLOCK_X * 4, SPAN_Y = BLOCK_Y * ROWS;
constexpr int MARGIN = 16, PITCH = SPAN_X + 2 * MARGIN, MAX_SIZE = 2 * MARGIN + 1, MAX_ROWS = SPAN_Y + MAX_SIZE - 1;
constexpr int WORDS_MAX = (MARGIN + MAX_SIZE / 2 + 1 + 3) / 4;

/* Of the rows: four a word, widened by zeros to a multiple of 4 before the centre. Of the columns: with ROWS - 1 zeros before
 * and after, so that a thread's outputs run over one stretch of rows. */
struct Weights {
    uint32_t row_words[WORDS_MAX];
    uint32_t columns[MAX_SIZE + 2 * (ROWS - 1)];
    int32_t words, before, size, fraction_bits;
};

EC_DEVICE uint32_t multiply_add_bytes(uint32_t pixels, uint32_t weights, uint32_t sum)
{
#ifdef __CUDA_ARCH__
    return __dp4a(pixels, weights, sum);
#else
    for (int i = 0; i < 4; i++)
        sum += (pixels >> (8 * i) & 255) * (weights >> (8 * i) & 255);
    return sum;
#endif
}

/* The sums of four neighbouring columns of one row of the tile, 16 bits each. */
EC_DEVICE uint2 sum_row(const uint32_t *p, const Weights &weights)
{
    uint32_t sum[4] = {}, word = p[0];
    for (int32_t k = 0; k < weights.words; k++) {
        const uint32_t next = p[k + 1], w = weights.row_words[k];
        sum[0] = multiply_add_bytes(word, w, sum[0]);
        sum[1] = multiply_add_bytes(permute(word, next, 0x4321), w, sum[1]);
        sum[2] = multiply_add_bytes(permute(word, next, 0x5432), w, sum[2]);
        sum[3] = multiply_add_bytes(permute(word, next, 0x6543), w, sum[3]);
        word = next;
    }
    return make_uint2(sum[0] | sum[1] << 16, sum[2] | sum[3] << 16);
}

/* `narrow` NULL: the blurred pixels themselves, else their finished difference from `narrow`. */
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    blur_bytes_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                      const __grid_constant__ Weights weights, const uint8_t *narrow, int64_t narrow_pitch)
{
    __shared__ __align__(16) uint8_t tile[PITCH * MAX_ROWS];
    __shared__ uint2 sums[BLOCK_X * MAX_ROWS];
    const int32_t block_x = blockIdx.x * SPAN_X, block_y = blockIdx.y * SPAN_Y, tile_rows = SPAN_Y + weights.size - 1;
    load_tile<uint8_t>(tile, PITCH, in, block_x - MARGIN, block_y - weights.size / 2, PITCH / CHUNK<uint8_t>, tile_rows,
                       MARGIN);
    __syncthreads();
    for (int32_t j = threadIdx.y; j < tile_rows; j += BLOCK_Y)
        sums[j * BLOCK_X + threadIdx.x] =
            sum_row((const uint32_t *)(tile + j * PITCH + MARGIN - weights.before) + threadIdx.x, weights);
    __syncthreads();

    uint32_t totals[ROWS][4] = {};
    const uint2 *p = sums + threadIdx.y * ROWS * BLOCK_X + threadIdx.x;
    for (int32_t i = 0; i < weights.size + ROWS - 1; i++) {
        const uint2 four = p[i * BLOCK_X];
        const uint32_t v[4] = {four.x & 0xffff, four.x >> 16, four.y & 0xffff, four.y >> 16};
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const uint32_t w = weights.columns[ROWS - 1 + i - r];
#pragma unroll
            for (int q = 0; q < 4; q++)
                totals[r][q] += w * v[q];
        }
    }
    const int32_t x = block_x + threadIdx.x * 4, y = block_y + threadIdx.y * ROWS;
    if (x >= in.width_px)
        return;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (y + r >= in.height_px)
            return;
        uint32_t v[4];
#pragma unroll
        for (int q = 0; q < 4; q++) {
            v[q] = (uint32_t)ec_blur_round(totals[r][q], weights.fraction_bits);
            if (narrow && x + q < in.width_px)
                v[q] = ec_finish(ec_abs_i32((int32_t)v[q] - narrow[(y + r) * narrow_pitch + x + q]), &out.finish);
        }
        store_four(out, in.width_px, x, y + r, v);
    }
}

} // namespace

bool ec_blur_bytes_fits(const ec_blur_taps *taps)
{
    bool fits = taps->size <= MAX_SIZE;
    for (int32_t i = 0; fits && i < taps->size; i++)
        fits = taps->weights[i] <= UINT8_MAX;
    return fits;
}

enum ec_status ec_blur_bytes(const ec_gpu_queue *queue, const ec_blur_taps *taps, const ec_gpu_source *in, const void *narrow,
                             int64_t narrow_pitch_bytes, const ec_gpu_target *out)
{
    Weights weights = {};
    weights.size = taps->size;
    weights.fraction_bits = taps->fraction_bits;
    weights.before = (taps->size / 2 + 3) / 4 * 4;
    const int zeros = weights.before - taps->size / 2;
    weights.words = ceil_div(zeros + taps->size, 4);
    for (int i = 0; i < taps->size; i++) {
        weights.row_words[(zeros + i) / 4] |= taps->weights[i] << ((zeros + i) % 4 * 8);
        weights.columns[ROWS - 1 + i] = taps->weights[i];
    }
    return launch(queue, "blur_bytes_kernel", blur_bytes_kernel,
                  dim3(ceil_div(in->width_px, SPAN_X), ceil_div(in->height_px, SPAN_Y)), dim3(BLOCK_X, BLOCK_Y), *in, *out,
                  weights, (const uint8_t *)narrow, narrow_pitch_bytes);
}
