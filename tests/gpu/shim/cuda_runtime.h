/* The device language for a host compiler: what the kernels use of it, and launches. */
#ifndef EC_SHIM_CUDA_RUNTIME_H
#define EC_SHIM_CUDA_RUNTIME_H

#include <cstddef>
#include <cstdint>
#include <functional>

#include "cuda_runtime_api.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __shared__ static /* blocks run one after another */

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

struct alignas(8) uint2 {
    uint32_t x, y;
};
struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
static inline uint2 make_uint2(uint32_t x, uint32_t y)
{
    return {x, y};
}
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return {x, y, z, w};
}

/* The running thread's place; runtime.cpp sets them at every switch. */
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

/* Collective among all threads of the block, or of the warp (all 32 take part). */
void __syncthreads();
uint32_t shim_exchange(uint32_t value, unsigned from_lane);
unsigned shim_lane();
/* `count` values, at most 8, of every lane, lane after lane. */
void shim_gather(const uint32_t *values, unsigned count, uint32_t *all);

static inline uint32_t __shfl_up_sync(unsigned, uint32_t v, unsigned delta)
{
    const unsigned lane = shim_lane();
    return shim_exchange(v, lane >= delta ? lane - delta : lane);
}
static inline uint32_t __shfl_down_sync(unsigned, uint32_t v, unsigned delta)
{
    const unsigned lane = shim_lane();
    return shim_exchange(v, lane + delta < 32 ? lane + delta : lane);
}

static inline uint32_t __ballot_sync(unsigned, int v)
{
    uint32_t votes = (uint32_t)(v != 0) << shim_lane();
    for (unsigned bit = 1; bit < 32; bit *= 2)
        votes |= shim_exchange(votes, shim_lane() ^ bit);
    return votes;
}
static inline int __any_sync(unsigned mask, int v)
{
    return __ballot_sync(mask, v) != 0;
}

/* Threads take turns only where they wait, so that nothing comes between. */
static inline uint32_t atomicMin(uint32_t *at, uint32_t v)
{
    const uint32_t before = *at;
    *at = v < before ? v : before;
    return before;
}

static inline uint32_t atomicAdd(uint32_t *at, uint32_t v)
{
    const uint32_t before = *at;
    *at += v;
    return before;
}

static inline unsigned long long atomicOr(unsigned long long *at, unsigned long long v)
{
    const unsigned long long before = *at;
    *at |= v;
    return before;
}

static inline uint64_t __brevll(uint64_t v)
{
    uint64_t reversed = 0;
    for (int i = 0; i < 64; i++)
        reversed |= (v >> i & 1) << (63 - i);
    return reversed;
}
static inline int __clzll(long long v)
{
    return v ? __builtin_clzll((unsigned long long)v) : 64;
}
static inline int __ffsll(long long v)
{
    return __builtin_ffsll(v);
}

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
};

struct cudaFuncAttributes {
    int numRegs;
};

cudaError_t shim_launch(dim3 grid, dim3 block, cudaStream_t stream, const std::function<void()> &kernel);
cudaError_t shim_probe();
cudaError_t shim_occupancy(int *blocks, int block_threads);

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...), const Arguments &...arguments)
{
    return shim_launch(config->gridDim, config->blockDim, config->stream, [&] { kernel(arguments...); });
}

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, Kernel *)
{
    return shim_probe();
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int block_threads, size_t)
{
    return shim_occupancy(blocks, block_threads);
}

#endif
