/* Memory of the device that FFmpeg's decoders write and its encoders read, and that the lanes use in place. Decoder and encoder
 * have a stream each: what the one queues does not wait for the other. */
#include <stdlib.h>

#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>

#include "check.h"
#include "device.h"
#include "edge/buffer_size.h"

static AVBufferRef *open_libav(struct ec_device *device, cudaStream_t *stream, struct ec_error *error)
{
    if (!ec_device_enter(device, error) ||
        (!*stream && !EC_CUDA(error, cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking))))
        return NULL;
    return ec_device_for_libav(device, *stream, error);
}

AVBufferRef *ec_cuda_decode_device(struct ec_device *device, struct ec_error *error)
{
    return open_libav(device, &device->decode_stream, error);
}

/* What it takes to free one surface. */
struct block {
    struct ec_device *device;
    size_t bytes;
};

static void surface_free(void *opaque, uint8_t *data)
{
    struct block *block = opaque;
    void *memory = data;
    (void)ec_device_enter(block->device, NULL);
    ec_device_free(block->device, &memory, block->bytes);
    free(block);
}

/* Luma is written frame by frame; chroma stays the neutral gray that the whole surface begins as. */
static AVBufferRef *surface_alloc(void *opaque, ec_buffer_size bytes)
{
    enum { NEUTRAL = 128 };
    struct ec_device *device = opaque;
    struct ec_error error = {0};
    void *memory = NULL;
    AVBufferRef *ref = NULL;
    struct block *block = malloc(sizeof *block);
    if (!block)
        return NULL;
    *block = (struct block){device, (size_t)bytes};
    if (ec_device_enter(device, &error) && ec_device_alloc(device, &memory, block->bytes, &error) &&
        EC_CUDA(&error, cudaMemset(memory, NEUTRAL, block->bytes)) && EC_CUDA(&error, cudaStreamSynchronize(NULL)))
        ref = av_buffer_create(memory, bytes, surface_free, block, 0);
    if (ref)
        return ref;
    if (error.text[0])
        ec_log(&device->logger, EC_LOG_VERBOSE, "%s", error.text);
    ec_device_free(device, &memory, block->bytes);
    free(block);
    return NULL;
}

static void surfaces_free(AVHWFramesContext *surfaces)
{
    av_buffer_pool_uninit(&surfaces->pool);
}

/* FFmpeg lays the planes out by an alignment that it asks the driver for itself. */
static bool fits(AVBufferRef *surfaces, int64_t bytes)
{
    AVFrame *frame = av_frame_alloc();
    const bool got = frame && av_hwframe_get_buffer(surfaces, frame, 0) >= 0;
    const bool good = got && frame->data[1] - frame->data[0] == (ptrdiff_t)frame->linesize[0] * frame->height &&
                      (int64_t)frame->linesize[0] * frame->height * 3 / 2 <= bytes;
    av_frame_free(&frame);
    return good;
}

AVBufferRef *ec_cuda_encode_surfaces(struct ec_device *device, int width_px, int height_px, int count, struct ec_error *error)
{
    int alignment = 0;
    AVBufferRef *ref = NULL, *gpu = open_libav(device, &device->encode_stream, error);
    if (!gpu || !EC_CUDA(error, cudaDeviceGetAttribute(&alignment, cudaDevAttrTextureAlignment, device->ordinal)))
        goto fail;
    const int bytes = av_image_get_buffer_size(AV_PIX_FMT_NV12, width_px, height_px, alignment);
    ref = bytes > 0 ? av_hwframe_ctx_alloc(gpu) : NULL;
    if (ref) {
        AVHWFramesContext *surfaces = (void *)ref->data;
        surfaces->format = AV_PIX_FMT_CUDA;
        surfaces->sw_format = AV_PIX_FMT_NV12;
        surfaces->width = width_px;
        surfaces->height = height_px;
        surfaces->initial_pool_size = count;
        surfaces->pool = av_buffer_pool_init2((ec_buffer_size)bytes, device, surface_alloc, NULL);
        surfaces->free = surfaces_free;
        if (!surfaces->pool || av_hwframe_ctx_init(ref) < 0 || !fits(ref, bytes))
            av_buffer_unref(&ref);
    }
    if (!ref)
        ec_fail(error, EC_ERROR_DEVICE, "FFmpeg here makes no frames of %dx%d for an encoder in the GPU's memory", width_px,
                height_px);
fail:
    av_buffer_unref(&gpu);
    return ref;
}
