/* Hysteresis in bounded work, without looking at the result in between, and the same whatever runs first.
 *
 * Two passes spread edges inside tiles, as far as a fixed number of steps goes; that settles most contours. What is still open
 * (candidates that are no edges) is joined as disjoint sets of runs (a run: neighbouring open pixels in one word), by the
 * parallel union of Jaiganesh and Burtscher ("A High-Performance Connected Components Implementation for GPUs", HPDC 2018):
 * labels only ever fall, and the smallest label of a set is its root. Label 0 stands for all edges, so a run next to an edge
 * joins it, and what has root 0 in the end is an edge. How far the passes came does not change which pixels those are. */
#include "canny.h"

#include "launch.cuh"
#include "pixel.cuh"

namespace
{

using namespace ec;

constexpr int TILE_ROWS = 32, SPREAD_WARPS = 8, SPREAD_STEPS = 24, BLOCK = 256, JOIN_WORDS = 16;

EC_DEVICE uint64_t exchange_up(uint64_t v)
{
    const uint32_t low = __shfl_up_sync(0xffffffffu, (uint32_t)v, 1);
    return (uint64_t)__shfl_up_sync(0xffffffffu, (uint32_t)(v >> 32), 1) << 32 | low;
}

EC_DEVICE uint64_t exchange_down(uint64_t v)
{
    const uint32_t low = __shfl_down_sync(0xffffffffu, (uint32_t)v, 1);
    return (uint64_t)__shfl_down_sync(0xffffffffu, (uint32_t)(v >> 32), 1) << 32 | low;
}

/* Runs of ones that hold a seed, upwards: a sum carries through the ones above a seed. */
EC_DEVICE uint64_t fill_up(uint64_t runs, uint64_t seeds)
{
    return (((runs + seeds) ^ runs) | seeds) & runs;
}

EC_DEVICE uint64_t fill(uint64_t runs, uint64_t seeds)
{
    return __brevll(fill_up(__brevll(runs), __brevll(fill_up(runs, seeds))));
}

EC_DEVICE uint64_t word_at(const uint64_t *words, const ec_canny_bits &bits, int32_t word, int32_t y)
{
    if (word < 0 || word >= bits.words || y < 0 || y >= bits.height_px)
        return 0;
    return words[(int64_t)y * bits.words + word];
}

/* Bits of a row and its right and left neighbours that touch the word's pixels from the row above or below, or beside them. */
EC_DEVICE uint64_t widen(uint64_t left, uint64_t middle, uint64_t right)
{
    return middle | middle << 1 | middle >> 1 | left >> 63 | right << 63;
}

EC_DEVICE uint64_t widened_edges(const ec_canny_bits &bits, int32_t word, int32_t y)
{
    return widen(word_at(bits.edges, bits, word - 1, y), word_at(bits.edges, bits, word, y),
                 word_at(bits.edges, bits, word + 1, y));
}

EC_DEVICE uint64_t open_at(const ec_canny_bits &bits, int32_t word, int32_t y)
{
    return word_at(bits.candidates, bits, word, y) & ~word_at(bits.edges, bits, word, y);
}

/* A label for each run: runs of a word do not touch, so that the halves of their first pixels differ. */
EC_DEVICE uint32_t label_of(const ec_canny_bits &bits, int32_t word, int32_t y, int first)
{
    return (uint32_t)(((int64_t)y * bits.words + word) * 32 + first / 2 + 1);
}

/* First pixel of the run that holds pixel `at`: just above the highest zero below it. */
EC_DEVICE int run_start(uint64_t runs, int at)
{
    const uint64_t zeros_below = ~runs & ((1ull << at) - 1);
    return zeros_below ? 64 - __clzll((long long)zeros_below) : 0;
}

/* The run that begins at `first`. */
EC_DEVICE uint64_t run_mask(uint64_t runs, int first)
{
    const uint64_t above = ~(runs >> first);
    const int length = above ? __ffsll((long long)above) - 1 : 64;
    return (length >= 64 ? ~0ull : (1ull << length) - 1) << first;
}

/* A warp makes each run of its tile a set of its own, a row after the other: every label of a word, whether a run has it or
 * not. */
EC_DEVICE void label_rows(const ec_canny_bits &bits, int32_t word, int32_t top, uint64_t open)
{
    const uint32_t is_open = __ballot_sync(0xffffffffu, open != 0);
    for (int row = 0; row < TILE_ROWS; row++)
        if (is_open >> row & 1) {
            const uint32_t own = label_of(bits, word, top + row, 2 * (int)threadIdx.x);
            bits.labels[own] = own;
        }
}

/* A warp spreads edges in a tile of one word by 32 rows, a row a lane. With `label`, runs that stay open become sets of their
 * own. */
__global__ void __launch_bounds__(32 * SPREAD_WARPS) canny_spread_kernel(const __grid_constant__ ec_canny_bits bits, bool label)
{
    const int32_t lane = threadIdx.x, word = blockIdx.x * SPREAD_WARPS + threadIdx.y, y = blockIdx.y * TILE_ROWS + lane;
    if (word >= bits.words)
        return;
    const bool inside = y < bits.height_px;
    const int64_t at = (int64_t)y * bits.words + word;
    const uint64_t candidates = inside ? bits.candidates[at] : 0, edges_before = inside ? bits.edges[at] : 0;
    uint64_t edges = edges_before;
    if (__any_sync(0xffffffffu, (candidates & ~edges) != 0)) {
        /* What comes from other tiles stays what it was when the pass began, or later: either will do. */
        const uint64_t left = word_at(bits.edges, bits, word - 1, y), right = word_at(bits.edges, bits, word + 1, y);
        const uint64_t above_tile = lane == 0 ? widened_edges(bits, word, y - 1) : 0;
        const uint64_t below_tile = lane == 31 ? widened_edges(bits, word, y + 1) : 0;
        const uint64_t beside = left >> 63 | right << 63;
        const uint64_t beside_above = exchange_up(beside), beside_below = exchange_down(beside);
        const uint64_t fixed = beside | (lane == 0 ? above_tile : beside_above) | (lane == 31 ? below_tile : beside_below);
        for (int step = 0; step < SPREAD_STEPS; step++) {
            const uint64_t above = exchange_up(edges), below = exchange_down(edges);
            const uint64_t near = edges | (lane == 0 ? 0 : above) | (lane == 31 ? 0 : below);
            const uint64_t reached = (widen(0, near, 0) | fixed) & candidates & ~edges;
            if (!__any_sync(0xffffffffu, reached != 0))
                break;
            edges |= fill(candidates, reached);
        }
        if (edges != edges_before)
            bits.edges[at] = edges;
    }
    if (!label)
        return;
    if (word == 0 && y == 0)
        bits.labels[0] = 0;
    label_rows(bits, word, blockIdx.y * TILE_ROWS, candidates & ~edges);
}

/* The root of a label. Every other label on the way is made to point past the next one, which shortens later ways. */
EC_DEVICE uint32_t find_root(volatile uint32_t *labels, uint32_t label)
{
    uint32_t parent = labels[label];
    while (parent != label) {
        const uint32_t next = labels[parent];
        if (next != parent)
            labels[label] = next;
        label = parent;
        parent = next;
    }
    return label;
}

/* If the larger root has got another parent meanwhile, that one is still to be joined. */
EC_DEVICE void join(uint32_t *labels, uint32_t a, uint32_t b)
{
    for (;;) {
        a = find_root(labels, a);
        b = find_root(labels, b);
        if (a == b)
            return;
        const uint32_t larger = a > b ? a : b, smaller = a > b ? b : a;
        const uint32_t before = atomicMin(labels + larger, smaller);
        if (before == larger)
            return;
        a = before;
        b = smaller;
    }
}

/* First pixels of the runs that begin in a quarter of a word. */
EC_DEVICE uint64_t starts_in_quarter(uint64_t runs, int quarter)
{
    return runs & ~(runs << 1) & 0xffffull << 16 * quarter;
}

/* Joins each open run with edges around it, and with open runs on its left and above it. A thread takes a quarter of a word, as
 * its joins wait for each other. */
__global__ void __launch_bounds__(BLOCK, 4) canny_join_kernel(const __grid_constant__ ec_canny_bits bits)
{
    const int32_t word = blockIdx.x * JOIN_WORDS + threadIdx.x / 4, y = blockIdx.y * blockDim.y + threadIdx.y;
    const uint64_t open = open_at(bits, word, y);
    uint64_t starts = starts_in_quarter(open, threadIdx.x % 4);
    if (!starts)
        return;
    const uint64_t edges = widened_edges(bits, word, y - 1) | widened_edges(bits, word, y) | widened_edges(bits, word, y + 1);
    const uint64_t left = open_at(bits, word - 1, y), above = open_at(bits, word, y - 1);
    const uint64_t above_left = open_at(bits, word - 1, y - 1), above_right = open_at(bits, word + 1, y - 1);
    for (; starts; starts &= starts - 1) {
        const int first = __ffsll((long long)starts) - 1;
        const uint64_t run = run_mask(open, first);
        const uint32_t own = label_of(bits, word, y, first);
        if (run & edges)
            join(bits.labels, own, 0);
        if (run & 1 & left >> 63)
            join(bits.labels, own, label_of(bits, word - 1, y, run_start(left, 63)));
        if (run & 1 & above_left >> 63)
            join(bits.labels, own, label_of(bits, word - 1, y - 1, run_start(above_left, 63)));
        if (run >> 63 & above_right)
            join(bits.labels, own, label_of(bits, word + 1, y - 1, 0));
        for (uint64_t touching = above & (run | run << 1 | run >> 1); touching;) {
            const int start = run_start(above, __ffsll((long long)touching) - 1);
            join(bits.labels, own, label_of(bits, word, y - 1, start));
            touching &= ~run_mask(above, start);
        }
    }
}

/* Adds to *settled the open runs that begin in a quarter of the word and belong to an edge. */
EC_DEVICE void settle_quarter(unsigned long long *settled, const ec_canny_bits &bits, int64_t index, int quarter)
{
    const int32_t word = (int32_t)(index % bits.words), y = (int32_t)(index / bits.words);
    const uint64_t open = bits.candidates[index] & ~bits.edges[index];
    uint64_t gained = 0;
    for (uint64_t starts = starts_in_quarter(open, quarter); starts; starts &= starts - 1) {
        const int first = __ffsll((long long)starts) - 1;
        if (find_root(bits.labels, label_of(bits, word, y, first)) == 0)
            gained |= run_mask(open, first);
    }
    if (gained)
        atomicOr(settled, (unsigned long long)gained);
}

/* Bit i of four becomes byte i, 0 or 255: the product puts each bit on a byte of its own, and no carry reaches another one. */
EC_DEVICE uint32_t four_bytes(uint32_t four)
{
    return (four * 0x00204081u & 0x01010101u) * 255u;
}

EC_DEVICE uint32_t two_halves(uint32_t two, uint32_t white)
{
    return ((two & 1) | (two & 2) << 15) * white;
}

/* 16 pixels from (x, y) on. */
EC_DEVICE void write_pixels(const ec_gpu_target &out, int32_t width, int32_t x, int32_t y, uint32_t pixels, uint32_t white)
{
    char *row = (char *)out.data + (int64_t)y * out.pitch_bytes;
    if (!out.vector || (x + 16 > width && !out.padded)) {
        for (int i = 0; i < 16 && x + i < width; i++)
            store_value(out, x + i, y, pixels >> i & 1 ? white : 0);
    } else if (out.wide) {
        uint32_t words[8];
#pragma unroll
        for (int i = 0; i < 8; i++)
            words[i] = two_halves(pixels >> 2 * i, white);
        ((uint4 *)row)[x / 8] = make_uint4(words[0], words[1], words[2], words[3]);
        if (x + 8 < width)
            ((uint4 *)row)[x / 8 + 1] = make_uint4(words[4], words[5], words[6], words[7]);
    } else {
        ((uint4 *)row)[x / 16] = make_uint4(four_bytes(pixels & 15), four_bytes(pixels >> 4 & 15), four_bytes(pixels >> 8 & 15),
                                            four_bytes(pixels >> 12 & 15));
    }
}

/* A block settles BLOCK / 4 words, one after the other in the image, and writes their pixels, 16 a thread. */
__global__ void __launch_bounds__(BLOCK)
    canny_expand_kernel(const __grid_constant__ ec_canny_bits bits, const __grid_constant__ ec_gpu_target out, uint32_t white)
{
    __shared__ unsigned long long settled[BLOCK / 4];
    const int own = threadIdx.x / 4, quarter = threadIdx.x % 4;
    const int64_t index = (int64_t)blockIdx.x * (BLOCK / 4) + own;
    const bool inside = index < (int64_t)bits.words * bits.height_px;
    if (inside && quarter == 0)
        settled[own] = bits.edges[index];
    __syncthreads();
    if (inside)
        settle_quarter(&settled[own], bits, index, quarter);
    __syncthreads();
    if (bits.kept && inside && quarter == 0)
        bits.kept[index] = settled[own];
    const int32_t x = (int32_t)(index % bits.words) * 64 + quarter * 16, y = (int32_t)(index / bits.words);
    if (inside && x < bits.width_px)
        write_pixels(out, bits.width_px, x, y, (uint32_t)(settled[own] >> 16 * quarter) & 0xffff, white);
}

} // namespace

