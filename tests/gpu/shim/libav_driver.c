/* A decoder and an encoder for the stand-in GPU, in a program that is linked with stand-ins for the driver's libraries: FFmpeg
 * finds those. In the environment: with SHIM_BARE_AV1 FFmpeg is one that was built without libraries that decode AV1; with
 * SHIM_CUDA_FAIL, the number of a call of the runtime from 0 on, the GPU is lost at that call. When the program ends, nothing
 * of the GPU's memory may be in use. */
#include <dlfcn.h>
#include <libavcodec/avcodec.h>
#include <libavutil/hwcontext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/device.h"

struct AVBufferRef *ec_device_for_libav(const struct ec_device *device, cudaStream_t stream, struct ec_error *error)
{
    AVBufferRef *ref = NULL;
    (void)device, (void)stream;
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

static void __attribute__((constructor)) plan_failure(void)
{
    const char *call = getenv("SHIM_CUDA_FAIL");
    if (call)
        shim_fail_at(atol(call), true);
}

static void __attribute__((destructor)) check_memory(void)
{
    if (shim_device_bytes_used() == 0)
        return;
    fprintf(stderr, "%zu bytes of the stand-in GPU were never freed\n", shim_device_bytes_used());
    _exit(99);
}
