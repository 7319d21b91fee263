#include "sink/mux.h"

#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sink/metadata.h"

enum ec_status ec_mux_fail(const struct ec_mux *mux, int code, struct ec_error *error)
{
    if (code == AVERROR(EPIPE) && mux->target->kind == EC_TARGET_STDOUT)
        return EC_STOPPED;
    if (code == AVERROR(ENOMEM))
        return ec_fail(error, EC_ERROR_MEMORY, "cannot write %s: out of memory", mux->target->name);
    return ec_fail(error, EC_ERROR_OUTPUT, "cannot write %s: %s", mux->target->name, av_err2str(code));
}

static const AVOutputFormat *find_format(const struct ec_pipeline_params *params, struct ec_error *error)
{
    struct stat info;
    const bool standard = strcmp(params->output, "-") == 0;
    const char *name = params->output_format ? params->output_format : standard ? "yuv4mpegpipe" : NULL;
    const AVOutputFormat *format = name ? av_guess_format(name, NULL, NULL) : av_guess_format(NULL, params->output, NULL);
    if (!format && name)
        ec_fail(error, EC_ERROR_ARGUMENT, "cannot write %s: there is no output format %s", params->output, name);
    else if (!format && stat(params->output, &info) == 0 && S_ISDIR(info.st_mode))
        ec_fail(error, EC_ERROR_OUTPUT, "cannot write %s: it is a directory; name a file in it, or use --out-dir",
                params->output);
    else if (!format)
        ec_fail(error, EC_ERROR_ARGUMENT, "cannot write %s: its ending names no format; name one with --out-format",
                params->output);
    return format;
}

/* Options that make a whole file better (the index in front, for players that stream it), or a pipe possible at all. */
static void set_format_options(struct ec_mux *mux)
{
    AVFormatContext *context = mux->context;
    if (mux->one_picture)
        av_opt_set(context->priv_data, "update", "1", 0);
    if (strcmp(context->oformat->name, "yuv4mpegpipe") == 0)
        context->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL; /* gray of more than 8 bits */
    if (!context->priv_data || !context->pb || !av_opt_find(context->priv_data, "movflags", NULL, 0, 0))
        return;
    /* A start later than 0 is counted in the movie's clock, 1/1000 s unless told otherwise; a version without the option keeps
     * it. */
    av_opt_set(context->priv_data, "movie_timescale", "90000", 0);
    if (!(context->pb->seekable & AVIO_SEEKABLE_NORMAL))
        av_opt_set(context->priv_data, "movflags", "+frag_keyframe+empty_moov+default_base_moof", 0);
    else if (mux->target->kind == EC_TARGET_FILE)
        av_opt_set(context->priv_data, "movflags", "+faststart", 0);
}

enum ec_status ec_mux_open(struct ec_mux **out, const struct ec_pipeline_params *params, const struct ec_stream_info *info,
                           struct ec_error *error)
{
    *out = NULL;
    const AVOutputFormat *format = find_format(params, error);
    if (!format)
        return error->status;
    struct ec_mux *mux = calloc(1, sizeof *mux);
    if (!mux)
        return ec_fail(error, EC_ERROR_MEMORY, "cannot write %s: out of memory", params->output);
    mux->logger = params->logger;
    const bool several = format->flags & AVFMT_NOFILE;
    mux->one_picture = several && strcmp(format->name, "image2") == 0 && !av_filename_number_test(params->output);
    enum ec_status status = EC_OK;
    if (mux->one_picture && info->frames > 1) {
        status = ec_fail(error, EC_ERROR_ARGUMENT, "%s holds one picture, %s has more; name a pattern such as out_%%03d.png",
                         params->output, info->name);
        goto fail;
    }
    status =
        ec_target_open(&mux->target, params->output, params->input, several && !mux->one_picture, params->overwrite, error);
    if (status != EC_OK)
        goto fail;
    if (avformat_alloc_output_context2(&mux->context, NULL, format->name, mux->target->url) < 0) {
        status = ec_mux_fail(mux, AVERROR(ENOMEM), error);
        goto fail;
    }
    *out = mux;
    return EC_OK;
fail:
    ec_mux_close(&mux);
    return status;
}

