/* The upper rungs of matmul.cu: a block makes 128 x 128 elements of c, a thread 8 x COLUMNS of them in registers.
 *
 * Why: every multiply-add takes two operands, and shared memory delivers far fewer words a cycle than the multipliers want. A
 * thread that loads 8 + 8 words makes 64 multiply-adds of them. From there on each rung removes what is not a multiply-add: a
 * scheduler issues one instruction a cycle, and a load, an address or a wait takes the place of arithmetic. */
#ifndef MATMUL_REGISTERS_CUH
#define MATMUL_REGISTERS_CUH

#include <cuda_pipeline.h>

enum { BLOCK = 128, DEPTH = 8, ROWS = 8, STAGES = 4 };

/* Registers alone, loads of single words: 16 x 16 threads with 8 neighbouring rows and every 16th column each. */
__global__ void __launch_bounds__(256) registers_kernel(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[DEPTH][BLOCK + 1], bs[DEPTH][BLOCK];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK;
    float sums[ROWS][8] = {};
    for (int from = 0; from < n; from += DEPTH) {
        for (int i = t; i < BLOCK * DEPTH; i += 256) {
            const int ar = row + i / DEPTH, ac = from + i % DEPTH, br = from + i / BLOCK, bc = column + i % BLOCK;
            as[i % DEPTH][i / DEPTH] = ar < n && ac < n ? a[(size_t)ar * n + ac] : 0;
            bs[i / BLOCK][i % BLOCK] = br < n && bc < n ? b[(size_t)br * n + bc] : 0;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++)
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < 8; j++)
                    sums[i][j] += as[k][ty * ROWS + i] * bs[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 8; j++)
            if (row + ty * ROWS + i < n && column + tx + 16 * j < n)
                c[(size_t)(row + ty * ROWS + i) * n + column + tx + 16 * j] = sums[i][j];
}

/* A slice of a and of b in shared memory. a stands transposed: a thread's rows are neighbours and come four at a time. */
struct Slice {
    float a[DEPTH][BLOCK + 4], b[DEPTH][BLOCK];
};

/* Four neighbours, zeros outside. VECTOR: n is a multiple of 4; then all four are inside or none, on a boundary of 16 bytes. */
template <bool VECTOR>
static __device__ __forceinline__ float4 load_four(const float *m, int n, int row, int column)
{
    const float *p = m + (size_t)row * n + column;
    const int inside = row < n ? n - column : 0;
    if (VECTOR)
        return inside > 0 ? *(const float4 *)p : make_float4(0, 0, 0, 0);
    return make_float4(inside > 0 ? p[0] : 0, inside > 1 ? p[1] : 0, inside > 2 ? p[2] : 0, inside > 3 ? p[3] : 0);
}

/* What the rungs with 16-byte loads have in common: who loads, multiplies and stores what. */
template <int COLUMNS, bool VECTOR>
struct Worker {
    static constexpr int THREADS = BLOCK * BLOCK / ROWS / COLUMNS, LOADS = BLOCK * DEPTH / 4 / THREADS;
    const float *a, *b;
    int n, row, column; /* of the block */
    int warp_row, warp_column; /* of this thread in the block: rows at +0 and +32, columns at +0, +16, ...; four at each */
    float sums[ROWS][COLUMNS];
    float4 next_a[LOADS], next_b[LOADS];

    /* A warp makes 64 x 4 COLUMNS elements; its threads stand 8 x 4, in groups of 4 x 2 for each quarter of the warp that
     * shared memory serves at once, because eight threads that want the same few 16 bytes are served together. */
    __device__ Worker(const float *a_matrix, const float *b_matrix, int size) : a(a_matrix), b(b_matrix), n(size), sums{}
    {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        row = blockIdx.y * BLOCK;
        column = blockIdx.x * BLOCK;
        warp_row = warp % 2 * 64 + (lane / 16 * 4 + lane % 8 / 2) * 4;
        warp_column = warp / 2 * (4 * COLUMNS) + (lane / 8 % 2 * 2 + lane % 2) * 4;
    }

