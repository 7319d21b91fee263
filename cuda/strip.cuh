/* Strips: a thread owns the pixels of WORDS 32-bit words in ROWS rows and loads them, with the row above and the one below,
 * before it computes, so that its loads are in flight together. The columns beside its own come from its neighbours' registers,
 * or from memory at the ends of the warp and of the row.
 *
 * Threads stand in one line over all strips, row of strips after row of strips, so that no part of a block idles beside the
 * picture. */
#ifndef EC_CUDA_STRIP_CUH
#define EC_CUDA_STRIP_CUH

#include "launch.cuh"
#include "pixel.cuh"
#include "tuning.h"

namespace ec
{

/* Blocks have as many threads as was tuned for; registers are shared out for the largest. */
#define STRIP_LAUNCH_BOUNDS __launch_bounds__(EC_STRIP_BLOCK_MAX, 512 / EC_STRIP_BLOCK_MAX)

/* Where the pixels around the picture lie (ec_border_index of -1 and of the size), and how the threads divide it. */
struct StripGrid {
    int32_t left, right, top, bottom;
    int32_t threads_a_row, threads;
};

inline StripGrid make_strip_grid(const ec_gpu_source &in, int columns, int rows)
{
    const int32_t threads_a_row = ceil_div(in.width_px, columns);
    return {ec_border_index(-1, in.width_px, in.border),
            ec_border_index(in.width_px, in.width_px, in.border),
            ec_border_index(-1, in.height_px, in.border),
            ec_border_index(in.height_px, in.height_px, in.border),
            threads_a_row,
            threads_a_row * ceil_div(in.height_px, rows)};
}

inline dim3 strip_blocks(const StripGrid &grid, int block_threads)
{
    return dim3(ceil_div(grid.threads, block_threads));
}

/* Whether strips of `columns` pixels may be read and written as whole vectors. */
inline bool strips_are_whole(const ec_gpu_source &in, const ec_gpu_target &out, int columns)
{
    return in.vector && out.vector && (in.width_px % columns == 0 || (in.padded && out.padded));
}

template <int WORDS>
EC_DEVICE void load_vector(uint32_t *words, const void *p)
{
    static_assert(WORDS == 2 || WORDS == 4, "8 or 16 bytes");
    if constexpr (WORDS == 2) {
        const uint2 q = *(const uint2 *)p;
        words[0] = q.x;
        words[1] = q.y;
    } else {
        const uint4 q = *(const uint4 *)p;
        words[0] = q.x;
        words[1] = q.y;
        words[WORDS - 2] = q.z;
        words[WORDS - 1] = q.w;
    }
}

template <int WORDS>
EC_DEVICE void store_vector(void *p, const uint32_t *words)
{
    if constexpr (WORDS == 2)
        *(uint2 *)p = make_uint2(words[0], words[1]);
    else
        *(uint4 *)p = make_uint4(words[0], words[1], words[WORDS - 2], words[WORDS - 1]);
}

/* WHOLE: strips_are_whole(). */
template <class Pixel, int WORDS, int ROWS, bool WHOLE>
struct Strip {
    static constexpr int PER_WORD = 4 / sizeof(Pixel), COLUMNS = WORDS * PER_WORD, PIXEL_BITS = 8 * sizeof(Pixel);

    int32_t x, y;
    bool live; /* else: a thread after the last strip, which works on that one and stores nothing */
    bool first, last; /* of its row of strips */
    bool fetch_left, fetch_right; /* at the ends of the warp: the pixel beside comes from memory, into beside[] */
    uint32_t left_shift, right_shift, end_mask; /* where the border rule finds the pixel beside the first and the last strip */
    uint32_t words[ROWS + 2][WORDS];
    uint32_t beside[ROWS + 2];

    __device__ __forceinline__ void load(const ec_gpu_source &in, const StripGrid &grid)
    {
        const int32_t index = blockIdx.x * blockDim.x + threadIdx.x, worker = ec_min_i32(index, grid.threads - 1);
        const int32_t column = worker % grid.threads_a_row, lane = threadIdx.x % 32;
        x = column * COLUMNS;
        y = worker / grid.threads_a_row * ROWS;
        live = index < grid.threads;
        first = column == 0;
        last = column == grid.threads_a_row - 1;
        fetch_left = lane == 0 && !first;
        fetch_right = lane == 31 && !last;
        left_shift = (uint32_t)(32 - PIXEL_BITS * (1 + ec_max_i32(grid.left, 0)));
        right_shift = (uint32_t)(32 - PIXEL_BITS * (grid.right < 0 ? 1 : in.width_px - grid.right));
        end_mask = in.border == EC_BORDER_CONSTANT ? 0 : ~0u;

        /* Without branches, so that every load is under way before the first one is used; pixels of a ragged end and of a
         * constant border are put right afterwards. */
        const int32_t beside_x = fetch_left ? x - 1 : x + COLUMNS;
        const bool fetch = fetch_left || fetch_right;
#pragma unroll
        for (int j = 0; j < ROWS + 2; j++) {
            const Pixel *row = source_row<Pixel>(in, source_y(in, grid, j));
            beside[j] = 0;
            if (fetch)
                beside[j] = row[beside_x];
            if constexpr (WHOLE)
                load_vector<WORDS>(words[j], row + x);
            else
                load_pixels(words[j], row, in.width_px, grid.right);
        }
        if (WHOLE && in.width_px % COLUMNS != 0)
            put_border(in, grid);
        if (in.border == EC_BORDER_CONSTANT)
            clear_rows(in);
    }