enum ec_status ec_mux_begin(struct ec_mux *mux, const struct ec_stream_info *info, AVDictionary **options,
                            struct ec_error *error)
{
    AVFormatContext *context = mux->context;
    mux->last_dts = malloc(context->nb_streams * sizeof *mux->last_dts);
    if (!mux->last_dts)
        return ec_mux_fail(mux, AVERROR(ENOMEM), error);
    for (unsigned i = 0; i < context->nb_streams; i++)
        mux->last_dts[i] = AV_NOPTS_VALUE;
    int result = ec_metadata_copy(context, info);
    if (result >= 0 && !(context->oformat->flags & AVFMT_NOFILE))
        result = avio_open2(&context->pb, context->url, AVIO_FLAG_WRITE, NULL, NULL);
    if (result < 0)
        return ec_mux_fail(mux, result, error);
    set_format_options(mux);
    result = avformat_write_header(context, options);
    if (context->pb) {
        avio_flush(context->pb); /* a full disk shows here, before the first frame */
        if (context->pb->error < 0)
            result = context->pb->error;
    }
    const enum ec_status status = result < 0 ? ec_mux_fail(mux, result, error) : EC_OK;
    mux->reader_gone = status == EC_STOPPED;
    return mux->reader_gone ? EC_OK : status;
}

/* AVI has no times but counts: where a stream pauses, its muxer puts empty packets, but not more than 60000 of them in front of
 * one, and none in front of the first. So it gets some that are empty already. */
static int fill_pause(struct ec_mux *mux, const AVPacket *next)
{
    enum { STEP = 50000 };
    const int index = next->stream_index;
    const bool first = mux->last_dts[index] == AV_NOPTS_VALUE;
    int64_t at = first ? -STEP : mux->last_dts[index];
    if (strcmp(mux->context->oformat->name, "avi") != 0 || mux->context->streams[index]->codecpar->block_align != 0 ||
        next->dts == AV_NOPTS_VALUE || next->dts - (first ? 0 : at) <= STEP)
        return 0;
    AVPacket *empty = av_packet_alloc();
    int result = empty ? 0 : AVERROR(ENOMEM);
    for (at += STEP; result >= 0 && at < next->dts; at += STEP) {
        empty->stream_index = index;
        empty->pts = empty->dts = at;
        result = av_interleaved_write_frame(mux->context, empty);
    }
    av_packet_free(&empty);
    return result;
}

enum ec_status ec_mux_write(struct ec_mux *mux, AVPacket *packet, AVRational time_base, struct ec_error *error)
{
    const int index = packet->stream_index;
    if (mux->reader_gone) {
        av_packet_unref(packet);
        return EC_STOPPED;
    }
    av_packet_rescale_ts(packet, time_base, mux->context->streams[index]->time_base);
    packet->pos = -1;
    if (packet->dts == AV_NOPTS_VALUE)
        packet->dts = packet->pts;
    int result = fill_pause(mux, packet);
    if (packet->dts != AV_NOPTS_VALUE) {
        if (mux->last_dts[index] != AV_NOPTS_VALUE && packet->dts <= mux->last_dts[index])
            packet->dts = mux->last_dts[index] + 1;
        if (packet->pts != AV_NOPTS_VALUE && packet->pts < packet->dts)
            packet->pts = packet->dts;
        mux->last_dts[index] = packet->dts;
    }
    if (result >= 0)
        result = av_interleaved_write_frame(mux->context, packet);
    av_packet_unref(packet);
    return result < 0 ? ec_mux_fail(mux, result, error) : EC_OK;
}

enum ec_status ec_mux_finish(struct ec_mux *mux, struct ec_error *error)
{
    if (mux->reader_gone)
        return EC_STOPPED;
    int result = av_write_trailer(mux->context);
    if (mux->context->pb) {
        avio_flush(mux->context->pb);
        if (mux->context->pb->error < 0)
            result = mux->context->pb->error;
        const int closed = avio_closep(&mux->context->pb);
        if (result >= 0)
            result = closed;
    }
    return result < 0 ? ec_mux_fail(mux, result, error) : ec_target_commit(mux->target, error);
}

void ec_mux_close(struct ec_mux **mux)
{
    struct ec_mux *m = *mux;
    if (!m)
        return;
    if (m->context && !(m->context->oformat->flags & AVFMT_NOFILE))
        avio_closep(&m->context->pb);
    avformat_free_context(m->context);
    ec_target_close(&m->target);
    free(m->last_dts);
    free(m);
    *mux = NULL;
}
