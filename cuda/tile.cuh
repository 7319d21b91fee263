/* Tiles of the input in shared memory, with as much around them as a window needs, mapped and bordered. */
#ifndef EC_CUDA_TILE_CUH
#define EC_CUDA_TILE_CUH

#include "launch.cuh"
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

/* The pixels from (x, y) on; x is a multiple of CHUNK. */
template <class Pixel>
EC_DEVICE Chunk load_chunk(const ec_gpu_source &in, int32_t x, int32_t y)
{
    Chunk chunk;
    Pixel *pixels = chunk_pixels(&chunk, Pixel());
    const int32_t source_y = ec_border_index(y, in.height_px, in.border);
    if (in.vector && x >= 0 && x + CHUNK<Pixel> <= in.width_px && source_y >= 0) {
        chunk.words = *(const uint4 *)(source_row<Pixel>(in, source_y) + x);
    } else {
        chunk.words = make_uint4(0, 0, 0, 0);
        if (source_y >= 0)
#pragma unroll
            for (int i = 0; i < CHUNK<Pixel>; i++) {
                const int32_t source_x = ec_border_index(x + i, in.width_px, in.border);
                pixels[i] = source_x < 0 ? 0 : source_row<Pixel>(in, source_y)[source_x];
            }
    }
    if (in.expand || in.max != (Pixel)~0)
#pragma unroll
        for (int i = 0; i < CHUNK<Pixel>; i++)
            pixels[i] = (Pixel)map_value(in, pixels[i]);
    return chunk;
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

/* Fills `rows` rows of `chunks` chunks from (x, y) on; rows of the tile are `pitch` elements apart. The whole block takes part;
 * the caller synchronises. */
template <class Pixel, class Element>
EC_DEVICE void load_tile(Element *tile, int32_t pitch, const ec_gpu_source &in, int32_t x, int32_t y, int32_t chunks,
                         int32_t rows)
{
    for (int32_t k = threadIdx.y * blockDim.x + threadIdx.x; k < chunks * rows; k += blockDim.x * blockDim.y) {
        const int32_t j = k / chunks, i = (k - j * chunks) * CHUNK<Pixel>;
        Chunk chunk = load_chunk<Pixel>(in, x + i, y + j);
        put_chunk<Pixel>(tile + j * pitch + i, &chunk);
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
