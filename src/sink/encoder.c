#include "sink/encoder.h"

#include <libavutil/opt.h>
#include <stdlib.h>

#include "pipeline/style.h"
#include "sink/colour.h"
#include "sink/durations.h"
#include "sink/encoder_context.h"
#include "sink/metadata.h"
#include "sink/picture.h"
#include "sink/steady.h"

struct ec_encoder {
    struct ec_mux *mux;
    AVStream *stream;
    AVCodecContext *context;
    struct ec_picture *picture; /* of gray results in host memory */
    struct ec_colour *colour; /* of styled ones */
    struct ec_timing timing;
    AVRational input_time_base;
    int64_t last_pts, frames, written; /* frames given to the encoder; packets taken from it */
    struct ec_steady steady;
    bool told_uneven;
    AVFrame *frame, *last; /* last: what may have to be shown again; NULL: nothing ever has */
    int64_t last_input_pts; /* of `last` */
    AVPacket *packet;
    struct ec_durations durations; /* of the frames inside: not every encoder hands them through */
};

bool ec_encoder_takes_surfaces(const struct ec_encoder *e)
{
    return e->context->hw_frames_ctx != NULL;
}

static enum ec_status open_stream(struct ec_encoder *e, const struct ec_stream_info *info, struct ec_error *error)
{
    e->stream = avformat_new_stream(e->mux->context, NULL);
    if (!e->stream || avcodec_parameters_from_context(e->stream->codecpar, e->context) < 0)
        return ec_mux_fail(e->mux, AVERROR(ENOMEM), error);
    e->stream->time_base = e->context->time_base;
    e->stream->avg_frame_rate = e->timing.frame_rate;
    e->stream->sample_aspect_ratio = info->pixel_aspect;
    if (info->container && info->video_stream >= 0 && (unsigned)info->video_stream < info->container->nb_streams &&
        ec_metadata_copy_stream(e->stream, info->container->streams[info->video_stream], true) < 0)
        return ec_mux_fail(e->mux, AVERROR(ENOMEM), error);
    e->stream->disposition &= ~AV_DISPOSITION_ATTACHED_PIC;
    return EC_OK;
}

enum ec_status ec_encoder_open(struct ec_encoder **out, struct ec_mux *mux, const struct ec_pipeline_params *params,
                               const struct ec_stream_info *info, const struct ec_results *results, AVDictionary **left,
                               struct ec_error *error)
{
    *out = NULL;
    struct ec_encoder *e = calloc(1, sizeof *e);
    if (!e)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    e->mux = mux;
    e->input_time_base = info->time_base;
    e->last_pts = AV_NOPTS_VALUE;
    const bool coloured = ec_style_is_coloured(params->style.style), alpha = ec_style_has_alpha(params->style.style);
    const struct ec_encoder_request request = {mux, params, info, {results->depth_bits, coloured, alpha}, results->surfaces};
    enum ec_status status = ec_encoder_context_open(&e->context, &e->timing, &request, left, error);
    if (status != EC_OK)
        goto fail;
    const struct ec_picture_params picture = {
        .format = e->context->pix_fmt,
        .width_px = e->context->width,
        .height_px = e->context->height,
        .image_width_px = info->width_px,
        .image_height_px = info->height_px,
        .depth_bits = results->depth_bits,
        .limited_range = e->context->color_range == AVCOL_RANGE_MPEG,
    };
    if (!ec_encoder_takes_surfaces(e))
        status = coloured ? ec_colour_open(&e->colour, &picture, alpha, error) : ec_picture_open(&e->picture, &picture, error);
    if (status == EC_OK)
        status = open_stream(e, info, error);
    if (status != EC_OK)
        goto fail;
    e->steady = (struct ec_steady){.time_base = info->time_base, .frame_rate = e->timing.frame_rate};
    e->frame = av_frame_alloc();
    const bool again = e->timing.steady || e->context->codec_id == AV_CODEC_ID_MPEG4;
    e->last = again ? av_frame_alloc() : NULL;
    e->packet = av_packet_alloc();
    if (!e->frame || !e->packet || (again && !e->last)) {
        status = ec_mux_fail(mux, AVERROR(ENOMEM), error);
        goto fail;
    }
    *out = e;
    return EC_OK;
fail:
    ec_encoder_close(&e);
    return status;
}

