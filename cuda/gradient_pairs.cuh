/* 3x3 gradients at memory speed: strips of 16 bytes, two pixels an instruction (pair.cuh). */
#ifndef EC_CUDA_GRADIENT_PAIRS_CUH
#define EC_CUDA_GRADIENT_PAIRS_CUH

#include "pair.cuh"
#include "strip.cuh"

namespace ec
{

/* Pairs are exact below 2048. */
constexpr int32_t PAIR_LIMIT = 2047;

/* Smoothing (outer, inner, outer), as halves, twice, and what they sum up to; an outer factor of zero stands for one. */
struct Sobel {
    static constexpr uint32_t OUTER = 0, INNER = 0x40004000, SUM = 4;
};
struct Prewitt {
    static constexpr uint32_t OUTER = 0, INNER = 0x3c003c00, SUM = 3;
};
struct Scharr {
    static constexpr uint32_t OUTER = 0x42004200, INNER = 0x49004900, SUM = 16;
};

/* How pixels are held. Smoothed sums are those of pixels less BIAS, which keeps them within +-2048; their differences are the
 * same. A root that is off by one part in 2^22, or in 2^24 if it is FINE, lies on the right side of every half up to
 * ROOT_LIMIT, for sqrt(n) is 1 / (8 sqrt(n)) or more away from one. */
struct Bytes {
    using Pixel = uint8_t;
    static constexpr uint32_t BIAS = 0;
    static constexpr bool FINE_ROOT = false;
    static constexpr int32_t ROOT_LIMIT = 512; /* squared 2^18, below 2^22 / 8 */
};
/* 3 + 10 + 3 times 128. */
struct BiasedBytes : Bytes {
    static constexpr uint32_t BIAS = 128;
};
/* Up to 10 bits. */
struct Halves {
    using Pixel = uint16_t;
    static constexpr uint32_t BIAS = 512;
    static constexpr bool FINE_ROOT = true;
    static constexpr int32_t ROOT_LIMIT = 1400; /* squared below 2^24 / 8 */
};

constexpr int PAIRS_WORDS = 4;
template <class Depth>
constexpr int PAIRS_COLUMNS = 4 * PAIRS_WORDS / sizeof(typename Depth::Pixel);

/* a, b and c weighed with the taps, less BIAS for each unit of weight. All but the last operation are exact, and that one
 * rounds once: a + c stays below 2048, and so does whatever is added to it, less its share of the bias. */
template <class Taps, uint32_t BIAS>
EC_DEVICE uint32_t smooth(uint32_t a, uint32_t b, uint32_t c)
{
    constexpr uint32_t OFFSET = BIAS ? (0x8000 + BIAS * Taps::SUM) * 0x00010001u : 0;
    const uint32_t sum = pair_add(a, c);
    if (Taps::OUTER)
        return pair_multiply_add(b, Taps::INNER, pair_multiply_add(sum, Taps::OUTER, OFFSET));
    return BIAS ? pair_add(pair_multiply_add(b, Taps::INNER, OFFSET), sum) : pair_multiply_add(b, Taps::INNER, sum);
}

/* One row, by pairs of columns (2k, 2k + 1): right minus left neighbour, and the smoothed sum across. */
template <int PAIRS>
struct PairRow {
    uint32_t along[PAIRS], across[PAIRS];
};

/* The columns of a strip from the pair before the first to the pair after the last. */
EC_DEVICE void split_pairs(uint32_t *columns, const uint32_t *words, uint32_t left_word, uint32_t right_word, uint8_t)
{
    columns[0] = permute(left_word, 0, 0x4342);
    columns[2 * PAIRS_WORDS + 1] = permute(right_word, 0, 0x4140);
#pragma unroll
    for (int i = 0; i < PAIRS_WORDS; i++) {
        columns[1 + 2 * i] = permute(words[i], 0, 0x4140);
        columns[2 + 2 * i] = permute(words[i], 0, 0x4342);
    }
}

EC_DEVICE void split_pairs(uint32_t *columns, const uint32_t *words, uint32_t left_word, uint32_t right_word, uint16_t)
{
    columns[0] = left_word;
    columns[PAIRS_WORDS + 1] = right_word;
#pragma unroll
    for (int i = 0; i < PAIRS_WORDS; i++)
        columns[1 + i] = words[i];
}

/* What a pair of stored values counts as. */
template <bool EXPAND>
EC_DEVICE uint32_t map_pair(const ec_gpu_source &, uint32_t pair, uint8_t)
{
    return EXPAND ? expand_pair(pair) : pair;
}

template <bool EXPAND>
EC_DEVICE uint32_t map_pair(const ec_gpu_source &in, uint32_t pair, uint16_t)
{
    const uint32_t max = (uint32_t)in.max * 0x00010001u;
    pair = pair_min(pair, max);
    if (!EXPAND)
        return pair;
    /* ec_luma_expand in 32 bits, which up to 10 bits hold the product. */
    const uint32_t offset = (uint32_t)in.luma.offset * 0x00010001u, half = (uint32_t)in.luma.half;
    const uint32_t above = pair_max(pair, offset) - offset;
    const uint32_t low = ((above & 0xffff) * in.luma.multiplier + half) >> in.luma.shift;
    const uint32_t high = ((above >> 16) * in.luma.multiplier + half) >> in.luma.shift;
    return pair_min(permute(low, high, 0x5410), max);
}

template <class Depth, class Taps, bool EXPAND, int PAIRS>
EC_DEVICE void unpack_pairs(PairRow<PAIRS> *row, const ec_gpu_source &in, const uint32_t *words, uint32_t left_word,
                            uint32_t right_word)
{
    uint32_t columns[PAIRS + 2], odd[PAIRS + 1]; /* pairs (2k, 2k + 1), pairs (2k - 1, 2k) */
    split_pairs(columns, words, left_word, right_word, typename Depth::Pixel());
#pragma unroll
    for (int i = 0; i < PAIRS + 2; i++)
        columns[i] = map_pair<EXPAND>(in, columns[i], typename Depth::Pixel());
#pragma unroll
    for (int i = 0; i <= PAIRS; i++)
        odd[i] = permute(columns[i], columns[i + 1], 0x5432);
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        row->along[i] = pair_subtract(odd[i + 1], odd[i]);
        row->across[i] = smooth<Taps, Depth::BIAS>(odd[i], columns[i + 1], odd[i + 1]);
    }
}

