/* The kernels of convolution.cu, in its order. Work to learn from; the product's own are in cuda/. */
#ifndef CONVOLUTION_KERNELS_CUH
#define CONVOLUTION_KERNELS_CUH

enum { K_MAX = 15, TILE_X = 32, TILE_Y = 16, WARPS = 4 };

struct frame {
    const unsigned char *in;
    unsigned char *out;
    int width, height, pitch; /* pitch: a multiple of 4 */
    float scale; /* 1 / sum of the weights */
};

__constant__ float c_weights[K_MAX * K_MAX], c_line[K_MAX];
__constant__ unsigned c_bytes[K_MAX][4]; /* the weights again, four a word */

static __device__ __forceinline__ int inside(int i, int n)
{
    return min(max(i, 0), n - 1);
}

static __host__ __device__ __forceinline__ unsigned char finish(float sum, float scale)
{
    return (unsigned char)fmaf(sum, scale, 0.5f);
}

/* MEMORY 0: weights from global memory; 1: from constant memory; 2: and pixels through __ldg. */
template <int K, int MEMORY>
__global__ void pixel_kernel(const struct frame f, const float *weights)
{
    const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    if (x >= f.width || y >= f.height)
        return;
    float sum = 0;
    for (int j = 0; j < K; j++)
        for (int i = 0; i < K; i++) {
            const unsigned char *p = f.in + (size_t)inside(y + j - K / 2, f.height) * f.pitch + inside(x + i - K / 2, f.width);
            sum += (MEMORY ? c_weights[j * K + i] : weights[j * K + i]) * (MEMORY == 2 ? __ldg(p) : *p);
        }
    f.out[(size_t)y * f.pitch + x] = finish(sum, f.scale);
}

template <int K>
__global__ void tile_kernel(const struct frame f)
{
    constexpr int W = TILE_X + K - 1, H = TILE_Y + K - 1;
    __shared__ float tile[H][W];
    const int left = blockIdx.x * TILE_X, top = blockIdx.y * TILE_Y, x = left + threadIdx.x, y = top + threadIdx.y;
    for (int i = threadIdx.y * TILE_X + threadIdx.x; i < W * H; i += TILE_X * TILE_Y)
        tile[i / W][i % W] =
            f.in[(size_t)inside(top + i / W - K / 2, f.height) * f.pitch + inside(left + i % W - K / 2, f.width)];
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < K; j++)
        for (int i = 0; i < K; i++)
            sum += c_weights[j * K + i] * tile[threadIdx.y + j][threadIdx.x + i];
    if (x < f.width && y < f.height)
        f.out[(size_t)y * f.pitch + x] = finish(sum, f.scale);
}

static __device__ __forceinline__ unsigned load_four(const struct frame &f, int x, int y)
{
    const unsigned char *row = f.in + (size_t)inside(y, f.height) * f.pitch;
    unsigned word = 0;
    if (x >= 0 && x + 4 <= f.width)
        return *(const unsigned *)(row + x);
    for (int i = 0; i < 4; i++)
        word |= (unsigned)row[inside(x + i, f.width)] << 8 * i;
    return word;
}

template <class Sum>
static __device__ __forceinline__ void store_four(const struct frame &f, int x, int y, const Sum *sums)
{
    unsigned char *p = f.out + (size_t)y * f.pitch + x;
    const uchar4 four = make_uchar4(finish((float)sums[0], f.scale), finish((float)sums[1], f.scale),
                                    finish((float)sums[2], f.scale), finish((float)sums[3], f.scale));
    if (x + 4 <= f.width)
        *(uchar4 *)p = four;
    else
        for (int c = 0; x + c < f.width; c++)
            p[c] = c == 0 ? four.x : c == 1 ? four.y : four.z;
}

enum mode { FULL, SEPARABLE, BYTES };

