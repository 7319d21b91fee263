#include "source/decoder.h"

#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <string.h>

#include "source/av1.h"
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
    const struct ec_video_decoder *owner = decoder->opaque;
    frame->buf[0] = ec_pool_get(owner->pool, total);
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

/* FFmpeg's decoder that can use a device of this type: its usual one, or one that it prefers another to where there is no
 * device. Not NVIDIA's whole decoders, whose frames the pipeline cannot hold. NULL: none. */
static const AVCodec *device_codec(enum AVCodecID id, enum AVHWDeviceType type)
{
    const AVCodec *codec = avcodec_find_decoder(id);
    void *position = NULL;
    while (codec && (codec->id != id || !av_codec_is_decoder(codec) || (codec->capabilities & AV_CODEC_CAP_HARDWARE) ||
                     device_format(codec, type) == AV_PIX_FMT_NONE))
        codec = av_codec_iterate(&position);
    return codec;
}

bool ec_decoder_takes_device(const AVFormatContext *container, int stream, const AVBufferRef *device)
{
    return device && device_codec(container->streams[stream]->codecpar->codec_id, type_of(device));
}

/* The device's format while it is on offer. libavcodec asks again without it when the device refuses the stream. */
static enum AVPixelFormat choose_format(AVCodecContext *codec, const enum AVPixelFormat *offered)
{
    struct ec_video_decoder *owner = codec->opaque;
    const enum AVPixelFormat wanted =
        codec->hw_device_ctx ? device_format(codec->codec, type_of(codec->hw_device_ctx)) : AV_PIX_FMT_NONE;
    for (const enum AVPixelFormat *f = offered; *f != AV_PIX_FMT_NONE; f++)
        if (*f == wanted)
            return *f;
    atomic_store(&owner->refused, owner->device_only);
    return avcodec_default_get_format(codec, offered);
}

/* NVDEC gives one decoder at most 32 surfaces, of which the stream's own references and FFmpeg's spares take up to 18; of AV1
 * they take 21, its 8 references twice because of film grain. One is its thread's. */
static int surfaces_left(enum AVCodecID codec)
{
    return 32 - (codec == AV_CODEC_ID_AV1 ? 21 : 18);
}

int ec_decoder_spare_frames(const AVFormatContext *container, int stream)
{
    const enum AVCodecID codec = container->streams[stream]->codecpar->codec_id;
    return surfaces_left(codec) - (codec == AV_CODEC_ID_AV1 ? 0 : 1);
}

/* Every frame thread takes a surface: a machine with many cores must not run out of them. */
static int device_threads(const struct ec_decoder_params *params, enum AVCodecID codec)
{
    const int room = surfaces_left(codec) - params->device_frames;
    const int most = room > 1 ? room : 1;
    return params->threads > 0 && params->threads < most ? params->threads : most;
}

enum ec_status ec_decoder_open(struct ec_video_decoder *out, const struct ec_decoder_params *params, const char *name,
                               struct ec_error *error)
{
    AVStream *s = params->container->streams[params->stream];
    const AVCodec *usual = avcodec_find_decoder(s->codecpar->codec_id);
    const AVCodec *codec = params->device ? device_codec(s->codecpar->codec_id, type_of(params->device)) : usual;
    *out = (struct ec_video_decoder){.pool = params->pool, .device_only = codec != usual};
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
        d->opaque = out;
        d->get_buffer2 = get_buffer;
        ec_decoder_callbacks_thread_safe(d);
        if (params->device) {
            d->get_format = choose_format;
            /* One thread, so that a refusal belongs to the packet that was sent last. */
            d->thread_count = out->device_only ? 1 : device_threads(params, codec->id);
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
    out->codec = d;
    return EC_OK;
}

void ec_decoder_close(struct ec_video_decoder *decoder)
{
    avcodec_free_context(&decoder->codec);
}

/* Size 0: the packet has none, or the decoder finds its way without. */
static struct ec_av1_sequence sequence_of(const struct ec_video_decoder *decoder, const AVPacket *packet)
{
    const struct ec_av1_sequence none = {NULL, 0};
    if (!packet || !decoder->device_only || decoder->codec->codec_id != AV_CODEC_ID_AV1 || !(packet->flags & AV_PKT_FLAG_KEY))
        return none;
    const struct ec_av1_sequence found = ec_av1_find_sequence(packet->data, (size_t)packet->size);
    return found.bytes <= EC_SEQUENCE_MAX_BYTES ? found : none;
}

int ec_decoder_send(struct ec_video_decoder *decoder, const AVPacket *packet)
{
    const struct ec_av1_sequence found = sequence_of(decoder, packet);
    if (found.bytes > 0) {
        memcpy(decoder->sequence, found.data, found.bytes);
        decoder->sequence_bytes = found.bytes;
    }
    return avcodec_send_packet(decoder->codec, packet);
}

bool ec_decoder_is_refused(const struct ec_video_decoder *decoder)
{
    return atomic_load(&decoder->refused);
}

bool ec_decoder_is_outgrown(const struct ec_video_decoder *decoder, const AVPacket *packet)
{
    const struct ec_av1_sequence found = sequence_of(decoder, packet);
    return found.bytes > 0 && decoder->sequence_bytes > 0 &&
           (found.bytes != decoder->sequence_bytes || memcmp(found.data, decoder->sequence, found.bytes) != 0);
}
