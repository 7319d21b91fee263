/* Text subtitles into the container's own kind of text. */
#include <libavcodec/avcodec.h>
#include <stdlib.h>
#include <string.h>

#include "sink/converter.h"
#include "sink/recoder.h"

enum { EVENT_BYTES = 1 << 18 }; /* one subtitle, encoded */

struct ec_converter {
    struct ec_mux *mux;
    struct ec_recoder codecs;
    AVRational time_base; /* of the input */
    AVPacket *packet; /* for the decoder */
    AVPacket *event; /* for the container */
    uint8_t *buffer;
};

static void subtitle_close(struct ec_converter **converter)
{
    struct ec_converter *c = *converter;
    if (!c)
        return;
    ec_recoder_close(&c->codecs);
    av_packet_free(&c->packet);
    av_packet_free(&c->event);
    free(c->buffer);
    free(c);
    *converter = NULL;
}

static enum AVCodecID text_codec(const AVOutputFormat *format)
{
    static const enum AVCodecID ids[] = {AV_CODEC_ID_SUBRIP, AV_CODEC_ID_MOV_TEXT, AV_CODEC_ID_WEBVTT};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        if (avformat_query_codec(format, ids[i], FF_COMPLIANCE_NORMAL) == 1)
            return ids[i];
    }
    return AV_CODEC_ID_NONE;
}

static enum ec_status open_codecs(struct ec_converter *c, const AVStream *in, struct ec_error *error)
{
    const AVCodecDescriptor *descriptor = avcodec_descriptor_get(in->codecpar->codec_id);
    const char *format = c->mux->context->oformat->name;
    if (!descriptor || !(descriptor->props & AV_CODEC_PROP_TEXT_SUB))
        return ec_fail(error, EC_ERROR_DEVICE, "%s does not take it and it is not text", format);
    const AVCodec *from = avcodec_find_decoder(in->codecpar->codec_id);
    const AVCodec *to = avcodec_find_encoder(text_codec(c->mux->context->oformat));
    if (!from || !to)
        return ec_fail(error, EC_ERROR_DEVICE, "%s takes no subtitles that it can be turned into", format);
    const enum ec_status status = ec_recoder_open(&c->codecs, c->mux, in, from, to, error);
    if (status != EC_OK)
        return status;
    const AVCodecContext *decoder = c->codecs.decoder;
    AVCodecContext *encoder = c->codecs.encoder;
    encoder->time_base = AV_TIME_BASE_Q;
    if (decoder->subtitle_header_size > 0) {
        encoder->subtitle_header = av_mallocz((size_t)decoder->subtitle_header_size + 1);
        if (!encoder->subtitle_header)
            return ec_mux_fail(c->mux, AVERROR(ENOMEM), error);
        memcpy(encoder->subtitle_header, decoder->subtitle_header, (size_t)decoder->subtitle_header_size);
        encoder->subtitle_header_size = decoder->subtitle_header_size;
    }
    return ec_recoder_begin(&c->codecs, c->mux, in, (AVRational){1, 1000}, error);
}

static enum ec_status subtitle_open(struct ec_converter **out, struct ec_mux *mux, const AVStream *in, struct ec_error *error)
{
    *out = NULL;
    struct ec_converter *c = calloc(1, sizeof *c);
    if (!c)
        return ec_mux_fail(mux, AVERROR(ENOMEM), error);
    c->mux = mux;
    c->time_base = in->time_base;
    c->packet = av_packet_alloc();
    c->event = av_packet_alloc();
    c->buffer = malloc(EVENT_BYTES);
    enum ec_status status =
        c->packet && c->event && c->buffer ? open_codecs(c, in, error) : ec_mux_fail(mux, AVERROR(ENOMEM), error);
    if (status != EC_OK)
        subtitle_close(&c);
    *out = c;
    return status;
}

static enum ec_status write_event(struct ec_converter *c, AVSubtitle *subtitle, bool *damaged, struct ec_error *error)
{
    const AVPacket *in = c->packet;
    int64_t start = subtitle->pts != AV_NOPTS_VALUE ? subtitle->pts : av_rescale_q(in->pts, c->time_base, AV_TIME_BASE_Q);
    int64_t length = av_rescale_q(in->duration, c->time_base, AV_TIME_BASE_Q);
    start += subtitle->start_display_time * INT64_C(1000);
    if (subtitle->end_display_time > subtitle->start_display_time && subtitle->end_display_time != UINT32_MAX)
        length = (subtitle->end_display_time - subtitle->start_display_time) * INT64_C(1000);
    subtitle->pts = start;
    subtitle->end_display_time = (uint32_t)FFMIN(length / 1000, INT32_MAX);
    subtitle->start_display_time = 0;
    const int bytes = avcodec_encode_subtitle(c->codecs.encoder, c->buffer, EVENT_BYTES, subtitle);
    if (bytes <= 0) {
        *damaged = bytes < 0;
        return EC_OK;
    }
    if (av_new_packet(c->event, bytes) < 0)
        return ec_mux_fail(c->mux, AVERROR(ENOMEM), error);
    memcpy(c->event->data, c->buffer, (size_t)bytes);
    c->event->stream_index = c->codecs.out->index;
    c->event->pts = c->event->dts = start;
    c->event->duration = length;
    return ec_mux_write(c->mux, c->event, AV_TIME_BASE_Q, error);
}

static enum ec_status subtitle_packet(struct ec_converter *c, const AVPacket *packet, bool *damaged, struct ec_error *error)
{
    if (!packet || packet->pts == AV_NOPTS_VALUE)
        return EC_OK;
    if (av_packet_ref(c->packet, packet) < 0)
        return ec_mux_fail(c->mux, AVERROR(ENOMEM), error);
    AVSubtitle subtitle = {0};
    int got = 0;
    *damaged = avcodec_decode_subtitle2(c->codecs.decoder, &subtitle, &got, c->packet) < 0;
    enum ec_status status = EC_OK;
    if (got && subtitle.num_rects > 0)
        status = write_event(c, &subtitle, damaged, error);
    if (got)
        avsubtitle_free(&subtitle);
    av_packet_unref(c->packet);
    return status;
}

const struct ec_converter_ops ec_converter_subtitle = {
    .open = subtitle_open, .packet = subtitle_packet, .close = subtitle_close};
