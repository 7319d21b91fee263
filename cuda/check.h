/* The one check that every CUDA call and launch goes through. It returns, never exits, and keeps the first error. */
#ifndef EC_CUDA_CHECK_H
#define EC_CUDA_CHECK_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "edge/error.h"

/* True for cudaSuccess. Else *error gets one sentence with the call's name (what stands before a bracket in `call`) and CUDA's
 * own words, EC_ERROR_DEVICE, and CUDA's pending error is taken so that it cannot be blamed on a later call. */
bool ec_cuda_check(struct ec_error *error, cudaError_t result, const char *call);

#define EC_CUDA(error, call) ec_cuda_check((error), (call), #call)

#ifdef __cplusplus
}
#endif
#endif
