#include "check.h"

#include <string.h>

bool ec_cuda_check(struct ec_error *error, cudaError_t result, const char *call)
{
    if (result == cudaSuccess)
        return true;
    (void)cudaGetLastError();
    ec_fail(error, EC_ERROR_DEVICE, "%.*s failed on the GPU: %s (%s)", (int)strcspn(call, "("), call,
            cudaGetErrorString(result), cudaGetErrorName(result));
    return false;
}
