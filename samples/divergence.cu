/* divergence [N]: what branches cost a warp, and where they cost nothing. N threads' worth of work, without N: 8 Mi.
 *
 * A warp has one instruction at a time. Where its threads part, it runs one way with the others idle, then the next: the time
 * is the sum over the ways that any thread takes. Threads of different warps may part freely.
 *
 *   paths       the same work along 1 to 32 different paths, chosen by warp or by thread
 *   predication a branch of a few instructions is no branch: both sides run, a predicate or a select keeps one result. A long
 *               body is jumped over, if the whole warp agrees
 *   borders     a 3 x 3 window that clamps each coordinate; that does so in border blocks only; and over a grid padded to
 *               multiples of the block, where nothing is ever outside
 *   __ldg       the read-only path, beside a plain load and beside const __restrict__, which lets the compiler choose it
 * Fast intrinsics and half2, with their errors, are in the second half (intrinsics.cuh).
 *
 * edgecam's kernels take the border decision once a word or once a block (cuda/tile.cuh), and leave the rest to predicates. */
#include <math.h>

#include "sample.h"

#include "intrinsics.cuh"

enum { THREADS = 256, STEPS = 64, SIDE_X = 32, SIDE_Y = 8 };

/* Path p of `ways`; every path does as much, with another constant. */
__global__ void paths_kernel(const float *in, float *out, size_t count, int ways, bool by_warp)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const int path = (int)((by_warp ? i / 32 : i) % ways);
    float v = in[i];
    for (int p = 0; p < ways; p++)
        if (p == path)
            for (int k = 0; k < STEPS; k++)
                v = fmaf(v, 0.5f, (float)p);
    out[i] = v;
}

static float path_reference(float v, size_t path)
{
    for (int k = 0; k < STEPS; k++)
        v = fmaf(v, 0.5f, (float)path);
    return v;
}

/* The 3n + 1 sequence, a coin toss at each step: the compiler makes a select of the branch by itself. */
template <bool SELECT>
__global__ void toss_kernel(const float *in, float *out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    unsigned v = (unsigned)in[i] + 1;
    for (int k = 0; k < STEPS; k++) {
        if (SELECT) {
            const unsigned odd = 3 * v + 1, even = v / 2;
            v = v % 2 ? odd : even;
        } else if (v % 2) {
            v = 3 * v + 1;
        } else {
            v = v / 2;
        }
    }
    out[i] = (float)v;
}

static float toss_reference(float in)
{
    unsigned v = (unsigned)in + 1;
    for (int k = 0; k < STEPS; k++)
        v = v % 2 ? 3 * v + 1 : v / 2;
    return (float)v;
}

/* A picture with one pixel around it on every side and columns to the right, so that whole blocks fit. */
struct picture {
    int width, height, pitch; /* pitch: of the padded rows, from (-1, -1) on */
};

static __host__ __device__ inline size_t padded(const struct picture &p, int x, int y)
{
    return (size_t)(y + 1) * p.pitch + x + 1;
}