/* Time and length of a frame in the encoder's ticks, strictly increasing. */
static void stamp(struct ec_encoder *e, const struct ec_frame *frame, int64_t *pts, int64_t *duration)
{
    const AVRational to = e->context->time_base;
    *pts = e->timing.counted ? e->frames : av_rescale_q(frame->pts, e->input_time_base, to);
    if (e->last_pts != AV_NOPTS_VALUE && *pts <= e->last_pts)
        *pts = e->last_pts + 1;
    *duration = frame->duration > 0 && !e->timing.counted ? av_rescale_q(frame->duration, e->input_time_base, to)
                                                          : av_rescale_q(1, av_inv_q(e->timing.frame_rate), to);
    *duration = FFMAX(*duration, 1);
    e->last_pts = *pts;
    e->frames++;
}

static enum ec_status encoder_failed(const struct ec_encoder *e, int code, struct ec_error *error)
{
    return ec_fail(error, code == AVERROR(ENOMEM) ? EC_ERROR_MEMORY : EC_ERROR_OUTPUT,
                   "cannot write %s: the encoder %s failed: %s", e->mux->target->name, e->context->codec->name,
                   av_err2str(code));
}

static enum ec_status write_packets(struct ec_encoder *e, int64_t deadline_ns, struct ec_error *error)
{
    /* A file without any picture would not play: the first one is waited for. */
    while (deadline_ns == 0 || e->written == 0 || ec_now_ns() < deadline_ns) {
        const int result = avcodec_receive_packet(e->context, e->packet);
        if (result == AVERROR(EAGAIN) || result == AVERROR_EOF)
            return EC_OK;
        if (result < 0)
            return encoder_failed(e, result, error);
        e->packet->stream_index = e->stream->index;
        e->packet->duration = ec_durations_take(&e->durations, e->packet->pts);
        const enum ec_status status = ec_mux_write(e->mux, e->packet, e->context->time_base, error);
        if (status != EC_OK)
            return status;
        e->written++;
    }
    return EC_OK;
}

/* Encodes e->frame, with all but its times set, and leaves it empty. */
static enum ec_status encode(struct ec_encoder *e, const struct ec_frame *frame, struct ec_error *error)
{
    int64_t duration = 0;
    stamp(e, frame, &e->frame->pts, &duration);
    if (!ec_durations_put(&e->durations, e->frame->pts, duration)) {
        av_frame_unref(e->frame);
        return encoder_failed(e, AVERROR(ENOMEM), error);
    }
    /* Every packet is taken after every frame, so that the encoder never has to refuse one. */
    const int result = avcodec_send_frame(e->context, e->frame);
    av_frame_unref(e->frame);
    return result < 0 ? encoder_failed(e, result, error) : write_packets(e, 0, error);
}

static void tell_uneven(struct ec_encoder *e)
{
    if (!e->told_uneven)
        ec_log(&e->mux->logger, EC_LOG_NOTICE,
               "%s: this format has one rate; frames are repeated and left out to hold %.5g a second", e->mux->target->name,
               av_q2d(e->timing.frame_rate));
    e->told_uneven = true;
}

/* Shows the last frame again until this one's turn has come; *wanted is false when that has passed. */
static enum ec_status keep_steady(struct ec_encoder *e, const struct ec_frame *frame, bool *wanted, struct ec_error *error)
{
    const int64_t repeats = ec_steady_repeats(&e->steady, frame->pts);
    enum ec_status status = EC_OK;
    *wanted = repeats >= 0;
    if (repeats != 0)
        tell_uneven(e);
    for (int64_t i = 0; status == EC_OK && i < repeats; i++)
        status = av_frame_ref(e->frame, e->last) < 0 ? encoder_failed(e, AVERROR(ENOMEM), error) : encode(e, frame, error);
    return status;
}

