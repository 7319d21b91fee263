/* Convolution of bytes of size 3 in single precision, from registers alone: float weights, and integer ones whose sums are
 * exact there. A thread owns a strip of the picture; each of its rows becomes floats once, for the three outputs that it
 * belongs to. */
#include "convolution_finish.cuh"
#include "strip.cuh"

namespace
{

using namespace ec;

constexpr int SIZE = 3, WORDS = 4, COLUMNS = 4 * WORDS, ROWS = 4, THREADS = 128, BLOCKS = 5;

struct Weights {
    float v[SIZE * SIZE];
};

/* Row `j` of the strip as floats, with the pixels beside it. */
template <class Strip>
EC_DEVICE void take_row(float *row, const Strip &strip, int j, bool expand)
{
    uint32_t words[WORDS + 2];
    strip.neighbours(j, &words[0], &words[WORDS + 1]);
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        words[i + 1] = strip.words[j][i];
    if (expand)
#pragma unroll
        for (int i = 0; i < WORDS + 2; i++)
            words[i] = expand_word(words[i]);
#pragma unroll
    for (int i = 0; i < COLUMNS + 2; i++)
        row[i] = pixel_float<uint8_t>(words[(i + 3) / 4], (i + 3) % 4);
}

/* Adds a row of pixels, times row `k` of the kernel. */
EC_DEVICE void add_row(float *sums, const float *row, const float *weights, int k)
{
#pragma unroll
    for (int t = 0; t < SIZE; t++)
#pragma unroll
        for (int q = 0; q < COLUMNS; q++)
            sums[q] = fmaf(weights[k * SIZE + t], row[q + t], k || t ? sums[q] : 0.0f);
}

template <bool PLAIN>
EC_DEVICE void finish_row(uint32_t *words, const float *sums, const ec_gpu_target &out, const Divisor &divisor)
{
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        if (PLAIN) {
            words[i] = saturate_bytes(sums + 4 * i);
        } else {
            float m[4];
            uint32_t v[4];
            respond_four(m, sums + 4 * i, divisor);
            finish_responses(v, m, out.finish);
            words[i] = pack_four_bytes(v);
        }
    }
}

template <bool PLAIN, bool EXPAND>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    convolution_strips_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                              const __grid_constant__ StripGrid grid, const __grid_constant__ Weights weights,
                              const Divisor divisor)
{
    Strip<uint8_t, WORDS, ROWS, true> strip;
    strip.load(in, grid);
    float sums[SIZE][COLUMNS]; /* of the rows that are under way, in turn */
#pragma unroll
    for (int j = 0; j < ROWS + 2; j++) {
        float row[COLUMNS + 2];
        take_row(row, strip, j, EXPAND);
#pragma unroll
        for (int k = 0; k < SIZE; k++)
            if (j >= k && j - k < ROWS)
                add_row(sums[(j - k) % SIZE], row, weights.v, k);
        if (j >= 2 && strip.has_row(in, j - 2)) {
            uint32_t words[WORDS];
            finish_row<PLAIN>(words, sums[(j - 2) % SIZE], out, divisor);
            store_strip<uint8_t, WORDS, true>(out, in.width_px, strip.x, strip.y + j - 2, words);
        }
    }
}

template <bool PLAIN>
enum ec_status run(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out, const Divisor &divisor)
{
    const StripGrid grid = make_strip_grid(in, COLUMNS, ROWS);
    Weights weights;
    for (int k = 0; k < SIZE * SIZE; k++)
        weights.v[k] = queue->plan->convolution.float_weights[k];
    return launch(queue, "convolution_strips_kernel",
                  in.expand ? convolution_strips_kernel<PLAIN, true> : convolution_strips_kernel<PLAIN, false>,
                  strip_blocks(grid, THREADS), dim3(THREADS), in, out, grid, weights, divisor);
}

} // namespace

bool ec_convolution_strips_fits(const ec_plan *plan, const ec_gpu_source *in, const ec_gpu_target *out)
{
    return plan->convolution.size == SIZE && plan->depth_bits == 8 && !out->wide && sums_are_floats(plan) &&
           strips_are_whole(*in, *out, COLUMNS);
}

enum ec_status ec_convolution_strips(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    const Divisor divisor = make_divisor(queue->plan->convolution.divisor);
    return is_plain(*out, divisor) ? run<true>(queue, *in, *out, divisor) : run<false>(queue, *in, *out, divisor);
}
