/* The first rungs of matmul.cu: c = a * b, square matrices of n x n floats, row by row; a thread makes one element of c. */
#ifndef MATMUL_TILES_CUH
#define MATMUL_TILES_CUH

enum { TILE = 32 };

/* The two access orders. A warp is 32 threads with consecutive threadIdx.x, and its load is served in sectors of 32 bytes.
 *
 * Columns along x: the warp reads one a (a broadcast, 1 sector) and 32 neighbouring b (128 bytes, 4 sectors), and writes 32
 * neighbouring c. Rows along x: the warp reads 32 a that lie n floats apart (32 sectors, of each of which it uses 4 bytes in
 * 32), one b, and writes 32 sectors. The arithmetic is the same. */
template <bool COLUMNS_ALONG_X>
__global__ void naive_kernel(const float *a, const float *b, float *c, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int row = COLUMNS_ALONG_X ? y : x, column = COLUMNS_ALONG_X ? x : y;
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)row * n + k] * b[(size_t)k * n + column];
    c[(size_t)row * n + column] = sum;
}

/* Tiles in shared memory: a block loads TILE x TILE of a and of b once and uses each element TILE times, so the traffic with
 * device memory falls by TILE. Elements outside the matrices count as zero: that is all a partial tile needs.
 *
 * Shared memory has 32 banks, 4 bytes wide; threads of a warp that want different words of one bank wait for each other.
 * as[ty][k] is one word for the whole warp (a broadcast), bs[k][tx] 32 words in 32 banks: no conflict. PAD = 1 has nothing to
 * cure there, and it costs: rows of 33 words no longer begin on 16 bytes, so the compiler, which fetches four as[ty][k] with
 * one load otherwise, needs four. With b's tile stored the other way round (B_TRANSPOSED), the warp reads bs[tx][k]: rows of 32
 * words, so all 32 threads want the same bank, and storing has the same trouble. There PAD = 1 is the cure: in rows of 33
 * words, column k lies in 32 different banks. */
template <int PAD, bool B_TRANSPOSED>
__global__ void tiles_kernel(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[TILE][TILE + PAD], bs[TILE][TILE + PAD];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int from = 0; from < n; from += TILE) {
        const float a_value = row < n && from + tx < n ? a[(size_t)row * n + from + tx] : 0;
        const float b_value = from + ty < n && column < n ? b[(size_t)(from + ty) * n + column] : 0;
        as[ty][tx] = a_value;
        if (B_TRANSPOSED)
            bs[tx][ty] = b_value;
        else
            bs[ty][tx] = b_value;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[ty][k] * (B_TRANSPOSED ? bs[tx][k] : bs[k][tx]);
        __syncthreads();
    }
    if (row < n && column < n)
        c[(size_t)row * n + column] = sum;
}

#endif