    __device__ __forceinline__ void load(int from)
    {
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
            const int i = threadIdx.x + l * THREADS;
            next_a[l] = load_four<VECTOR>(a, n, row + i / (DEPTH / 4), from + i % (DEPTH / 4) * 4);
            next_b[l] = load_four<VECTOR>(b, n, from + i / (BLOCK / 4), column + i % (BLOCK / 4) * 4);
        }
    }

    __device__ __forceinline__ void put(Slice *s) const
    {
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
            const int i = threadIdx.x + l * THREADS, k = i % (DEPTH / 4) * 4, r = i / (DEPTH / 4);
            s->a[k][r] = next_a[l].x;
            s->a[k + 1][r] = next_a[l].y;
            s->a[k + 2][r] = next_a[l].z;
            s->a[k + 3][r] = next_a[l].w;
            *(float4 *)&s->b[i / (BLOCK / 4)][i % (BLOCK / 4) * 4] = next_b[l];
        }
    }

    /* Copies that bypass the registers. a is transposed on the way, 4 bytes at a time. Bytes outside become zeros. */
    __device__ __forceinline__ void request(Slice *s, int from) const
    {
        constexpr int WIDTH = VECTOR ? 4 : 1;
#pragma unroll
        for (int l = 0; l < LOADS * 4; l++) {
            const int i = threadIdx.x + l * THREADS, r = i / DEPTH, k = i % DEPTH;
            const bool in = row + r < n && from + k < n;
            __pipeline_memcpy_async(&s->a[k][r], in ? a + (size_t)(row + r) * n + from + k : a, 4, in ? 0 : 4);
        }
#pragma unroll
        for (int l = 0; l < LOADS * 4 / WIDTH; l++) {
            const int i = (threadIdx.x + l * THREADS) * WIDTH, k = i / BLOCK, q = i % BLOCK;
            const bool in = from + k < n && column + q < n;
            const float *p = in ? b + (size_t)(from + k) * n + column + q : b;
            __pipeline_memcpy_async(&s->b[k][q], p, 4 * WIDTH, in ? 0 : 4 * WIDTH);
        }
    }

    __device__ __forceinline__ void fetch(float *fa, float *fb, const Slice *s, int k) const
    {
#pragma unroll
        for (int i = 0; i < ROWS; i += 4)
            *(float4 *)&fa[i] = *(const float4 *)&s->a[k][warp_row + i * 8];
#pragma unroll
        for (int j = 0; j < COLUMNS; j += 4)
            *(float4 *)&fb[j] = *(const float4 *)&s->b[k][warp_column + j * 4];
    }

    /* There and back again: neighbouring multiply-adds share an operand, which the processor then need not fetch twice. */
    __device__ __forceinline__ void multiply(const float *fa, const float *fb)
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
                const int column_of = i % 2 ? COLUMNS - 1 - j : j;
                sums[i][column_of] += fa[i] * fb[column_of];
            }
    }

    __device__ __forceinline__ void store(float *c) const
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLUMNS; j += 4) {
                const int y = row + warp_row + i % 4 + i / 4 * 32, x = column + warp_column + j * 4;
                float *p = c + (size_t)y * n + x;
                const float *v = &sums[i][j];
                if (VECTOR && y < n && x < n)
                    *(float4 *)p = make_float4(v[0], v[1], v[2], v[3]);
                for (int q = 0; !VECTOR && q < 4; q++)
                    if (y < n && x + q < n)
                        p[q] = v[q];
            }
    }
};

/* Loads of 16 bytes, one buffer: load, wait, multiply, wait. */
template <bool VECTOR>
__global__ void __launch_bounds__(256) vector_kernel(const float *a, const float *b, float *c, int n)
{
    __shared__ __align__(16) Slice slice;
    Worker<8, VECTOR> w(a, b, n);
    for (int from = 0; from < n; from += DEPTH) {
        w.load(from);
        __syncthreads();
        w.put(&slice);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float fa[ROWS], fb[8];
            w.fetch(fa, fb, &slice, k);
            w.multiply(fa, fb);
        }
    }
    w.store(c);
}

/* Double buffering, twice. While slice s is multiplied, s + 1 travels from device memory (to registers, or with ASYNC, from
 * compute capability 8.0 on, straight to shared memory, STAGES - 1 slices ahead; below, the compiler makes ordinary copies of
 * these). And while step k is multiplied, step k + 1 travels from shared memory to the other pair of fragments. There is one
 * barrier a slice, and its wait is hidden behind the last step's arithmetic. */
template <int COLUMNS, bool ASYNC, bool VECTOR>
__global__ void __launch_bounds__(BLOCK *BLOCK / ROWS / COLUMNS, 2)
    buffered_kernel(const float *a, const float *b, float *c, int n)
{
    constexpr int BUFFERS = ASYNC ? STAGES : 2;
    __shared__ __align__(16) Slice slices[BUFFERS];
    Worker<COLUMNS, VECTOR> w(a, b, n);
    float fa[2][ROWS], fb[2][COLUMNS];
    for (int s = 0; ASYNC && s < STAGES - 1; s++) {
        w.request(&slices[s], s * DEPTH);
        __pipeline_commit();
    }
    if (ASYNC) {
        __pipeline_wait_prior(STAGES - 2);
    } else {
        w.load(0);
        w.put(&slices[0]);
    }
    __syncthreads();
    w.fetch(fa[0], fb[0], &slices[0], 0);
    int s = 0;
    for (int from = 0; from < n; from += DEPTH) {
        if (ASYNC) {
            w.request(&slices[(s + STAGES - 1) % BUFFERS], from + (STAGES - 1) * DEPTH);
            __pipeline_commit();
        } else if (from + DEPTH < n) {
            w.load(from + DEPTH);
        }
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            if (k == DEPTH - 1) {
                s = (s + 1) % BUFFERS;
                if (ASYNC)
                    __pipeline_wait_prior(STAGES - 2);
                else
                    w.put(&slices[s]);
                __syncthreads();
            }
            w.fetch(fa[(k + 1) % 2], fb[(k + 1) % 2], &slices[s], (k + 1) % DEPTH);
            w.multiply(fa[k % 2], fb[k % 2]);
        }
    }
    w.store(c);
}

#endif
