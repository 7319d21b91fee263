/* FFmpeg's view of the device: the runtime's own (primary) context, so that both see the same memory. */
#include <cuda_runtime_api.h>

#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_cuda.h>

#include "check.h"
#include "device.h"

/* The driver library is not linked, so its function is asked of the runtime. */
static bool current_context(CUcontext *out, struct ec_error *error)
{
    typedef CUresult (*get_current)(CUcontext *);
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    if (!EC_CUDA(error, cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, 4000, cudaEnableDefault, &found)))
        return false;
#else
    if (!EC_CUDA(error, cudaGetDriverEntryPoint("cuCtxGetCurrent", &function, cudaEnableDefault, &found)))
        return false;
#endif
    if (found == cudaDriverEntryPointSuccess && ((get_current)function)(out) == CUDA_SUCCESS && *out)
        return true;
    ec_fail(error, EC_ERROR_DEVICE, "the NVIDIA driver has no current context for FFmpeg");
    return false;
}

AVBufferRef *ec_device_for_libav(const struct ec_device *device, cudaStream_t stream, struct ec_error *error)
{
    CUcontext context = NULL;
    if (!ec_device_enter(device, error) || !EC_CUDA(error, cudaFree(NULL)) || !current_context(&context, error))
        return NULL;
    AVBufferRef *ref = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA);
    if (ref) {
        AVCUDADeviceContext *cuda = ((AVHWDeviceContext *)(void *)ref->data)->hwctx;
        cuda->cuda_ctx = context;
        cuda->stream = stream;
        if (av_hwdevice_ctx_init(ref) < 0)
            av_buffer_unref(&ref);
    }
    if (!ref)
        ec_fail(error, EC_ERROR_DEVICE, "FFmpeg here cannot use the GPU");
    return ref;
}
