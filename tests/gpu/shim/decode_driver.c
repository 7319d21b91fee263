/* A decoder for the stand-in GPU, in a program that is linked with stand-ins for the driver's libraries: FFmpeg finds those. */
#include <libavutil/hwcontext.h>

#include "cuda/device.h"

struct AVBufferRef *ec_cuda_decode_device(struct ec_device *device, struct ec_error *error)
{
    AVBufferRef *ref = NULL;
    (void)device;
    if (av_hwdevice_ctx_create(&ref, AV_HWDEVICE_TYPE_CUDA, "0", NULL, 0) < 0)
        ec_fail(error, EC_ERROR_DEVICE, "FFmpeg does not take the stand-in driver");
    return ref;
}