/* FFmpeg's MPEG-4 encoder fails where two pictures are more than an hour apart: the last one is shown again meanwhile. */
static enum ec_status bridge_pause(struct ec_encoder *e, const struct ec_frame *frame, struct ec_error *error)
{
    enum { MOST_S = 3000 };
    const int64_t most = FFMAX(1, av_rescale_q(MOST_S, (AVRational){1, 1}, e->input_time_base));
    struct ec_frame again = *frame;
    enum ec_status status = EC_OK;
    again.pts = e->last_input_pts;
    while (status == EC_OK && e->last->buf[0] && again.pts < frame->pts - most) {
        again.pts += most;
        status = av_frame_ref(e->frame, e->last) < 0 ? encoder_failed(e, AVERROR(ENOMEM), error) : encode(e, &again, error);
    }
    return status;
}

/* Fills e->frame, which is empty. */
static enum ec_status make_picture(struct ec_encoder *e, const struct ec_frame *frame, struct ec_error *error)
{
    if (e->colour)
        return ec_colour_make(e->colour, frame, e->frame, error);
    if (e->picture)
        return ec_picture_make(e->picture, frame, e->frame, error);
    return av_frame_ref(e->frame, frame->surface) < 0 ? encoder_failed(e, AVERROR(ENOMEM), error) : EC_OK;
}

enum ec_status ec_encoder_frame(struct ec_encoder *e, const struct ec_frame *frame, struct ec_error *error)
{
    bool wanted = true;
    enum ec_status status = EC_OK;
    if (e->mux->one_picture && e->frames == 1)
        return ec_fail(error, EC_ERROR_OUTPUT, "%s holds one picture and more came; name a pattern such as out_%%03d.png",
                       e->mux->target->name);
    if (e->timing.steady)
        status = keep_steady(e, frame, &wanted, error);
    else if (e->last)
        status = bridge_pause(e, frame, error);
    if (status == EC_OK && wanted)
        status = make_picture(e, frame, error);
    if (status != EC_OK || !wanted)
        return status;
    e->frame->color_range = e->context->color_range;
    e->frame->color_primaries = e->context->color_primaries;
    e->frame->color_trc = e->context->color_trc;
    e->frame->colorspace = e->context->colorspace;
    e->frame->sample_aspect_ratio = e->context->sample_aspect_ratio;
    if (e->last) {
        av_frame_unref(e->last);
        if (av_frame_ref(e->last, e->frame) < 0)
            return encoder_failed(e, AVERROR(ENOMEM), error);
        e->last_input_pts = frame->pts;
    }
    return encode(e, frame, error);
}

enum ec_status ec_encoder_flush(struct ec_encoder *e, int64_t deadline_ns, int64_t *given_up, struct ec_error *error)
{
    const int result = avcodec_send_frame(e->context, NULL);
    const enum ec_status status =
        result < 0 && result != AVERROR_EOF ? encoder_failed(e, result, error) : write_packets(e, deadline_ns, error);
    *given_up += deadline_ns ? e->frames - e->written : 0;
    return status;
}

const char *ec_encoder_advice(const struct ec_encoder *e)
{
    const enum AVCodecID id = e->context->codec_id;
    if (id == AV_CODEC_ID_RAWVIDEO || id == AV_CODEC_ID_WRAPPED_AVFRAME)
        return "Writing is the slowest part: the frames go out as they are, as fast as they are taken.";
    /* WebP's presets are kinds of pictures. */
    if (id != AV_CODEC_ID_WEBP && av_opt_find(e->context, "preset", NULL, 0, AV_OPT_SEARCH_CHILDREN))
        return "Encoding is the slowest part: try a faster --preset or another --codec.";
    return "Encoding is the slowest part: another --codec may be faster.";
}

void ec_encoder_close(struct ec_encoder **encoder)
{
    struct ec_encoder *e = *encoder;
    if (!e)
        return;
    avcodec_free_context(&e->context);
    ec_picture_close(&e->picture);
    ec_colour_close(&e->colour);
    av_frame_free(&e->frame);
    av_frame_free(&e->last);
    av_packet_free(&e->packet);
    ec_durations_free(&e->durations);
    free(e);
    *encoder = NULL;
}
