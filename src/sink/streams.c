#include "sink/streams.h"

#include <libavcodec/avcodec.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sink/container.h"
#include "sink/converter.h"
#include "sink/metadata.h"
#include "sink/trial.h"

/* Of one input stream; out and ops NULL: left out. Once the run has begun the container belongs to the source's thread, so what
 * is needed of it is kept here. */
struct route {
    AVRational time_base; /* of the input */
    AVStream *out; /* copied */
    const struct ec_converter_ops *ops;
    struct ec_converter *converter;
    bool warned;
};

struct ec_streams {
    struct ec_mux *mux;
    const struct ec_stream_info *info;
    double end_s; /* of the pictures; NaN: to the end */
    AVPacket *packet;
    struct route *routes; /* one for each input stream */
    unsigned count;
};

/* Worth a notice only where the format could have held the like: a raw picture stream has no place for anything else. */
static void leave_out(const struct ec_streams *s, const AVStream *in, bool quiet, const char *cause)
{
    const char *kind = av_get_media_type_string(in->codecpar->codec_type);
    const enum ec_log_level level =
        quiet || s->mux->context->oformat->audio_codec == AV_CODEC_ID_NONE ? EC_LOG_VERBOSE : EC_LOG_NOTICE;
    ec_log(&s->mux->logger, level, "%s: stream %d (%s, %s) is left out: %s", s->mux->target->name, in->index,
           kind ? kind : "unknown", avcodec_get_name(in->codecpar->codec_id), cause);
}

/* Matroska names its attachments. */
static bool is_named(const AVStream *in)
{
    return av_dict_get(in->metadata, "filename", NULL, 0) && av_dict_get(in->metadata, "mimetype", NULL, 0);
}

static enum ec_status add_copy(struct ec_streams *s, const AVStream *in, struct ec_error *error)
{
    AVStream *out = avformat_new_stream(s->mux->context, NULL);
    if (!out || avcodec_parameters_copy(out->codecpar, in->codecpar) < 0 || ec_metadata_copy_stream(out, in, false) < 0)
        return ec_mux_fail(s->mux, AVERROR(ENOMEM), error);
    out->codecpar->codec_tag = 0; /* the new container's own */
    out->time_base = in->time_base;
    s->routes[in->index].out = out;
    return EC_OK;
}

static enum ec_status add_converted(struct ec_streams *s, const AVStream *in, const struct ec_converter_ops *ops,
                                    struct ec_error *error)
{
    struct route *route = &s->routes[in->index];
    struct ec_error why = {0};
    const enum ec_status status = ops->open(&route->converter, s->mux, in, &why);
    if (status == EC_ERROR_DEVICE) {
        leave_out(s, in, false, why.text);
        return EC_OK;
    }
    if (status != EC_OK)
        return ec_fail(error, status, "%s", why.text);
    route->ops = ops;
    const AVFormatContext *context = s->mux->context;
    ec_log(&s->mux->logger, EC_LOG_NOTICE, "%s: %s does not take %s, so stream %d is converted to %s", s->mux->target->name,
           context->oformat->name, avcodec_get_name(in->codecpar->codec_id), in->index,
           avcodec_get_name(context->streams[context->nb_streams - 1]->codecpar->codec_id));
    return EC_OK;
}

static bool passes(const struct ec_streams *s, const AVStream *in, int compliance)
{
    const struct ec_trial trial = {in->codecpar, in->time_base, in->metadata, compliance};
    return ec_trial_passes(s->mux, &trial);
}

/* Whether the stream fits as it is. Lossless sound in MP4 is a standard that FFmpeg's releases before 6.1 called experimental.
 */
static bool fits(const struct ec_streams *s, const AVStream *in)
{
    const enum AVCodecID id = in->codecpar->codec_id;
    if (!ec_container_takes(s->mux->context->oformat, id, FF_COMPLIANCE_NORMAL))
        return false;
    if (passes(s, in, s->mux->context->strict_std_compliance))
        return true;
    if ((id != AV_CODEC_ID_FLAC && id != AV_CODEC_ID_TRUEHD) || !passes(s, in, FF_COMPLIANCE_EXPERIMENTAL))
        return false;
    s->mux->context->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
    return true;
}

