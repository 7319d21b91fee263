/* Stands in for the CUDA runtime, so that the whole CUDA backend runs on a machine without a GPU or toolkit: kernels are
 * compiled as C++ and run thread by thread on the host, copies are memcpy, and everything is finished when its call returns.
 * Streams and events belong to the GPU that was current when they were made, and misuse across GPUs fails as CUDA's does.
 * Only what the backend uses is here; the names are CUDA's, the implementation is ours (runtime.cpp). */
#ifndef EC_SHIM_CUDA_RUNTIME_API_H
#define EC_SHIM_CUDA_RUNTIME_API_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInsufficientDriver,
    cudaErrorNoDevice,
    cudaErrorNotReady,
    cudaErrorNoKernelImageForDevice,
    cudaErrorInvalidDeviceFunction,
    cudaErrorUnsupportedPtxVersion,
    cudaErrorLaunchFailure,
} cudaError_t;

typedef struct shim_stream *cudaStream_t;
typedef struct shim_event *cudaEvent_t;
typedef struct shim_graph *cudaGraph_t;
typedef struct shim_graph *cudaGraphExec_t;

enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };

enum {
    cudaStreamNonBlocking = 1,
    cudaEventDefault = 0,
    cudaEventBlockingSync = 1,
    cudaEventDisableTiming = 2,
    cudaHostAllocPortable = 1,
    cudaStreamCaptureModeThreadLocal = 1,
};

enum cudaDeviceAttr { cudaDevAttrTextureAlignment = 14, cudaDevAttrMultiProcessorCount = 16 };

struct cudaDeviceProp {
    char name[256];
    int major, minor;
};

cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetPCIBusId(char *bus_id, int size, int device);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaMemset(void *memory, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t row_bytes, size_t rows,
                              enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);

/* A captured round runs while it is captured; launching it is no work. */
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *program, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t program, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t program);

/* What the machine looks like; zero-initialised tests see one GPU with plenty of everything. */
struct shim_machine {
    int driver_version, runtime_version, device_count;
    size_t device_bytes, pinned_bytes; /* limits */
    bool no_kernel_image;
    int launches_until_failure; /* -1: never */
};
extern struct shim_machine shim_machine;
size_t shim_device_bytes_used(void);

/* The call with this number from now on (from 0, in the order of all threads) fails; for_good: so do all that follow, as on a
 * GPU that was lost. -1: none fails. */
void shim_fail_at(long call, bool for_good);
long shim_calls(void); /* since shim_fail_at */

#ifdef __cplusplus
}
#endif
#endif