/* A row of the strip: adds `words`, a thread's 4 pixels and SIDE words on either side, to the sums of K output rows. */
template <int K, mode MODE, int SIDE, class Sum>
static __device__ __forceinline__ void add_row(Sum (&sums)[K][4], const unsigned *words)
{
    constexpr int FIRST = SIDE * 4 - K / 2; /* of the pixels that column 0 needs */
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if constexpr (MODE == BYTES) {
#pragma unroll
            for (int q = 0; q < (K + 3) / 4; q++) {
                const int at = FIRST + c + q * 4;
                const unsigned next = at / 4 + 1 < 2 * SIDE + 1 ? words[at / 4 + 1] : 0;
                const unsigned four = __funnelshift_r(words[at / 4], next, at % 4 * 8);
#pragma unroll
                for (int j = 0; j < K; j++)
                    sums[j][c] = __dp4a(four, c_bytes[K - 1 - j][q], (unsigned)sums[j][c]);
            }
            continue;
        }
        float line = 0;
#pragma unroll
        for (int i = 0; i < K; i++) {
            const int at = FIRST + c + i;
            /* A byte under the exponent of 2^23 is the float 2^23 + byte: cheaper than a conversion. */
            const float pixel = __uint_as_float(__byte_perm(words[at / 4], 0x4b000000, 0x7540 + at % 4)) - 8388608.0f;
            line += c_line[i] * pixel;
#pragma unroll
            for (int j = 0; MODE == FULL && j < K; j++)
                sums[j][c] += c_weights[(K - 1 - j) * K + i] * pixel;
        }
#pragma unroll
        for (int j = 0; MODE == SEPARABLE && j < K; j++)
            sums[j][c] += c_line[K - 1 - j] * line;
    }
}

/* What a warp does: STEPS rows in, AHEAD of them on their way while as many are added, ROWS out. Short strips make many warps
 * and read many rows twice; these were the best of a dozen shapes on an H200. A large window has enough to add for one row
 * ahead, and more of its unrolled steps would not fit the instruction cache. */
template <int K>
struct strip {
    static constexpr int SIDE = (K / 2 + 3) / 4, COLUMNS = (32 - 2 * SIDE) * 4, AHEAD = K < 9 ? 4 : 1;
    static constexpr int STEPS = K < 7 ? 16 : K < 9 ? 24 : K < 11 ? 32 : 48, ROWS = STEPS - K + 1;
};

/* sums[0] belongs to the oldest output row; when a row of input has been added it is complete, and the others move up. */
template <int K, mode MODE, class Sum>
__global__ void __launch_bounds__(WARPS * 32) strip_kernel(const struct frame f)
{
    constexpr int SIDE = strip<K>::SIDE, AHEAD = strip<K>::AHEAD;
    const int lane = threadIdx.x % 32, x = (blockIdx.x * WARPS + threadIdx.x / 32) * strip<K>::COLUMNS + (lane - SIDE) * 4;
    const int top = blockIdx.y * strip<K>::ROWS - K / 2;
    Sum sums[K][4] = {};
    unsigned ahead[AHEAD];
#pragma unroll
    for (int a = 0; a < AHEAD; a++)
        ahead[a] = load_four(f, x, top + a);
#pragma unroll 1
    for (int step = 0; step < strip<K>::STEPS; step += AHEAD) {
        unsigned now[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            now[a] = ahead[a];
            ahead[a] = load_four(f, x, top + step + AHEAD + a);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            unsigned words[2 * SIDE + 1];
#pragma unroll
            for (int s = 1; s <= SIDE; s++) {
                words[SIDE - s] = __shfl_up_sync(~0u, now[a], s);
                words[SIDE + s] = __shfl_down_sync(~0u, now[a], s);
            }
            words[SIDE] = now[a];
            add_row<K, MODE, SIDE>(sums, words);
            const int y = top + step + a - K / 2; /* of the row that is complete now */
            if (step + a >= K - 1 && y < f.height && lane >= SIDE && lane < 32 - SIDE)
                store_four(f, x, y, sums[0]);
#pragma unroll
            for (int j = 0; j < K; j++)
#pragma unroll
                for (int c = 0; c < 4; c++)
                    sums[j][c] = j + 1 < K ? sums[(j + 1) % K][c] : 0;
        }
    }
}

#endif
