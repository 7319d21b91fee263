/* Sound into another codec: decoder -> filter graph -> encoder. The graph resamples, cuts frames of the encoder's size and
 * fills gaps with silence, so that the sound stays where its timestamps put it. */
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sink/converter.h"
#include "sink/layout.h"
#include "sink/recoder.h"
#include "sink/sound.h"

/* 96 kbit/s a channel, less for low sample rates, which encoders ask for; MPEG audio takes multiples of 16 kbit/s. */
static int64_t bits_per_channel(int sample_rate)
{
    const int64_t most = 96000, usual = (int64_t)sample_rate * 4 / 16000 * 16000;
    return usual < 16000 ? 16000 : usual < most ? usual : most;
}

struct ec_converter {
    struct ec_mux *mux;
    struct ec_recoder codecs;
    AVFilterGraph *graph; /* made for frames like `like` */
    AVFilterContext *source, *sink;
    AVFrame *frame, *like;
    AVPacket *packet;
    AVRational time_base; /* of the input */
};

static void audio_close(struct ec_converter **converter)
{
    struct ec_converter *c = *converter;
    if (!c)
        return;
    avfilter_graph_free(&c->graph);
    ec_recoder_close(&c->codecs);
    av_frame_free(&c->frame);
    av_frame_free(&c->like);
    av_packet_free(&c->packet);
    free(c);
    *converter = NULL;
}

static enum ec_status open_codecs(struct ec_converter *c, const AVStream *in, struct ec_error *error)
{
    const AVOutputFormat *format = c->mux->context->oformat;
    const AVCodec *from = avcodec_find_decoder(in->codecpar->codec_id), *to = ec_sound_encoder(format);
    if (!from || !to)
        return ec_fail(error, EC_ERROR_DEVICE, "%s does not take it and there is no %s", format->name,
                       from ? "encoder for what it takes" : "decoder for it");
    const enum ec_status status = ec_recoder_open(&c->codecs, c->mux, in, from, to, error);
    if (status != EC_OK)
        return status;
    AVCodecContext *encoder = c->codecs.encoder;
    if (ec_layout_choose(encoder, in->codecpar) < 0)
        return ec_mux_fail(c->mux, AVERROR(ENOMEM), error);
    encoder->sample_rate = ec_sound_rate(to, in->codecpar->sample_rate);
    encoder->sample_fmt = ec_sound_format(to, in->codecpar->format);
    encoder->time_base = (AVRational){1, encoder->sample_rate};
    encoder->bit_rate = bits_per_channel(encoder->sample_rate) * ec_layout_channels(encoder);
    if (format->flags & AVFMT_GLOBALHEADER)
        encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    return ec_recoder_begin(&c->codecs, c->mux, in, encoder->time_base, error);
}

static enum ec_status audio_open(struct ec_converter **out, struct ec_mux *mux, const AVStream *in, struct ec_error *error)
{
    *out = NULL;
    struct ec_converter *c = calloc(1, sizeof *c);
    if (!c)
        return ec_mux_fail(mux, AVERROR(ENOMEM), error);
    c->mux = mux;
    c->time_base = in->time_base;
    c->frame = av_frame_alloc();
    c->like = av_frame_alloc();
    c->packet = av_packet_alloc();
    enum ec_status status =
        c->frame && c->like && c->packet ? open_codecs(c, in, error) : ec_mux_fail(mux, AVERROR(ENOMEM), error);
    if (status != EC_OK)
        audio_close(&c);
    *out = c;
    return status;
}

static int open_source(struct ec_converter *c)
{
    AVBufferSrcParameters *parameters = av_buffersrc_parameters_alloc();
    if (!parameters)
        return AVERROR(ENOMEM);
    parameters->format = c->frame->format;
    parameters->sample_rate = c->frame->sample_rate;
    parameters->time_base = c->time_base;
    int result = ec_layout_to_source(parameters, c->frame);
    if (result >= 0)
        result = av_buffersrc_parameters_set(c->source, parameters);
    if (result >= 0)
        result = avfilter_init_str(c->source, NULL);
    av_free(parameters);
    return result;
}

