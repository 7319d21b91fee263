/* A stand-in for libcuda.so.1, as far as FFmpeg's decoders and encoders use it: device memory is host memory, one context, no
 * streams. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SUCCESS = 0, NOT_SUPPORTED = 801 };

int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetCount(int *count);
int cuDeviceGetName(char *name, int bytes, int device);
int cuDeviceComputeCapability(int *major, int *minor, int device);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuCtxPopCurrent_v2(void **context);
int cuGetErrorName(int error, const char **text);
int cuGetErrorString(int error, const char **text);

/* The beginning of the driver's description of a copy of rows, which has offsets and arrays that are not used here. */
struct side {
    size_t x_bytes, y;
    int kind;
    const void *host;
    uint64_t device;
    void *array;
    size_t pitch_bytes;
};
struct rows {
    struct side from, to;
    size_t width_bytes, height;
};
int cuMemcpy2D_v2(const struct rows *copy);
int cuMemcpy2DAsync_v2(const struct rows *copy, void *stream);

int cuInit(unsigned flags)
{
    (void)flags;
    return SUCCESS;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return SUCCESS;
}

/* FFmpeg asks for the alignment of rows. */
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)attribute, (void)device;
    *value = 256;
    return SUCCESS;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return SUCCESS;
}

int cuDeviceGetName(char *name, int bytes, int device)
{
    (void)device;
    snprintf(name, (size_t)bytes, "stand-in");
    return SUCCESS;
}

int cuDeviceComputeCapability(int *major, int *minor, int device)
{
    (void)device;
    *major = 9;
    *minor = 0;
    return SUCCESS;
}

int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    static char only;
    (void)flags, (void)device;
    *context = &only;
    return SUCCESS;
}

int cuCtxPopCurrent_v2(void **context)
{
    *context = NULL;
    return SUCCESS;
}

int cuGetErrorName(int error, const char **text)
{
    (void)error;
    *text = "stand-in";
    return SUCCESS;
}

int cuGetErrorString(int error, const char **text)
{
    return cuGetErrorName(error, text);
}

static char *begin(const struct side *s)
{
    enum { HOST = 1 };
    return s->kind == HOST ? (char *)(uintptr_t)s->host : (char *)(uintptr_t)s->device;
}

int cuMemcpy2D_v2(const struct rows *copy)
{
    for (size_t y = 0; y < copy->height; y++)
        memcpy(begin(&copy->to) + y * copy->to.pitch_bytes, begin(&copy->from) + y * copy->from.pitch_bytes, copy->width_bytes);
    return SUCCESS;
}

int cuMemcpy2DAsync_v2(const struct rows *copy, void *stream)
{
    (void)stream;
    return cuMemcpy2D_v2(copy);
}

/* What FFmpeg looks for when it loads the driver. */
#define ANSWER(name, status)                                                                                                   \
    int name(void);                                                                                                            \
    int name(void)                                                                                                             \
    {                                                                                                                          \
        return status;                                                                                                         \
    }
#define TAKEN(name) ANSWER(name, SUCCESS)
#define UNUSED(name) ANSWER(name, NOT_SUPPORTED)
TAKEN(cuCtxPushCurrent_v2)
TAKEN(cuCtxDestroy_v2)
TAKEN(cuStreamSynchronize)
UNUSED(cuCtxSetLimit)
UNUSED(cuCtxGetDevice)
UNUSED(cuDevicePrimaryCtxRetain)
UNUSED(cuDevicePrimaryCtxRelease)
UNUSED(cuDevicePrimaryCtxSetFlags)
UNUSED(cuDevicePrimaryCtxGetState)
UNUSED(cuDevicePrimaryCtxReset)
UNUSED(cuMemAlloc_v2)
UNUSED(cuMemAllocPitch_v2)
UNUSED(cuMemAllocManaged)
UNUSED(cuMemsetD8Async)
UNUSED(cuMemFree_v2)
UNUSED(cuMemcpy)
UNUSED(cuMemcpyAsync)
UNUSED(cuMemcpyHtoD_v2)
UNUSED(cuMemcpyHtoDAsync_v2)
UNUSED(cuMemcpyDtoH_v2)
UNUSED(cuMemcpyDtoHAsync_v2)
UNUSED(cuMemcpyDtoD_v2)
UNUSED(cuMemcpyDtoDAsync_v2)
UNUSED(cuStreamCreate)
UNUSED(cuStreamQuery)
UNUSED(cuStreamDestroy_v2)
UNUSED(cuStreamAddCallback)
UNUSED(cuEventCreate)
UNUSED(cuEventDestroy_v2)
UNUSED(cuEventSynchronize)
UNUSED(cuEventQuery)
UNUSED(cuEventRecord)
UNUSED(cuLaunchKernel)
UNUSED(cuLinkCreate)
UNUSED(cuLinkAddData)
UNUSED(cuLinkComplete)
UNUSED(cuLinkDestroy)
UNUSED(cuModuleLoadData)
UNUSED(cuModuleUnload)
UNUSED(cuModuleGetFunction)
UNUSED(cuModuleGetGlobal)
UNUSED(cuTexObjectCreate)
UNUSED(cuTexObjectDestroy)
UNUSED(cuGLGetDevices_v2)
UNUSED(cuGraphicsGLRegisterImage)
UNUSED(cuGraphicsUnregisterResource)
UNUSED(cuGraphicsMapResources)
UNUSED(cuGraphicsUnmapResources)
UNUSED(cuGraphicsSubResourceGetMappedArray)
UNUSED(cuGraphicsResourceGetMappedPointer_v2)
UNUSED(cuArray3DCreate_v2)
UNUSED(cuArrayDestroy)
UNUSED(cuEGLStreamProducerConnect)
UNUSED(cuEGLStreamProducerDisconnect)
UNUSED(cuEGLStreamConsumerDisconnect)
UNUSED(cuEGLStreamProducerPresentFrame)
UNUSED(cuEGLStreamProducerReturnFrame)
