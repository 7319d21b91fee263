/* Tiles of the input in shared memory, with as much around them as a window needs, mapped and bordered. */
#ifndef EC_CUDA_TILE_CUH
#define EC_CUDA_TILE_CUH

#include "launch.cuh"
#include "pair.cuh"
#include "pixel.cuh"

namespace ec
{

/* Pixels are loaded 16 bytes at a time, so tiles start that many bytes' worth of pixels, or a multiple, before a block. */
template <class Pixel>
constexpr int CHUNK = 16 / sizeof(Pixel);

template <class Pixel>
constexpr int round_up_chunk(int pixels)
{
    return ceil_div(pixels, CHUNK<Pixel>) * CHUNK<Pixel>;
}

union Chunk {
    uint4 words;
    uint8_t bytes[16];
    uint16_t halves[8];
};

EC_DEVICE uint8_t *chunk_pixels(Chunk *chunk, uint8_t)
{
    return chunk->bytes;
}
EC_DEVICE uint16_t *chunk_pixels(Chunk *chunk, uint16_t)
{
    return chunk->halves;
}

/* What stored pixels count as. */
EC_DEVICE void map_chunk(const ec_gpu_source &in, Chunk *chunk, uint8_t)
{
    if (in.expand) {
        chunk->words.x = expand_word(chunk->words.x);
        chunk->words.y = expand_word(chunk->words.y);
        chunk->words.z = expand_word(chunk->words.z);
        chunk->words.w = expand_word(chunk->words.w);
    }
}

EC_DEVICE void map_chunk(const ec_gpu_source &in, Chunk *chunk, uint16_t)
{
    if (in.expand || in.max != 0xffff)
#pragma unroll
        for (int i = 0; i < CHUNK<uint16_t>; i++)
            chunk->halves[i] = (uint16_t)map_value(in, chunk->halves[i]);
}

template <class Pixel>
EC_DEVICE void put_chunk(Pixel *at, Chunk *chunk)
{
    *(uint4 *)at = chunk->words;
}

template <class Pixel>
EC_DEVICE void put_chunk(float *at, Chunk *chunk)
{
    const Pixel *pixels = chunk_pixels(chunk, Pixel());
#pragma unroll
    for (int i = 0; i < CHUNK<Pixel>; i++)
        at[i] = (float)pixels[i];
}

template <class Pixel>
EC_DEVICE void put_chunk(int32_t *at, Chunk *chunk)
{
    const Pixel *pixels = chunk_pixels(chunk, Pixel());
#pragma unroll
    for (int i = 0; i < CHUNK<Pixel>; i++)
        at[i] = pixels[i];
}

/* Whether the chunk from (x, y) on can be loaded as one. */
template <class Pixel>
EC_DEVICE bool is_whole(const ec_gpu_source &in, int32_t x, int32_t source_y)
{
    return in.vector && source_y >= 0 && x >= 0 && x + CHUNK<Pixel> <= in.width_px;
}

/* A chunk from (x, y) on, one by one; what lies more than `reach` columns outside stays as it is. */
template <class Pixel, class Element>
EC_DEVICE void put_each(Element *at, const ec_gpu_source &in, int32_t x, int32_t source_y, int32_t reach)
{
    const int32_t end = ec_min_i32(CHUNK<Pixel>, in.width_px + reach - x);
#pragma unroll 1
    for (int32_t c = ec_max_i32(0, -reach - x); c < end; c++) {
        const int32_t source_x = ec_border_index(x + c, in.width_px, in.border);
        at[c] = source_x < 0 || source_y < 0 ? 0 : (Element)map_value(in, source_row<Pixel>(in, source_y)[source_x]);
    }
}

/* Fills `rows` rows of `chunks` chunks from (x, y) on, but for what lies more than `reach` columns outside; rows of the tile
 * are `pitch` elements apart. The whole block takes part; the caller synchronises. */
template <class Pixel, class Element>
EC_DEVICE void load_tile(Element *tile, int32_t pitch, const ec_gpu_source &in, int32_t x, int32_t y, int32_t chunks,
                         int32_t rows, int32_t reach)
{
    for (int32_t k = threadIdx.y * blockDim.x + threadIdx.x; k < chunks * rows; k += blockDim.x * blockDim.y) {
        const int32_t j = k / chunks, i = (k - j * chunks) * CHUNK<Pixel>;
        const int32_t source_y = ec_border_index(y + j, in.height_px, in.border);
        if (is_whole<Pixel>(in, x + i, source_y)) {
            Chunk chunk;
            chunk.words = *(const uint4 *)(source_row<Pixel>(in, source_y) + x + i);
            map_chunk(in, &chunk, Pixel());
            put_chunk<Pixel>(tile + j * pitch + i, &chunk);
        } else {
            put_each<Pixel>(tile + j * pitch + i, in, x + i, source_y, reach);
        }
    }
}

/* The same for a block of THREADS, with every load under way before the first is used. */
template <class Pixel, int CHUNKS, int ROWS, int THREADS>
EC_DEVICE void load_tile_at_once(Pixel *tile, int32_t pitch, const ec_gpu_source &in, int32_t x, int32_t y, int32_t reach)
{
    if (!in.vector || in.width_px < CHUNK<Pixel> || in.height_px <= reach) {
        load_tile<Pixel>(tile, pitch, in, x, y, CHUNKS, ROWS, reach);
        return;
    }
    constexpr int TURNS = ceil_div(CHUNKS * ROWS, THREADS);
    const int32_t thread = threadIdx.y * blockDim.x + threadIdx.x, last_y = in.height_px - 1 + reach;
    const bool constant = in.border == EC_BORDER_CONSTANT;
    Chunk chunks[TURNS];
#pragma unroll
    for (int t = 0; t < TURNS; t++) {
        const int32_t k = ec_min_i32(thread + t * THREADS, CHUNKS * ROWS - 1), j = k / CHUNKS;
        const int32_t column =
            ec_clamp_i32(x + k % CHUNKS * CHUNK<Pixel>, 0, in.width_px / CHUNK<Pixel> * CHUNK<Pixel> - CHUNK<Pixel>);
        const int32_t row = border_index_near(ec_min_i32(y + j, last_y), in.height_px, in.border);
        chunks[t].words = *(const uint4 *)(source_row<Pixel>(in, row) + column);
    }
#pragma unroll
    for (int t = 0; t < TURNS; t++) {
        const int32_t k = ec_min_i32(thread + t * THREADS, CHUNKS * ROWS - 1), j = k / CHUNKS, i = k % CHUNKS * CHUNK<Pixel>;
        if (thread + t * THREADS >= CHUNKS * ROWS)
            break;
        const int32_t wanted = ec_min_i32(y + j, last_y);
        int32_t row = border_index_near(wanted, in.height_px, in.border);
        row = constant && row != wanted ? -1 : row;
        map_chunk(in, &chunks[t], Pixel());
        if (is_whole<Pixel>(in, x + i, row))
            put_chunk<Pixel>(tile + j * pitch + i, &chunks[t]);
        else
            put_each<Pixel>(tile + j * pitch + i, in, x + i, row, reach);
    }
}

/* Four finished bytes or halves from (x, y) on, x a multiple of 4. */
EC_DEVICE void store_four(const ec_gpu_target &out, int32_t width, int32_t x, int32_t y, const uint32_t *v)
{
    char *row = (char *)out.data + (int64_t)y * out.pitch_bytes;
    if (!out.vector || x + 4 > width) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (x + i < width)
                store_value(out, x + i, y, v[i]);
    } else if (out.wide) {
        ((uint2 *)row)[x / 4] = make_uint2(v[0] | v[1] << 16, v[2] | v[3] << 16);
    } else {
        ((uint32_t *)row)[x / 4] = v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24;
    }
}

} // namespace ec

#endif
