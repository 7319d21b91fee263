/* FFmpeg's view of the device, so that NVDEC writes frames into memory that the lanes read in place. */
#include <cuda_runtime_api.h>

#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_cuda.h>

#include "check.h"
#include "device.h"

/* The runtime's own (primary) context. The driver library is not linked, so its function is asked of the runtime. */
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
    ec_fail(error, EC_ERROR_DEVICE, "the NVIDIA driver has no current context for decoding");
    return false;
}

AVBufferRef *ec_cuda_decode_device(struct ec_device *device, struct ec_error *error)
{
    CUcontext context = NULL;
    if (!ec_device_enter(device, error) || !EC_CUDA(error, cudaFree(NULL)) || !current_context(&context, error))
        return NULL;
    if (!device->decode_stream && !EC_CUDA(error, cudaStreamCreateWithFlags(&device->decode_stream, cudaStreamNonBlocking)))
        return NULL;
    AVBufferRef *ref = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA);
    if (ref) {
        AVCUDADeviceContext *cuda = ((AVHWDeviceContext *)(void *)ref->data)->hwctx;
        cuda->cuda_ctx = context;
        cuda->stream = device->decode_stream;
        if (av_hwdevice_ctx_init(ref) < 0)
            av_buffer_unref(&ref);
    }
    if (!ref)
        ec_fail(error, EC_ERROR_DEVICE, "FFmpeg here cannot use the GPU for decoding");
    return ref;
}
