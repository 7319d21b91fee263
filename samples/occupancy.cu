/* occupancy [N]: how many warps a multiprocessor holds, and why that is a means and not an end. N floats, without N: 32 Mi.
 *
 * A multiprocessor hides the wait of one warp behind the work of others. How many it can hold is limited by its slots for warps
 * and blocks, its registers and its shared memory; occupancy is warps held / slots. It has to be enough to keep memory or the
 * multipliers busy, and no more: beyond that, registers and cache for each thread are worth more than further threads.
 *
 *   block sizes    small blocks run into the limit on blocks, large ones leave a remainder of slots
 *   shared memory  the same copy with more and more of it reserved: time stays until too few warps are left
 *   registers      __launch_bounds__(threads, blocks) makes the compiler fit `blocks` blocks; registers that it takes away
 *                  for that must be spilled to memory: more occupancy, and slower
 *   auto-tuner     cudaOccupancyMaxPotentialBlockSize knows occupancy only; trying knows the time, and that a thread with 8
 *                  independent loads keeps as much in flight as 8 threads with one
 *
 * edgecam gives a thread many pixels at moderate occupancy (__launch_bounds__ throughout cuda/). */
#include "sample.h"

enum { VALUES = 64, BLOCK = 256, ITEMS_MAX = 8 };

/* ITEMS floats a thread, a block's width apart: loads first, then stores, so that all loads are in flight together. */
template <int ITEMS>
__global__ void copy_kernel(const float *in, float *out, size_t count)
{
    extern __shared__ float reserved[];
    const size_t first = (size_t)blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
    float v[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const size_t at = first + (size_t)i * blockDim.x;
        v[i] = at < count ? in[at] : 0;
    }
    if (count == 0)
        reserved[threadIdx.x] = v[0]; /* never; keeps the reservation */
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const size_t at = first + (size_t)i * blockDim.x;
        if (at < count)
            out[at] = v[i] + 1;
    }
}

/* Threads that a multiprocessor has slots for; ptxas takes no bounds above them. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define SLOTS 1024
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
#define SLOTS 2048
#else
#define SLOTS 1536
#endif

/* The sum of all products of two of 64 values: each is needed 63 times, so all should stand in registers. */
template <int QUARTERS>
__global__ void __launch_bounds__(BLOCK, SLOTS *QUARTERS / 4 / BLOCK) pairs_kernel(const float *in, float *out, size_t count)
{
    const size_t at = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    float v[VALUES], sum = 0;
    if (at >= count)
        return;
#pragma unroll
    for (int i = 0; i < VALUES; i++)
        v[i] = in[(size_t)i * count + at];
#pragma unroll
    for (int distance = 1; distance < VALUES; distance++)
#pragma unroll
        for (int i = 0; i + distance < VALUES; i++)
            sum += v[i] * v[i + distance];
    out[at] = sum;
}

struct bench {
    size_t count;
    float *h_in, *h_out, *d_in, *d_out;
    int warps_max; /* of a multiprocessor */
    struct sample_table table;
};

template <class Kernel>
static double occupancy(const struct bench *b, Kernel kernel, int threads, size_t shared)
{
    int blocks = 0;
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
    return 100.0 * blocks * ((threads + 31) / 32) / b->warps_max;
}

template <int ITEMS>
static double run_copy(struct bench *b, int threads, size_t shared, bool *passed)
{
    const unsigned blocks = (unsigned)((b->count + (size_t)threads * ITEMS - 1) / ((size_t)threads * ITEMS));
    const auto work = [=] { copy_kernel<ITEMS><<<blocks, threads, shared>>>(b->d_in, b->d_out, b->count); };
    CUDA(cudaMemset(b->d_out, 255, b->count * sizeof(float)));
    work();
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(b->h_out, b->d_out, b->count * sizeof(float), cudaMemcpyDeviceToHost));
    *passed = true;
    for (size_t i = 0; i < b->count; i++)
        *passed = *passed && b->h_out[i] == b->h_in[i] + 1;
    return sample_time(work);
}

static void block_sizes(struct bench *b, double roof)
{
    bool passed;
    sample_begin(&b->table, "Block sizes: a copy, one float a thread", "GB/s", "device-to-device copy", roof, "occupancy");
    for (int threads : {32, 64, 96, 128, 256, 512, 768, 1024}) {
        char name[32];
        const double s = run_copy<1>(b, threads, 0, &passed);
        snprintf(name, sizeof name, "%d threads", threads);
        sample_row(&b->table, name, s, 8.0 * b->count, passed, "%.0f %%", occupancy(b, copy_kernel<1>, threads, 0));
    }
}

template <int ITEMS>
static void shared_memory(struct bench *b, size_t most)
{
    bool passed;
    CUDA(cudaFuncSetAttribute(copy_kernel<ITEMS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most));
    for (size_t part : {0, 8, 4, 3, 2, 1}) {
        char name[64];
        const size_t bytes = part ? most / part / 1024 * 1024 : 0;
        const double s = run_copy<ITEMS>(b, BLOCK, bytes, &passed);
        snprintf(name, sizeof name, "%zu KiB a block, %d float%s a thread", bytes / 1024, ITEMS, ITEMS > 1 ? "s" : "");
        sample_row(&b->table, name, s, 8.0 * b->count, passed, "%.0f %%", occupancy(b, copy_kernel<ITEMS>, BLOCK, bytes));
    }
}