/* abuffer -> aresample -> aformat -> abuffersink, for frames like c->frame. */
static int open_graph(struct ec_converter *c)
{
    char layout[128], wanted[256];
    ec_layout_describe(c->codecs.encoder, layout, sizeof layout);
    snprintf(wanted, sizeof wanted, "sample_fmts=%s:sample_rates=%d:channel_layouts=%s",
             av_get_sample_fmt_name(c->codecs.encoder->sample_fmt), c->codecs.encoder->sample_rate, layout);
    avfilter_graph_free(&c->graph);
    c->graph = avfilter_graph_alloc();
    if (!c->graph)
        return AVERROR(ENOMEM);
    AVFilterContext *resample = NULL, *format = NULL;
    c->source = avfilter_graph_alloc_filter(c->graph, avfilter_get_by_name("abuffer"), "in");
    if (!c->source)
        return AVERROR(ENOMEM);
    int result = open_source(c);
    if (result >= 0)
        result =
            avfilter_graph_create_filter(&resample, avfilter_get_by_name("aresample"), "resample", "async=1", NULL, c->graph);
    if (result >= 0)
        result = avfilter_graph_create_filter(&format, avfilter_get_by_name("aformat"), "format", wanted, NULL, c->graph);
    if (result >= 0)
        result = avfilter_graph_create_filter(&c->sink, avfilter_get_by_name("abuffersink"), "out", NULL, NULL, c->graph);
    if (result >= 0)
        result = avfilter_link(c->source, 0, resample, 0);
    if (result >= 0)
        result = avfilter_link(resample, 0, format, 0);
    if (result >= 0)
        result = avfilter_link(format, 0, c->sink, 0);
    if (result >= 0)
        result = avfilter_graph_config(c->graph, NULL);
    if (result >= 0 && !(c->codecs.encoder->codec->capabilities & AV_CODEC_CAP_VARIABLE_FRAME_SIZE))
        av_buffersink_set_frame_size(c->sink, (unsigned)c->codecs.encoder->frame_size);
    av_frame_unref(c->like);
    return result < 0 ? result : av_frame_ref(c->like, c->frame);
}

static enum ec_status failed(const struct ec_converter *c, int code, struct ec_error *error)
{
    return ec_fail(error, code == AVERROR(ENOMEM) ? EC_ERROR_MEMORY : EC_ERROR_OUTPUT,
                   "cannot write %s: converting the sound to %s failed: %s", c->mux->target->name,
                   c->codecs.encoder->codec->name, av_err2str(code));
}

/* `frame` NULL: the end. */
static enum ec_status encode(struct ec_converter *c, AVFrame *frame, struct ec_error *error)
{
    int result = avcodec_send_frame(c->codecs.encoder, frame);
    if (result < 0 && result != AVERROR_EOF)
        return failed(c, result, error);
    while ((result = avcodec_receive_packet(c->codecs.encoder, c->packet)) >= 0) {
        c->packet->stream_index = c->codecs.out->index;
        const enum ec_status status = ec_mux_write(c->mux, c->packet, c->codecs.encoder->time_base, error);
        if (status != EC_OK)
            return status;
    }
    return result == AVERROR(EAGAIN) || result == AVERROR_EOF ? EC_OK : failed(c, result, error);
}

static enum ec_status drain_graph(struct ec_converter *c, struct ec_error *error)
{
    int result = 0;
    while ((result = av_buffersink_get_frame(c->sink, c->frame)) >= 0) {
        if (c->frame->pts != AV_NOPTS_VALUE)
            c->frame->pts = av_rescale_q(c->frame->pts, av_buffersink_get_time_base(c->sink), c->codecs.encoder->time_base);
        const enum ec_status status = encode(c, c->frame, error);
        av_frame_unref(c->frame);
        if (status != EC_OK)
            return status;
    }
    return result == AVERROR(EAGAIN) || result == AVERROR_EOF ? EC_OK : failed(c, result, error);
}

static enum ec_status flush_graph(struct ec_converter *c, struct ec_error *error)
{
    if (!c->graph)
        return EC_OK;
    const int result = av_buffersrc_add_frame(c->source, NULL);
    return result < 0 ? failed(c, result, error) : drain_graph(c, error);
}

/* Sends c->frame on; where the kind of sound changes, a new graph takes over. */
static enum ec_status filter(struct ec_converter *c, struct ec_error *error)
{
    const AVFrame *like = c->like;
    const bool changed = c->graph && (c->frame->format != like->format || c->frame->sample_rate != like->sample_rate ||
                                      !ec_layout_equal(c->frame, like));
    if (changed) {
        AVFrame *next = av_frame_clone(c->frame);
        av_frame_unref(c->frame);
        const enum ec_status status = next ? flush_graph(c, error) : failed(c, AVERROR(ENOMEM), error);
        if (next)
            av_frame_move_ref(c->frame, next);
        av_frame_free(&next);
        if (status != EC_OK)
            return status;
    }
    int result = changed || !c->graph ? open_graph(c) : 0;
    if (result >= 0)
        result = av_buffersrc_add_frame(c->source, c->frame);
    av_frame_unref(c->frame);
    return result < 0 ? failed(c, result, error) : drain_graph(c, error);
}

static enum ec_status audio_packet(struct ec_converter *c, const AVPacket *packet, bool *damaged, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    int result = avcodec_send_packet(c->codecs.decoder, packet);
    *damaged = result < 0 && result != AVERROR_EOF;
    while (status == EC_OK && (result = avcodec_receive_frame(c->codecs.decoder, c->frame)) >= 0) {
        c->frame->pts = c->frame->best_effort_timestamp;
        ec_layout_complete(c->frame);
        status = filter(c, error);
    }
    if (status == EC_OK && result < 0 && result != AVERROR(EAGAIN) && result != AVERROR_EOF)
        *damaged = true;
    if (status == EC_OK && !packet)
        status = flush_graph(c, error);
    return status == EC_OK && !packet ? encode(c, NULL, error) : status;
}

const struct ec_converter_ops ec_converter_audio = {.open = audio_open, .packet = audio_packet, .close = audio_close};
