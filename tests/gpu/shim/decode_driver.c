/* A decoder for the stand-in GPU, in a program that is linked with stand-ins for the driver's libraries: FFmpeg finds those.
 * With SHIM_BARE_AV1 in the environment FFmpeg is one that was built without libraries that decode AV1. */
#include <dlfcn.h>
#include <libavcodec/avcodec.h>
#include <libavutil/hwcontext.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"

struct AVBufferRef *ec_cuda_decode_device(struct ec_device *device, struct ec_error *error)
{
    AVBufferRef *ref = NULL;
    (void)device;
    if (av_hwdevice_ctx_create(&ref, AV_HWDEVICE_TYPE_CUDA, "0", NULL, 0) < 0)
        ec_fail(error, EC_ERROR_DEVICE, "FFmpeg does not take the stand-in driver");
    return ref;
}

const AVCodec *avcodec_find_decoder(enum AVCodecID id)
{
    const AVCodec *(*real)(enum AVCodecID) = NULL;
    void *const symbol = dlsym(RTLD_NEXT, "avcodec_find_decoder");
    memcpy(&real, &symbol, sizeof real);
    return id == AV_CODEC_ID_AV1 && getenv("SHIM_BARE_AV1") ? avcodec_find_decoder_by_name("av1") : real(id);
}