static enum ec_status add_stream(struct ec_streams *s, const AVStream *in, struct ec_error *error)
{
    const AVOutputFormat *format = s->mux->context->oformat;
    const AVCodecParameters *codec = in->codecpar;
    switch (codec->codec_type) {
    case AVMEDIA_TYPE_AUDIO:
        if (codec->sample_rate <= 0)
            leave_out(s, in, false, "its sample rate is not known");
        else if (fits(s, in))
            return add_copy(s, in, error);
        else if (format->audio_codec == AV_CODEC_ID_NONE)
            leave_out(s, in, true, "the format holds no sound");
        else
            return add_converted(s, in, &ec_converter_audio, error);
        return EC_OK;
    case AVMEDIA_TYPE_SUBTITLE:
        return fits(s, in) ? add_copy(s, in, error) : add_converted(s, in, &ec_converter_subtitle, error);
    case AVMEDIA_TYPE_ATTACHMENT:
        if (strcmp(format->name, "matroska") == 0 && is_named(in) && passes(s, in, s->mux->context->strict_std_compliance))
            return add_copy(s, in, error);
        leave_out(s, in, false, "the format holds no attachments");
        return EC_OK;
    case AVMEDIA_TYPE_VIDEO:
        if (in->disposition & AV_DISPOSITION_ATTACHED_PIC)
            leave_out(s, in, true, "it is a cover picture");
        else
            leave_out(s, in, false, "one picture stream is taken");
        return EC_OK;
    default:
        leave_out(s, in, false, "data streams belong to the original");
        return EC_OK;
    }
}

/* A number of frames is a time as well, so far as the rate is known. */
static double end_of(const struct ec_pipeline_params *params, const struct ec_stream_info *info)
{
    if (params->max_frames <= 0 || info->frame_rate.num <= 0 || info->frame_rate.den <= 0)
        return info->end_s;
    return fmin((double)params->max_frames / av_q2d(info->frame_rate), isnan(info->end_s) ? INFINITY : info->end_s);
}

enum ec_status ec_streams_open(struct ec_streams **out, struct ec_mux *mux, const struct ec_pipeline_params *params,
                               const struct ec_stream_info *info, struct ec_error *error)
{
    *out = NULL;
    struct ec_streams *s = calloc(1, sizeof *s);
    enum ec_status status = EC_OK;
    if (!s)
        return ec_mux_fail(mux, AVERROR(ENOMEM), error);
    s->mux = mux;
    s->info = info;
    s->end_s = end_of(params, info);
    s->count = info->container && !params->no_audio ? info->container->nb_streams : 0;
    s->routes = calloc(s->count + 1, sizeof *s->routes);
    s->packet = av_packet_alloc();
    if (!s->routes || !s->packet)
        status = ec_mux_fail(mux, AVERROR(ENOMEM), error);
    for (unsigned i = 0; status == EC_OK && i < s->count; i++) {
        s->routes[i].time_base = info->container->streams[i]->time_base;
        if ((int)i != info->video_stream)
            status = add_stream(s, info->container->streams[i], error);
    }
    if (status != EC_OK)
        ec_streams_close(&s);
    *out = s;
    return status;
}

static bool is_after_end(const struct ec_streams *s, const AVPacket *packet, AVRational time_base)
{
    const int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    return !isnan(s->end_s) && time != AV_NOPTS_VALUE && (double)time * av_q2d(time_base) >= s->end_s;
}

enum ec_status ec_streams_packet(struct ec_streams *s, const AVPacket *packet, struct ec_error *error)
{
    if (packet->stream_index < 0 || (unsigned)packet->stream_index >= s->count)
        return EC_OK;
    struct route *route = &s->routes[packet->stream_index];
    if ((!route->out && !route->ops) || is_after_end(s, packet, route->time_base))
        return EC_OK;
    if (route->out) {
        if (packet->pts == AV_NOPTS_VALUE && packet->dts == AV_NOPTS_VALUE)
            return EC_OK; /* nobody could place it */
        if (av_packet_ref(s->packet, packet) < 0)
            return ec_mux_fail(s->mux, AVERROR(ENOMEM), error);
        s->packet->stream_index = route->out->index;
        return ec_mux_write(s->mux, s->packet, route->time_base, error);
    }
    bool damaged = false;
    const enum ec_status status = route->ops->packet(route->converter, packet, &damaged, error);
    if (damaged && !route->warned) {
        ec_log(&s->mux->logger, EC_LOG_WARNING, "%s: stream %d is damaged; the parts that cannot be decoded are left out",
               s->info->name, packet->stream_index);
        route->warned = true;
    }
    return status;
}

enum ec_status ec_streams_finish(struct ec_streams *s, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    for (unsigned i = 0; status == EC_OK && i < s->count; i++) {
        bool damaged = false;
        if (s->routes[i].ops)
            status = s->routes[i].ops->packet(s->routes[i].converter, NULL, &damaged, error);
    }
    return status;
}

void ec_streams_close(struct ec_streams **streams)
{
    struct ec_streams *s = *streams;
    if (!s)
        return;
    for (unsigned i = 0; s->routes && i < s->count; i++) {
        if (s->routes[i].ops)
            s->routes[i].ops->close(&s->routes[i].converter);
    }
    av_packet_free(&s->packet);
    free(s->routes);
    free(s);
    *streams = NULL;
}
