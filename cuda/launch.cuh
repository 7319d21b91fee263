/* Kernel launches through the one check. */
#ifndef EC_CUDA_LAUNCH_CUH
#define EC_CUDA_LAUNCH_CUH

#include <cuda_runtime.h>

#include "check.h"
#include "edge/arith.h"
#include "operators.h"

namespace ec
{

EC_HD constexpr int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

template <class... Parameters, class... Arguments>
enum ec_status launch(const struct ec_gpu_queue *queue, const char *name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                      const Arguments &...arguments)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = queue->stream;
    return ec_cuda_check(queue->error, cudaLaunchKernelEx(&config, kernel, arguments...), name) ? EC_OK : EC_ERROR_DEVICE;
}

/* Blocks of `threads` that the device works on at once. */
template <class... Parameters>
bool blocks_at_once(const struct ec_gpu_queue *queue, void (*kernel)(Parameters...), int threads, int *blocks)
{
    int device = 0, processors = 0;
    *blocks = 0;
    const bool good = EC_CUDA(queue->error, cudaGetDevice(&device)) &&
                      EC_CUDA(queue->error, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) &&
                      EC_CUDA(queue->error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, 0));
    *blocks *= processors;
    return good;
}

} // namespace ec

#endif