enum ec_status ec_canny_edges(const ec_gpu_queue *queue, const ec_canny_bits *bits, const ec_gpu_target *out)
{
    const dim3 tiles(ceil_div(bits->words, SPREAD_WARPS), ceil_div(bits->height_px, TILE_ROWS));
    const dim3 join_block(4 * JOIN_WORDS, BLOCK / (4 * JOIN_WORDS));
    const dim3 join_grid(ceil_div(bits->words, JOIN_WORDS), ceil_div(bits->height_px, (int)join_block.y));
    const int64_t words = (int64_t)bits->words * bits->height_px;
    const dim3 expand_grid((uint32_t)((words + BLOCK / 4 - 1) / (BLOCK / 4)));
    const uint32_t white = (1u << queue->plan->output_depth_bits) - 1;
    enum ec_status status =
        launch(queue, "canny_spread_kernel", canny_spread_kernel, tiles, dim3(32, SPREAD_WARPS), *bits, false);
    if (status == EC_OK)
        status = launch(queue, "canny_spread_kernel", canny_spread_kernel, tiles, dim3(32, SPREAD_WARPS), *bits, true);
    if (status == EC_OK)
        status = launch(queue, "canny_join_kernel", canny_join_kernel, join_grid, join_block, *bits);
    if (status == EC_OK)
        status = launch(queue, "canny_expand_kernel", canny_expand_kernel, expand_grid, dim3(BLOCK), *bits, *out, white);
    return status;
}