    /* The pixel after the picture, within the last strip. */
    __device__ __forceinline__ void put_border(const ec_gpu_source &in, const StripGrid &grid)
    {
#pragma unroll
        for (int j = 0; j < ROWS + 2; j++) {
            uint32_t v = 0;
            if (last && grid.right >= 0)
                v = source_row<Pixel>(in, source_y(in, grid, j))[grid.right];
            put_pixel(words[j], in.width_px - x, v);
        }
    }

    /* Rows above and below the picture are zeros. */
    __device__ __forceinline__ void clear_rows(const ec_gpu_source &in)
    {
#pragma unroll
        for (int j = 0; j < ROWS + 2; j++) {
            const uint32_t mask = (uint32_t)(y + j - 1) < (uint32_t)in.height_px ? ~0u : 0;
            beside[j] &= mask;
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                words[j][i] &= mask;
        }
    }

    __device__ __forceinline__ int32_t source_y(const ec_gpu_source &in, const StripGrid &grid, int j) const
    {
        const int32_t wanted = y + j - 1;
        const int32_t outside = ec_max_i32(wanted < 0 ? grid.top : grid.bottom, 0);
        return wanted < 0 || wanted == in.height_px ? outside : ec_min_i32(wanted, in.height_px - 1);
    }

    /* One by one, up to the pixel after the picture. */
    __device__ __forceinline__ void load_pixels(uint32_t *row_words, const Pixel *row, int32_t width, int32_t right) const
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            row_words[i] = 0;
#pragma unroll 1
        for (int i = 0; i < COLUMNS; i++) {
            const int32_t at = x + i < width ? x + i : x + i == width ? right : -1;
            append_pixel(row_words, at < 0 ? 0 : row[at]);
        }
    }

    /* Puts a pixel at `position`, nothing from COLUMNS on. */
    static __device__ __forceinline__ void put_pixel(uint32_t *row_words, int32_t position, uint32_t v)
    {
        const uint32_t shift = (uint32_t)(position % PER_WORD * PIXEL_BITS);
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            const uint32_t mask = position / PER_WORD == i ? (uint32_t)(Pixel)~0 << shift : 0;
            row_words[i] = (row_words[i] & ~mask) | (v << shift & mask);
        }
    }

    /* Moves all pixels one place down and puts one on top: after COLUMNS of them the first stands lowest. */
    static __device__ __forceinline__ void append_pixel(uint32_t *row_words, uint32_t v)
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            row_words[i] = row_words[i] >> PIXEL_BITS | (i + 1 < WORDS ? row_words[i + 1] : v) << (32 - PIXEL_BITS);
    }

    /* The words beside row j's: only the pixel next to the strip counts. The whole warp takes part. */
    __device__ __forceinline__ void neighbours(int j, uint32_t *left, uint32_t *right) const
    {
        const uint32_t up = __shfl_up_sync(0xffffffffu, words[j][WORDS - 1], 1);
        const uint32_t down = __shfl_down_sync(0xffffffffu, words[j][0], 1);
        *left = fetch_left ? beside[j] << (32 - PIXEL_BITS) : first ? words[j][0] << left_shift & end_mask : up;
        *right = fetch_right ? beside[j] : last ? words[j][WORDS - 1] >> right_shift & end_mask : down;
    }

    __device__ __forceinline__ bool has_row(const ec_gpu_source &in, int j) const
    {
        return live && y + j < in.height_px;
    }
};

/* Stores OUT_WORDS words of finished pixels at (x, y). */
template <class Pixel, int WORDS, bool WHOLE>
EC_DEVICE void store_strip(const ec_gpu_target &out, int32_t width, int32_t x, int32_t y, uint32_t *words)
{
    constexpr int PER_WORD = 4 / sizeof(Pixel), PIXEL_BITS = 8 * sizeof(Pixel);
    Pixel *p = (Pixel *)((char *)out.data + (int64_t)y * out.pitch_bytes) + x;
    if constexpr (WHOLE) {
        store_vector<WORDS>(p, words);
    } else {
#pragma unroll 1
        for (int i = 0; i < WORDS * PER_WORD && x + i < width; i++) {
            p[i] = (Pixel)words[0];
#pragma unroll
            for (int k = 0; k < WORDS; k++)
                words[k] = words[k] >> PIXEL_BITS | (k + 1 < WORDS ? words[k + 1] << (32 - PIXEL_BITS) : 0);
        }
    }
}

} // namespace ec

#endif