/* round(sqrt(x*x + y*y)) of numbers scaled by 2^-24, in the low bits: adding 2^23 leaves an integer there, rounded half to
 * even, and no root is a half. A fine root is the estimate after one Newton step, off by little more than its own rounding;
 * what it adds to a square keeps zero from dividing, and counts for nothing else. */
template <bool FINE>
EC_DEVICE uint32_t root_bits(float x, float y)
{
    float root;
    if (FINE) {
        const float square = fmaf(x, x, fmaf(y, y, 0x1p-100f)), reciprocal = reciprocal_root_estimate(square);
        const float estimate = square * reciprocal;
        root = fmaf(fmaf(-estimate, estimate, square), 0.5f * reciprocal, estimate);
    } else {
        root = root_estimate(fmaf(x, x, y * y));
    }
    return float_bits(fmaf(root, 16777216.0f, 8388608.0f));
}

/* Two responses, at most `cap` each. Roots above it may be off, but not to below it, and are less than 2^16. */
template <class Depth, bool L2>
EC_DEVICE uint32_t magnitude(uint32_t gx, uint32_t gy, uint32_t cap)
{
    if (!L2)
        return pair_min(pair_add_magnitudes(gx, gy), cap);
    return pair_min(permute(root_bits<Depth::FINE_ROOT>(pair_low(gx), pair_low(gy)),
                            root_bits<Depth::FINE_ROOT>(pair_high(gx), pair_high(gy)), 0x5410),
                    cap);
}

/* The finished row of a strip. m + 2^15 - T has its top bit set from T on. */
template <bool THRESHOLD, int PAIRS>
EC_DEVICE void store_pairs(const ec_gpu_target &out, int32_t width, int32_t x, int32_t y, const uint32_t *m, uint8_t)
{
    const uint32_t bias = (uint32_t)(32768 - ec_clamp_i32(out.finish.threshold, 0, 32767)) * 0x00010001u;
    uint32_t words[PAIRS / 2];
#pragma unroll
    for (int i = 0; i < PAIRS / 2; i++) {
        const uint32_t a = m[2 * i], b = m[2 * i + 1];
        words[i] = THRESHOLD ? permute(a + bias, b + bias, 0xfdb9) : permute(a, b, 0x6420);
    }
    store_strip<uint8_t, PAIRS / 2, true>(out, width, x, y, words);
}