static __host__ __device__ inline int clamped(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

enum border { EVERY_TAP, BORDER_BLOCKS, PADDED_GRID };

template <bool CLAMP>
static __host__ __device__ inline float window(const float *in, const struct picture &p, int x, int y)
{
    float sum = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            sum += in[CLAMP ? padded(p, clamped(x + i, p.width), clamped(y + j, p.height)) : padded(p, x + i, y + j)];
    return sum;
}

template <border BORDER>
__global__ void window_kernel(const float *in, float *out, const struct picture p)
{
    const int left = blockIdx.x * SIDE_X, top = blockIdx.y * SIDE_Y, x = left + threadIdx.x, y = top + threadIdx.y;
    const bool inner = left > 0 && top > 0 && left + SIDE_X < p.width && top + SIDE_Y < p.height; /* of the whole block */
    if (BORDER == PADDED_GRID || (BORDER == BORDER_BLOCKS && inner))
        out[padded(p, x, y)] = window<false>(in, p, x, y);
    else if (x < p.width && y < p.height)
        out[padded(p, x, y)] = window<true>(in, p, x, y);
}

template <bool LDG>
__global__ void gather_kernel(const float *in, float *out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        out[i] = LDG ? __ldg(&in[i * 17 % count]) : in[i * 17 % count];
}

__global__ void gather_restrict_kernel(const float *__restrict__ in, float *__restrict__ out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        out[i] = in[i * 17 % count];
}

struct bench {
    size_t count, room; /* threads' worth; floats of each buffer */
    unsigned blocks;
    float *h_in, *h_out, *d_in, *d_out;
    struct sample_table table;
};

/* Runs a variant over poisoned memory, compares result at(i) with wanted(i) for i < count, then measures. */
template <class Work, class At, class Wanted>
static void row(struct bench *b, const char *name, size_t count, double amount, Work work, At at, Wanted wanted)
{
    size_t wrong = 0;
    CUDA(cudaMemset(b->d_out, 255, b->room * sizeof(float)));
    work();
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(b->h_out, b->d_out, b->room * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        wrong += !(b->h_out[at(i)] == wanted(i));
    sample_row(&b->table, name, sample_time(work), amount, wrong == 0, "%zu", wrong);
}

static size_t same(size_t i)
{
    return i;
}

static void paths(struct bench *b, double roof)
{
    const double operations = 2.0 * STEPS * b->count;
    char name[32];
    sample_begin(&b->table, "Paths of 64 multiply-adds", "GFLOP/s", "multiply-adds", roof, "wrong");
    for (int ways : {1, -32, 2, 4, 8, 16, 32}) {
        const bool by_warp = ways < 0;
        const int count = abs(ways);
        snprintf(name, sizeof name, "%d path%s, by %s", count, count > 1 ? "s" : "", by_warp ? "warp" : "thread");
        row(
            b, name, b->count, operations,
            [=] { paths_kernel<<<b->blocks, THREADS>>>(b->d_in, b->d_out, b->count, count, by_warp); }, same,
            [=](size_t i) { return path_reference(b->h_in[i], (by_warp ? i / 32 : i) % count); });
    }
    sample_begin(&b->table, "Predication: 64 tosses a thread", "G tosses/s", "instructions", roof / 2, "wrong");
    const auto toss = [=](size_t i) { return toss_reference(b->h_in[i]); };
    row(
        b, "if and else", b->count, (double)STEPS * b->count,
        [=] { toss_kernel<false><<<b->blocks, THREADS>>>(b->d_in, b->d_out, b->count); }, same, toss);
    row(
        b, "select", b->count, (double)STEPS * b->count,
        [=] { toss_kernel<true><<<b->blocks, THREADS>>>(b->d_in, b->d_out, b->count); }, same, toss);
}

static void borders(struct bench *b, const struct picture *p, double roof)
{
    const struct picture q = *p;
    const size_t pixels = (size_t)q.width * q.height;
    const dim3 grid((q.width + SIDE_X - 1) / SIDE_X, (q.height + SIDE_Y - 1) / SIDE_Y), block(SIDE_X, SIDE_Y);
    const auto at = [=](size_t i) { return padded(q, (int)(i % q.width), (int)(i / q.width)); };
    const auto want = [=](size_t i) { return window<true>(b->h_in, q, (int)(i % q.width), (int)(i / q.width)); };
    sample_begin(&b->table, "Borders: 3 x 3 sums", "GB/s", "device-to-device copy", roof, "wrong");
    row(
        b, "checked at every tap", pixels, 8.0 * pixels,
        [=] { window_kernel<EVERY_TAP><<<grid, block>>>(b->d_in, b->d_out, q); }, at, want);
    row(
        b, "checked in border blocks", pixels, 8.0 * pixels,
        [=] { window_kernel<BORDER_BLOCKS><<<grid, block>>>(b->d_in, b->d_out, q); }, at, want);
    row(
        b, "padded grid, no checks", pixels, 8.0 * pixels,
        [=] { window_kernel<PADDED_GRID><<<grid, block>>>(b->d_in, b->d_out, q); }, at, want);

    sample_begin(&b->table, "Read-only path: a gather with stride 17", "GB/s", "device-to-device copy", roof, "wrong");
    const auto gathered = [=](size_t i) { return b->h_in[i * 17 % b->count]; };
    row(
        b, "plain load", b->count, 8.0 * b->count,
        [=] { gather_kernel<false><<<b->blocks, THREADS>>>(b->d_in, b->d_out, b->count); }, same, gathered);
    row(
        b, "__ldg", b->count, 8.0 * b->count, [=] { gather_kernel<true><<<b->blocks, THREADS>>>(b->d_in, b->d_out, b->count); },
        same, gathered);
    row(
        b, "const __restrict__", b->count, 8.0 * b->count,
        [=] { gather_restrict_kernel<<<b->blocks, THREADS>>>(b->d_in, b->d_out, b->count); }, same, gathered);
}

int main(int argc, char **argv)
{
    struct bench b = {};
    struct picture p = {};
    uint32_t state = 1;
    b.count = (size_t)sample_number(argc, argv, 1, 8 << 20, 1, 256 << 20);
    sample_open_gpu("divergence");
    const double roof = sample_copy_roof();
    b.blocks = (unsigned)((b.count + THREADS - 1) / THREADS);
    while ((size_t)(p.width + 1) * (p.width + 1) <= b.count)
        p.width++;
    p.height = p.width;
    p.pitch = (p.width + SIDE_X - 1) / SIDE_X * SIDE_X + 2;
    b.room = (size_t)p.pitch * ((p.height + SIDE_Y - 1) / SIDE_Y * SIDE_Y + 2);
    b.room = b.room > b.count ? b.room : b.count;
    b.h_in = (float *)sample_allocate(b.room * sizeof(float));
    b.h_out = (float *)sample_allocate(b.room * sizeof(float));
    for (size_t i = 0; i < b.room; i++)
        b.h_in[i] = (float)(sample_random(&state) % 1024);
    for (int y = -1; y <= p.height; y++)
        for (int x = -1; x <= p.width; x++)
            b.h_in[padded(p, x, y)] = b.h_in[padded(p, clamped(x, p.width), clamped(y, p.height))];
    b.d_in = sample_to_device(b.h_in, b.room);
    b.d_out = sample_device<float>(b.room);
    paths(&b, sample_multiply_add_roof());
    borders(&b, &p, roof);
    CUDA(cudaFree(b.d_in));
    CUDA(cudaFree(b.d_out));
    intrinsics(&b.table, sample_multiply_add_roof(), b.h_in, b.h_out, b.count);
    free(b.h_in);
    free(b.h_out);
    return sample_end(&b.table);
}
