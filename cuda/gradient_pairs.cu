/* 3x3 gradients of bytes at memory speed: a thread owns 16 columns and ROWS rows, loads them all before it computes, takes the
 * columns beside its own from its neighbours' registers, and works on two pixels an instruction (pair.cuh). */
#include "launch.cuh"
#include "pair.cuh"

namespace
{

using namespace ec;

constexpr int WORDS = 4, COLUMNS = 4 * WORDS, PAIRS = COLUMNS / 2, BLOCK = 128;
constexpr unsigned ALL_LANES = 0xffffffffu;

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

template <class Taps>
EC_DEVICE void unpack_row(Row *row, const uint32_t *words, uint32_t left_word, uint32_t right_word, bool expand)
{
    uint32_t columns[PAIRS + 2]; /* from the pair before the first column to the pair after the last */
    columns[0] = permute(left_word, 0, 0x4342);
    columns[PAIRS + 1] = permute(right_word, 0, 0x4140);
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        columns[1 + 2 * i] = permute(words[i], 0, 0x4140);
        columns[2 + 2 * i] = permute(words[i], 0, 0x4342);
    }
    if (expand)
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

/* Four finished pixels from two pairs of responses. */
EC_DEVICE uint32_t finish_word(uint32_t a, uint32_t b, const struct ec_finish &f, uint32_t threshold_bias)
{
    if (f.identity && !f.has_threshold)
        return permute(a, b, 0x6420);
    if (f.identity) /* m + 2^15 - T has its top bit set from T on */
        return permute(a + threshold_bias, b + threshold_bias, 0xfdb9);
    return ec_finish((int32_t)(a & 0xffff), &f) | ec_finish((int32_t)(a >> 16), &f) << 8 |
           ec_finish((int32_t)(b & 0xffff), &f) << 16 | ec_finish((int32_t)(b >> 16), &f) << 24;
}

/* The 16 columns from x on, where a row has that many, else as many as it has and the one that the border rule puts after them.
 */
EC_DEVICE void load_words(uint32_t *words, const ec_gpu_source &in, int32_t x, int32_t y, int32_t source_y)
{
    if (in.vector && x + COLUMNS <= in.width_px) {
        const uint4 q = source_y < 0 ? make_uint4(0, 0, 0, 0) : *(const uint4 *)(source_row<uint8_t>(in, source_y) + x);
        words[0] = q.x;
        words[1] = q.y;
        words[2] = q.z;
        words[3] = q.w;
        return;
    }
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        words[i] = 0;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        if (x + i <= in.width_px)
            words[i / 4] |= (uint32_t)stored_value<uint8_t>(in, x + i, y) << (i % 4 * 8);
}

EC_DEVICE void store_words(const ec_gpu_target &out, int32_t width, int32_t x, int32_t y, const uint32_t *words)
{
    uint8_t *p = (uint8_t *)out.data + (int64_t)y * out.pitch_bytes + x;
    if (out.vector && x + COLUMNS <= width) {
        *(uint4 *)p = make_uint4(words[0], words[1], words[2], words[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        if (x + i < width)
            p[i] = (uint8_t)(words[i / 4] >> (i % 4 * 8));
}

/* Threads stand in one line over all strips of ROWS rows, so that no part of a block idles beside the picture. */
template <class Taps, bool L2, int ROWS>
__global__ void __launch_bounds__(BLOCK)
    gradient_pairs_kernel(const __grid_constant__ ec_gpu_source in, const __grid_constant__ ec_gpu_target out,
                          int32_t threads_a_row, int32_t threads)
{
    const int32_t index = blockIdx.x * BLOCK + threadIdx.x, worker = ec_min_i32(index, threads - 1);
    const int32_t column = worker % threads_a_row, x = column * COLUMNS, y = worker / threads_a_row * ROWS;
    const int32_t lane = threadIdx.x % 32;
    /* Where no neighbouring register holds the column beside: at the ends of the warp and of the row. */
    const bool fetch_left = lane == 0 || column == 0, fetch_right = lane == 31 || column == threads_a_row - 1;
    const int32_t left_x = ec_border_index(x - 1, in.width_px, in.border);
    const int32_t right_x = ec_border_index(x + COLUMNS, in.width_px, in.border);

    uint32_t words[ROWS + 2][WORDS], beside[ROWS + 2]; /* beside: left in the top byte, right in the lowest */
#pragma unroll
    for (int j = 0; j < ROWS + 2; j++) {
        const int32_t source_y = ec_border_index(y + j - 1, in.height_px, in.border);
        load_words(words[j], in, x, y + j - 1, source_y);
        beside[j] = 0;
        if (fetch_left && left_x >= 0 && source_y >= 0)
            beside[j] = (uint32_t)source_row<uint8_t>(in, source_y)[left_x] << 24;
        if (fetch_right && right_x >= 0 && source_y >= 0)
            beside[j] |= source_row<uint8_t>(in, source_y)[right_x];
    }

    const uint32_t cap = (uint32_t)out.saturation * 0x00010001u;
    const float cap_square = (float)out.saturation * (float)out.saturation * 0x1p-48f;
    const uint32_t threshold_bias = (uint32_t)(32768 - ec_clamp_i32(out.finish.threshold, 0, 32767)) * 0x00010001u;
    Row rows[3];
#pragma unroll
    for (int j = 0; j < ROWS + 2; j++) {
        uint32_t left = __shfl_up_sync(ALL_LANES, words[j][WORDS - 1], 1), right = __shfl_down_sync(ALL_LANES, words[j][0], 1);
        left = fetch_left ? beside[j] : left;
        right = fetch_right ? beside[j] : right;
        unpack_row<Taps>(&rows[j % 3], words[j], left, right, in.expand);
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
            finished[i] = finish_word(m[2 * i], m[2 * i + 1], out.finish, threshold_bias);
        if (index < threads && y + j - 2 < in.height_px)
            store_words(out, in.width_px, x, y + j - 2, finished);
    }
}

template <class Taps, bool L2, int ROWS>
enum ec_status run(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    const int32_t threads_a_row = ceil_div(in.width_px, COLUMNS), threads = threads_a_row * ceil_div(in.height_px, ROWS);
    return launch(queue, "gradient_pairs_kernel", gradient_pairs_kernel<Taps, L2, ROWS>, dim3(ceil_div(threads, BLOCK)),
                  dim3(BLOCK), in, out, threads_a_row, threads);
}

template <class Taps>
enum ec_status run(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    return queue->plan->norm == EC_NORM_L1 ? run<Taps, false, 8>(queue, in, out) : run<Taps, true, 4>(queue, in, out);
}

} // namespace

bool ec_gradient_pairs_fits(const ec_plan *plan)
{
    const bool gradient = plan->op == EC_OPERATOR_SOBEL || plan->op == EC_OPERATOR_SCHARR || plan->op == EC_OPERATOR_PREWITT;
    return gradient && plan->window_size == 3 && plan->depth_bits == 8 && plan->saturation >= 0 &&
           plan->saturation <= (plan->norm == EC_NORM_L1 ? PAIR_LIMIT : ROOT_LIMIT);
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
