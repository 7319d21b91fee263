#include "source/decoder.h"

#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "source/compat.h"

/* Marks frames of get_buffer: decoders that bring their own memory leave AVFrame.opaque alone. */
static char pooled_mark;

bool ec_decoder_frame_is_pooled(const AVFrame *frame)
{
    return frame->opaque == &pooled_mark;
}

enum { PLANE_ALIGNMENT = 64, TAIL_BYTES = 128 /* decoders may read and write a vector beyond a plane */ };

/* Row sizes for a coded width w such that every plane's rows are aligned as the decoder asks: widening the luma row by its
 * lowest set bit keeps the ratio between planes and ends at the latest at the next multiple. */
static int aligned_linesizes(int linesize[4], enum AVPixelFormat format, int w, const int alignment[AV_NUM_DATA_POINTERS])
{
    for (;;) {
        const int r = av_image_fill_linesizes(linesize, format, w);
        if (r < 0)
            return r;
        int odd = 0;
        for (int i = 0; i < 4; i++)
            odd |= alignment[i] ? linesize[i] % alignment[i] : 0;
        if (!odd)
            return 0;
        w += w & ~(w - 1);
    }
}

static int get_buffer(AVCodecContext *decoder, AVFrame *frame, int flags)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(frame->format);
    if (decoder->codec_type != AVMEDIA_TYPE_VIDEO || !(decoder->codec->capabilities & AV_CODEC_CAP_DR1) || !d ||
        (d->flags & AV_PIX_FMT_FLAG_HWACCEL))
        return avcodec_default_get_buffer2(decoder, frame, flags);

    int w = frame->width, h = frame->height, alignment[AV_NUM_DATA_POINTERS] = {0}, linesize[4] = {0};
    avcodec_align_dimensions2(decoder, &w, &h, alignment);
    int r = aligned_linesizes(linesize, frame->format, w, alignment);
    if (r < 0)
        return r;
    ptrdiff_t strides[4];
    size_t sizes[4], offsets[4] = {0}, total = 0;
    for (int i = 0; i < 4; i++)
        strides[i] = linesize[i];
    r = av_image_fill_plane_sizes(sizes, frame->format, h, strides);
    if (r < 0)
        return r;
    for (int i = 0; i < 4; i++) {
        offsets[i] = total;
        if (sizes[i])
            total += (sizes[i] + TAIL_BYTES + PLANE_ALIGNMENT - 1) & ~(size_t)(PLANE_ALIGNMENT - 1);
    }
    frame->buf[0] = ec_pool_get(decoder->opaque, total);
    if (!frame->buf[0])
        return AVERROR(ENOMEM);
    for (int i = 0; i < 4; i++) {
        frame->data[i] = sizes[i] ? frame->buf[0]->data + offsets[i] : NULL;
        frame->linesize[i] = linesize[i];
    }
    frame->extended_data = frame->data;
    frame->opaque = &pooled_mark;
    return 0;
}

/* The pixel format in which `codec` decodes on a device of this type. */
static enum AVPixelFormat device_format(const AVCodec *codec, enum AVHWDeviceType type)
{
    const AVCodecHWConfig *config;
    for (int i = 0; codec && (config = avcodec_get_hw_config(codec, i)); i++)
        if (config->device_type == type && (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX))
            return config->pix_fmt;
    return AV_PIX_FMT_NONE;
}

static enum AVHWDeviceType type_of(const AVBufferRef *device)
{
    return ((const AVHWDeviceContext *)(const void *)device->data)->type;
}

bool ec_decoder_takes_device(const AVFormatContext *container, int stream, const AVBufferRef *device)
{
    const AVCodec *codec = avcodec_find_decoder(container->streams[stream]->codecpar->codec_id);
    return device && device_format(codec, type_of(device)) != AV_PIX_FMT_NONE;
}

/* The device's format while it is on offer. libavcodec asks again without it when the device refuses the stream. */
static enum AVPixelFormat choose_format(AVCodecContext *decoder, const enum AVPixelFormat *offered)
{
    const enum AVPixelFormat wanted =
        decoder->hw_device_ctx ? device_format(decoder->codec, type_of(decoder->hw_device_ctx)) : AV_PIX_FMT_NONE;
    for (const enum AVPixelFormat *f = offered; *f != AV_PIX_FMT_NONE; f++)
        if (*f == wanted)
            return *f;
    return avcodec_default_get_format(decoder, offered);
}

/* NVDEC gives one decoder at most 32 surfaces. The stream's own references and FFmpeg's spares take up to 18, the pipeline
 * holds device_frames, and every frame thread adds one: a machine with many cores must not run out of them. */
static int device_threads(const struct ec_decoder_params *params)
{
    const int room = 32 - 18 - params->device_frames;
    const int most = room > 1 ? room : 1;
    return params->threads > 0 && params->threads < most ? params->threads : most;
}

enum ec_status ec_decoder_open(AVCodecContext **out, const struct ec_decoder_params *params, const char *name,
                               struct ec_error *error)
{
    AVStream *s = params->container->streams[params->stream];
    const AVCodec *codec = avcodec_find_decoder(s->codecpar->codec_id);
    *out = NULL;
    if (!codec)
        return ec_fail(error, EC_ERROR_INPUT, "%s: FFmpeg here cannot decode %s", name,
                       avcodec_get_name(s->codecpar->codec_id));
    AVCodecContext *d = avcodec_alloc_context3(codec);
    int r = d ? avcodec_parameters_to_context(d, s->codecpar) : AVERROR(ENOMEM);
    if (r >= 0) {
        d->pkt_timebase = s->time_base;
        d->framerate = s->avg_frame_rate;
        d->thread_count = params->threads;
        d->thread_type = FF_THREAD_FRAME | FF_THREAD_SLICE;
        d->opaque = params->pool;
        d->get_buffer2 = get_buffer;
        ec_decoder_callbacks_thread_safe(d);
        if (params->device) {
            d->get_format = choose_format;
            d->thread_count = device_threads(params);
            d->extra_hw_frames = params->device_frames;
            d->hw_device_ctx = av_buffer_ref(params->device);
            r = d->hw_device_ctx ? r : AVERROR(ENOMEM);
        }
    }
    if (r >= 0)
        r = avcodec_open2(d, codec, NULL);
    if (r < 0) {
        char cause[AV_ERROR_MAX_STRING_SIZE];
        av_strerror(r, cause, sizeof cause);
        avcodec_free_context(&d);
        return ec_fail(error, EC_ERROR_INPUT, "%s: the %s decoder refuses the stream: %s", name, codec->name, cause);
    }
    *out = d;
    return EC_OK;
}
