/* The Tensor Core rung of matmul.cu: products of 16 x 16 x 16 halves by a whole warp, sums in float (WMMA).
 *
 * The inputs are rounded to halves first (11 bits of 24), and that is where the error comes from; products and sums are as
 * exact as in float. A block makes 128 x 128 elements, each of its 8 warps 64 x 32. Rows in shared memory are padded by 8
 * halves: rows of 32 or 128 would put the eight rows that a warp fetches at once into the same banks. */
#ifndef MATMUL_TENSOR_CUH
#define MATMUL_TENSOR_CUH

#include <cuda_fp16.h>
#include <mma.h>

enum { TENSOR_DEPTH = 32 };

__global__ void to_half_kernel(const float *in, __half *out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = __float2half_rn(in[i]);
}

/* Fills a tile of HEIGHT rows of WIDTH halves, 8 at a time; zeros outside the matrix. */
template <int HEIGHT, int WIDTH, bool VECTOR>
static __device__ void load_halves(__half (*tile)[WIDTH + 8], const __half *m, int n, int row, int column)
{
    for (int i = threadIdx.x * 8; i < HEIGHT * WIDTH; i += blockDim.x * 8) {
        const int y = i / WIDTH, x = i % WIDTH, inside = row + y < n ? n - (column + x) : 0;
        const __half *p = m + (size_t)(row + y) * n + column + x;
        if (VECTOR)
            *(uint4 *)&tile[y][x] = inside > 0 ? *(const uint4 *)p : make_uint4(0, 0, 0, 0);
        for (int q = 0; !VECTOR && q < 8; q++)
            tile[y][x + q] = q < inside ? p[q] : __float2half(0);
    }
}

template <bool VECTOR>
__global__ void __launch_bounds__(256) tensor_kernel(const __half *a, const __half *b, float *c, int n)
{
    using namespace nvcuda;
    __shared__ __align__(32) __half as[128][TENSOR_DEPTH + 8], bs[TENSOR_DEPTH][128 + 8];
    __shared__ __align__(32) float staging[8][16][16];
    const int row = blockIdx.y * 128, column = blockIdx.x * 128;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_row = warp % 2 * 64, warp_column = warp / 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(sums[i][j], 0.0f);
    for (int from = 0; from < n; from += TENSOR_DEPTH) {
        load_halves<128, TENSOR_DEPTH, VECTOR>(as, a, n, row, from);
        load_halves<TENSOR_DEPTH, 128, VECTOR>(bs, b, n, from, column);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TENSOR_DEPTH; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[4];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb[2];
            for (int i = 0; i < 4; i++)
                wmma::load_matrix_sync(fa[i], &as[warp_row + i * 16][k], TENSOR_DEPTH + 8);
            for (int j = 0; j < 2; j++)
                wmma::load_matrix_sync(fb[j], &bs[k][warp_column + j * 16], 128 + 8);
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++)
                    wmma::mma_sync(sums[i][j], fa[i], fb[j], sums[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) {
            wmma::store_matrix_sync(&staging[warp][0][0], sums[i][j], 16, wmma::mem_row_major);
            __syncwarp();
            for (int e = lane; e < 256; e += 32) {
                const int y = row + warp_row + i * 16 + e / 16, x = column + warp_column + j * 16 + e % 16;
                if (y < n && x < n)
                    c[(size_t)y * n + x] = staging[warp][e / 16][e % 16];
            }
            __syncwarp();
        }
}

#endif
