/* 3x3 gradients of bytes at memory speed: strips of 16 columns, two pixels an instruction (pair.cuh). */
#include "pair.cuh"
#include "strip.cuh"

namespace
{

using namespace ec;

constexpr int WORDS = 4, COLUMNS = 4 * WORDS, PAIRS = COLUMNS / 2;

/* Estimates of a root up to here lie on the right side of every half: sqrt(n) is 1/(8*512) or more away from a half, and 512 *
 * 2^-22 less than that. */
constexpr int32_t ROOT_LIMIT = 512;
/* Pairs are exact below 2048. */
constexpr int32_t PAIR_LIMIT = 2047;

/* Smoothing (outer, inner, outer), as halves, twice. */
struct Sobel {
    static constexpr uint32_t OUTER = 0, INNER = 0x40004000;
    static constexpr bool DIFFERENCE_FIRST = false;
};
struct Prewitt {
    static constexpr uint32_t OUTER = 0, INNER = 0;
    static constexpr bool DIFFERENCE_FIRST = false;
};
/* 16 * 255 is no exact sum, but 16 differences are where it matters: a sum that passes 2048 is beyond saturation. */
struct Scharr {
    static constexpr uint32_t OUTER = 0x42004200, INNER = 0x49004900;
    static constexpr bool DIFFERENCE_FIRST = true;
};

/* a + b + c weighed with the taps; a + b is exact, and the last operation rounds once. A factor of zero stands for one. */
template <class Taps>
EC_DEVICE uint32_t smooth(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t sum = pair_add(a, c);
    if (Taps::OUTER)
        sum = pair_multiply_add(sum, Taps::OUTER, 0);
    return Taps::INNER ? pair_multiply_add(b, Taps::INNER, sum) : pair_add(b, sum);
}

/* One row, by pairs of columns (2k, 2k + 1): right minus left neighbour, and the sum across; or the columns themselves, as
 * pairs (2k, 2k + 1) and as pairs (2k - 1, 2k). */
struct Row {
    uint32_t along[PAIRS], across[PAIRS], even[PAIRS], odd[PAIRS + 1];
};

/* Limited to full range, (y - 16) * 255/219 rounded: 76310 * 2^-16 exceeds 255/219 by so little that all 220 products round as
 * the exact ones do. */
EC_DEVICE uint32_t expand_pair(uint32_t pair)
{
    pair = pair_min(pair_max(pair, 0x00100010u), 0x00eb00ebu) - 0x00100010u;
    return permute((pair & 0xffff) * 76310u + 32768u, (pair >> 16) * 76310u + 32768u, 0x7632);
}

template <class Taps, bool EXPAND>
EC_DEVICE void unpack_row(Row *row, const uint32_t *words, uint32_t left_word, uint32_t right_word)
{
    uint32_t columns[PAIRS + 2]; /* from the pair before the first column to the pair after the last */
    columns[0] = permute(left_word, 0, 0x4342);
    columns[PAIRS + 1] = permute(right_word, 0, 0x4140);
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        columns[1 + 2 * i] = permute(words[i], 0, 0x4140);
        columns[2 + 2 * i] = permute(words[i], 0, 0x4342);
    }
    if (EXPAND)
#pragma unroll
        for (int i = 0; i < PAIRS + 2; i++)
            columns[i] = expand_pair(columns[i]);
#pragma unroll
    for (int i = 0; i <= PAIRS; i++)
        row->odd[i] = permute(columns[i], columns[i + 1], 0x5432);
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        row->even[i] = columns[i + 1];
        row->along[i] = pair_subtract(row->odd[i + 1], row->odd[i]);
        row->across[i] = Taps::DIFFERENCE_FIRST ? 0 : smooth<Taps>(row->odd[i], row->even[i], row->odd[i + 1]);
    }
}

template <class Taps>
EC_DEVICE uint32_t gradient_y(const Row &up, const Row &down, int i)
{
    if (!Taps::DIFFERENCE_FIRST)
        return pair_subtract(down.across[i], up.across[i]);
    return smooth<Taps>(pair_subtract(down.odd[i], up.odd[i]), pair_subtract(down.even[i], up.even[i]),
                        pair_subtract(down.odd[i + 1], up.odd[i + 1]));
}

/* round(sqrt(x*x + y*y)) of numbers scaled by 2^-24, at most `cap` (scaled and squared), in the low bits: adding 2^23 leaves an
 * integer there, rounded half to even, and no root is a half. */
EC_DEVICE uint32_t root_bits(float x, float y, float cap)
{
    const float square = fminf(fmaf(x, x, y * y), cap);
    return float_bits(fmaf(root_estimate(square), 16777216.0f, 8388608.0f));
}

