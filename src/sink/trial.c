#include "sink/trial.h"

#include <libavcodec/avcodec.h>

static bool add(AVFormatContext *context, const AVCodecParameters *codec, AVRational time_base, const AVDictionary *metadata)
{
    AVStream *stream = avformat_new_stream(context, NULL);
    if (!stream || avcodec_parameters_copy(stream->codecpar, codec) < 0 || av_dict_copy(&stream->metadata, metadata, 0) < 0)
        return false;
    stream->codecpar->codec_tag = 0;
    stream->time_base = time_base;
    return true;
}

static bool add_all(AVFormatContext *context, const struct ec_mux *mux, const struct ec_trial *trial)
{
    bool added = true;
    for (unsigned i = 0; added && i < mux->context->nb_streams; i++) {
        const AVStream *stream = mux->context->streams[i];
        added = add(context, stream->codecpar, stream->time_base, stream->metadata);
        if (added)
            context->streams[i]->sample_aspect_ratio = stream->sample_aspect_ratio;
    }
    return added && add(context, trial->codec, trial->time_base, trial->metadata);
}

bool ec_trial_passes(const struct ec_mux *mux, const struct ec_trial *trial)
{
    AVFormatContext *context = NULL;
    const AVOutputFormat *format = mux->context->oformat;
    bool passes = true;
    if (format->flags & AVFMT_NOFILE || avformat_alloc_output_context2(&context, NULL, format->name, mux->context->url) < 0)
        return true;
    context->strict_std_compliance = trial->compliance;
    if (add_all(context, mux, trial) && avio_open_dyn_buf(&context->pb) >= 0) {
        const int result = avformat_write_header(context, NULL);
        passes = result >= 0 || result == AVERROR(ENOMEM);
        uint8_t *written = NULL;
        avio_close_dyn_buf(context->pb, &written);
        av_free(written);
        context->pb = NULL;
    }
    avformat_free_context(context);
    return passes;
}