template <int QUARTERS>
static void registers(struct bench *b, size_t count, const float *want)
{
    char name[32];
    cudaFuncAttributes a;
    bool passed = true;
    const auto work = [=] {
        pairs_kernel<QUARTERS><<<(unsigned)((count + BLOCK - 1) / BLOCK), BLOCK>>>(b->d_in, b->d_out, count);
    };
    CUDA(cudaFuncGetAttributes(&a, pairs_kernel<QUARTERS>));
    CUDA(cudaMemset(b->d_out, 255, count * sizeof(float)));
    work();
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(b->h_out, b->d_out, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        passed = passed && b->h_out[i] == want[i];
    snprintf(name, sizeof name, "bounds for %d %% of the slots", QUARTERS * 25);
    sample_row(&b->table, name, sample_time(work), (double)count * VALUES * (VALUES - 1), passed,
               "%.0f %%, %d registers, %zu bytes spilled", occupancy(b, pairs_kernel<QUARTERS>, BLOCK, 0), a.numRegs,
               a.localSizeBytes);
}

static void all_registers(struct bench *b)
{
    const size_t count = b->count / VALUES;
    float *want = (float *)sample_allocate(count * sizeof(float));
    for (size_t at = 0; at < count; at++)
        for (int i = 0; i < VALUES; i++)
            for (int k = i + 1; k < VALUES; k++)
                want[at] += b->h_in[i * count + at] * b->h_in[k * count + at];
    sample_begin(&b->table, "Registers: 2016 products of 64 values a thread", "GFLOP/s", "multiply-adds in registers",
                 sample_multiply_add_roof(), "occupancy");
    if (count > 0) {
        registers<1>(b, count, want);
        registers<2>(b, count, want);
        registers<3>(b, count, want);
        registers<4>(b, count, want);
    }
    free(want);
}

struct choice {
    int threads, items;
    double s;
};

/* Measures every combination; the best, the worst and the one that occupancy alone suggests are shown. */
template <int ITEMS>
static void try_sizes(struct bench *b, struct choice *best, struct choice *worst, bool *all_passed)
{
    for (int threads = 32; threads <= 1024; threads *= 2) {
        bool passed;
        const struct choice c = {threads, ITEMS, run_copy<ITEMS>(b, threads, 0, &passed)};
        *all_passed = *all_passed && passed;
        if (!best->threads || c.s < best->s)
            *best = c;
        if (!worst->threads || c.s > worst->s)
            *worst = c;
    }
}

static void tune(struct bench *b, double roof)
{
    struct choice best = {}, worst = {};
    int grid = 0, suggested = 0;
    bool passed = true;
    char name[64];
    CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &suggested, copy_kernel<1>, 0, 0));
    sample_begin(&b->table, "Auto-tuner: 32 to 1024 threads, 1 to 8 floats each", "GB/s", "device-to-device copy", roof,
                 "floats");
    const double s = run_copy<1>(b, suggested, 0, &passed);
    snprintf(name, sizeof name, "suggested for occupancy: %d threads", suggested);
    sample_row(&b->table, name, s, 8.0 * b->count, passed, "1");
    try_sizes<1>(b, &best, &worst, &passed);
    try_sizes<2>(b, &best, &worst, &passed);
    try_sizes<4>(b, &best, &worst, &passed);
    try_sizes<8>(b, &best, &worst, &passed);
    snprintf(name, sizeof name, "worst found: %d threads", worst.threads);
    sample_row(&b->table, name, worst.s, 8.0 * b->count, passed, "%d", worst.items);
    snprintf(name, sizeof name, "best found: %d threads", best.threads);
    sample_row(&b->table, name, best.s, 8.0 * b->count, passed, "%d", best.items);
}

int main(int argc, char **argv)
{
    struct bench b = {};
    uint32_t state = 1;
    cudaDeviceProp gpu;
    b.count = (size_t)sample_number(argc, argv, 1, 32 << 20, 1, 512 << 20);
    sample_open_gpu("occupancy");
    CUDA(cudaGetDeviceProperties(&gpu, 0));
    b.warps_max = gpu.maxThreadsPerMultiProcessor / 32;
    const double roof = sample_copy_roof();
    b.h_in = (float *)sample_allocate(b.count * sizeof(float));
    b.h_out = (float *)sample_allocate(b.count * sizeof(float));
    for (size_t i = 0; i < b.count; i++)
        b.h_in[i] = (float)(sample_random(&state) % 16); /* the sums of products are exact in float */
    b.d_in = sample_to_device(b.h_in, b.count);
    b.d_out = sample_device<float>(b.count);
    block_sizes(&b, roof);
    sample_begin(&b.table, "Shared memory: a copy in blocks of 256 threads", "GB/s", "device-to-device copy", roof,
                 "occupancy");
    shared_memory<1>(&b, gpu.sharedMemPerBlockOptin);
    shared_memory<ITEMS_MAX>(&b, gpu.sharedMemPerBlockOptin);
    all_registers(&b);
    tune(&b, roof);
    CUDA(cudaFree(b.d_in));
    CUDA(cudaFree(b.d_out));
    free(b.h_in);
    free(b.h_out);
    return sample_end(&b.table);
}
