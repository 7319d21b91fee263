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

} // namespace ec

#endif