template <bool THRESHOLD, int PAIRS>
EC_DEVICE void store_pairs(const ec_gpu_target &out, int32_t width, int32_t x, int32_t y, const uint32_t *m, uint16_t)
{
    const uint32_t bias = (uint32_t)(32768 - ec_clamp_i32(out.finish.threshold, 0, 32767)) * 0x00010001u;
    const uint32_t max = (uint32_t)out.finish.max * 0x00010001u;
    uint32_t finished[PAIRS], words[PAIRS / 2];
#pragma unroll
    for (int i = 0; i < PAIRS; i++)
        finished[i] = THRESHOLD ? permute(m[i] + bias, 0, 0xbb99) & max : m[i];
    if (out.wide) {
        store_strip<uint16_t, PAIRS, true>(out, width, x, y, finished);
        return;
    }
    const uint32_t shift = (uint32_t)out.finish.narrow_shift, keep = (0xffffu >> shift) * 0x00010001u;
    const uint32_t half = (1u << (shift - 1)) * 0x00010001u;
#pragma unroll
    for (int i = 0; i < PAIRS; i++)
        finished[i] = pair_min((finished[i] + half) >> shift & keep, 0x00ff00ffu);
#pragma unroll
    for (int i = 0; i < PAIRS / 2; i++)
        words[i] = permute(finished[2 * i], finished[2 * i + 1], 0x6420);
    store_strip<uint8_t, PAIRS / 2, true>(out, width, x, y, words);
}

template <class Depth, class Taps, bool L2, int ROWS, bool EXPAND, bool THRESHOLD>
__global__ void STRIP_LAUNCH_BOUNDS gradient_pairs_kernel(const __grid_constant__ ec_gpu_source in,
                                                          const __grid_constant__ ec_gpu_target out,
                                                          const __grid_constant__ StripGrid grid)
{
    constexpr int PAIRS = PAIRS_COLUMNS<Depth> / 2;
    Strip<typename Depth::Pixel, PAIRS_WORDS, ROWS, true> strip;
    strip.load(in, grid);
    const uint32_t cap = (uint32_t)out.saturation * 0x00010001u;
    PairRow<PAIRS> rows[3];
#pragma unroll
    for (int j = 0; j < ROWS + 2; j++) {
        uint32_t left, right;
        strip.neighbours(j, &left, &right);
        unpack_pairs<Depth, Taps, EXPAND>(&rows[j % 3], in, strip.words[j], left, right);
        if (j < 2)
            continue;
        const PairRow<PAIRS> &up = rows[(j - 2) % 3], &centre = rows[(j - 1) % 3], &down = rows[j % 3];
        uint32_t m[PAIRS];
#pragma unroll
        for (int i = 0; i < PAIRS; i++) {
            const uint32_t gx = smooth<Taps, 0>(up.along[i], centre.along[i], down.along[i]);
            m[i] = magnitude<Depth, L2>(gx, pair_subtract(down.across[i], up.across[i]), cap);
        }
        if (strip.has_row(in, j - 2))
            store_pairs<THRESHOLD, PAIRS>(out, in.width_px, strip.x, strip.y + j - 2, m, typename Depth::Pixel());
    }
}

template <class Depth, class Taps, bool L2, int ROWS>
enum ec_status run_pairs(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    const StripGrid grid = make_strip_grid(in, PAIRS_COLUMNS<Depth>, ROWS);
    const bool threshold = out.finish.has_threshold;
    const auto kernel = in.expand   ? threshold ? gradient_pairs_kernel<Depth, Taps, L2, ROWS, true, true>
                                                : gradient_pairs_kernel<Depth, Taps, L2, ROWS, true, false>
                          : threshold ? gradient_pairs_kernel<Depth, Taps, L2, ROWS, false, true>
                                    : gradient_pairs_kernel<Depth, Taps, L2, ROWS, false, false>;
    const int block = ec_tuned_block_threads(queue->plan);
    return launch(queue, "gradient_pairs_kernel", kernel, strip_blocks(grid, block), dim3(block), in, out, grid);
}

/* Whether the operator is a 3x3 gradient whose responses and strips suit. */
template <class Depth>
bool pairs_fit(const ec_plan *plan, const ec_gpu_source *in, const ec_gpu_target *out)
{
    return plan->gradient.size == 3 && plan->op != EC_OPERATOR_CANNY && plan->finish.identity && plan->saturation >= 0 &&
           plan->saturation <= (plan->norm == EC_NORM_L1 ? PAIR_LIMIT : Depth::ROOT_LIMIT) &&
           strips_are_whole(*in, *out, PAIRS_COLUMNS<Depth>);
}

} // namespace ec

#endif