/* Two responses, at most `cap` each. */
template <bool L2>
EC_DEVICE uint32_t magnitude(uint32_t gx, uint32_t gy, uint32_t cap, float cap_square)
{
    if (!L2)
        return pair_min(pair_add_magnitudes(gx, gy), cap);
    return permute(root_bits(pair_low(gx), pair_low(gy), cap_square), root_bits(pair_high(gx), pair_high(gy), cap_square),
                   0x5410);
}

/* Four finished pixels from two pairs of responses. m + 2^15 - T has its top bit set from T on. */
template <bool THRESHOLD>
EC_DEVICE uint32_t finish_word(uint32_t a, uint32_t b, uint32_t threshold_bias)
{
    return THRESHOLD ? permute(a + threshold_bias, b + threshold_bias, 0xfdb9) : permute(a, b, 0x6420);
}

template <class Taps, bool L2, int ROWS, bool EXPAND, bool THRESHOLD>
__global__ void __launch_bounds__(STRIP_BLOCK, 4)
    gradient_pairs_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                          const __grid_constant__ StripGrid grid)
{
    Strip<uint8_t, WORDS, ROWS, true> strip;
    strip.load(in, grid);
    const uint32_t cap = (uint32_t)out.saturation * 0x00010001u;
    const float cap_square = (float)out.saturation * (float)out.saturation * 0x1p-48f;
    const uint32_t threshold_bias = (uint32_t)(32768 - ec_clamp_i32(out.finish.threshold, 0, 32767)) * 0x00010001u;
    Row rows[3];
#pragma unroll
    for (int j = 0; j < ROWS + 2; j++) {
        uint32_t left, right;
        strip.neighbours(j, &left, &right);
        unpack_row<Taps, EXPAND>(&rows[j % 3], strip.words[j], left, right);
        if (j < 2)
            continue;
        const Row &up = rows[(j - 2) % 3], &centre = rows[(j - 1) % 3], &down = rows[j % 3];
        uint32_t m[PAIRS], finished[WORDS];
#pragma unroll
        for (int i = 0; i < PAIRS; i++) {
            const uint32_t gx = smooth<Taps>(up.along[i], centre.along[i], down.along[i]);
            m[i] = magnitude<L2>(gx, gradient_y<Taps>(up, down, i), cap, cap_square);
        }
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            finished[i] = finish_word<THRESHOLD>(m[2 * i], m[2 * i + 1], threshold_bias);
        if (strip.has_row(in, j - 2))
            store_strip<uint8_t, WORDS, true>(out, in.width_px, strip.x, strip.y + j - 2, finished);
    }
}

using Kernel = void (*)(ec_gpu_source, ec_gpu_target, StripGrid);

template <class Taps, bool L2, int ROWS, bool EXPAND>
Kernel choose(bool threshold)
{
    return threshold ? gradient_pairs_kernel<Taps, L2, ROWS, EXPAND, true>
                     : gradient_pairs_kernel<Taps, L2, ROWS, EXPAND, false>;
}

template <class Taps, bool L2, int ROWS>
enum ec_status run(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    const StripGrid grid = make_strip_grid(in, COLUMNS, ROWS);
    const bool threshold = out.finish.has_threshold;
    return launch(queue, "gradient_pairs_kernel",
                  in.expand ? choose<Taps, L2, ROWS, true>(threshold) : choose<Taps, L2, ROWS, false>(threshold),
                  strip_blocks(grid), dim3(STRIP_BLOCK), in, out, grid);
}

/* As many rows as registers hold without spilling on any architecture: roots and differences before sums need more a row. */
template <class Taps>
enum ec_status run(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    return queue->plan->norm == EC_NORM_L1                    ? run < Taps, false,
           Taps::DIFFERENCE_FIRST ? 8 : 12 > (queue, in, out) : run<Taps, true, 8>(queue, in, out);
}

} // namespace

bool ec_gradient_pairs_fits(const ec_plan *plan, const ec_gpu_source *in, const ec_gpu_target *out)
{
    const bool gradient = plan->op == EC_OPERATOR_SOBEL || plan->op == EC_OPERATOR_SCHARR || plan->op == EC_OPERATOR_PREWITT;
    return gradient && plan->window_size == 3 && plan->depth_bits == 8 && plan->finish.identity && plan->saturation >= 0 &&
           plan->saturation <= (plan->norm == EC_NORM_L1 ? PAIR_LIMIT : ROOT_LIMIT) && strips_are_whole(*in, *out, COLUMNS);
}

enum ec_status ec_gradient_pairs(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    switch (queue->plan->op) {
    case EC_OPERATOR_SCHARR:
        return run<Scharr>(queue, *in, *out);
    case EC_OPERATOR_PREWITT:
        return run<Prewitt>(queue, *in, *out);
    default:
        return run<Sobel>(queue, *in, *out);
    }
}
