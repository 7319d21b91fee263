#include "sink/recoder.h"

#include "sink/metadata.h"
#include "sink/trial.h"

enum ec_status ec_recoder_open(struct ec_recoder *r, const struct ec_mux *mux, const AVStream *in, const AVCodec *from,
                               const AVCodec *to, struct ec_error *error)
{
    r->decoder = avcodec_alloc_context3(from);
    r->encoder = avcodec_alloc_context3(to);
    if (!r->decoder || !r->encoder || avcodec_parameters_to_context(r->decoder, in->codecpar) < 0)
        return ec_mux_fail(mux, AVERROR(ENOMEM), error);
    r->decoder->pkt_timebase = in->time_base;
    return avcodec_open2(r->decoder, from, NULL) < 0 ? ec_fail(error, EC_ERROR_DEVICE, "its decoder does not start") : EC_OK;
}

enum ec_status ec_recoder_begin(struct ec_recoder *r, const struct ec_mux *mux, const AVStream *in, AVRational time_base,
                                struct ec_error *error)
{
    const char *name = r->encoder->codec->name;
    if (avcodec_open2(r->encoder, NULL, NULL) < 0)
        return ec_fail(error, EC_ERROR_DEVICE, "the encoder %s does not start", name);
    AVCodecParameters *made = avcodec_parameters_alloc();
    enum ec_status status = EC_OK;
    if (!made || avcodec_parameters_from_context(made, r->encoder) < 0)
        status = ec_mux_fail(mux, AVERROR(ENOMEM), error);
    else if (!ec_trial_passes(mux, &(struct ec_trial){made, time_base, NULL, mux->context->strict_std_compliance}))
        status = ec_fail(error, EC_ERROR_DEVICE, "%s takes neither this kind of %s nor %s", mux->context->oformat->name,
                         avcodec_get_name(in->codecpar->codec_id), avcodec_get_name(made->codec_id));
    if (status == EC_OK) {
        r->out = avformat_new_stream(mux->context, NULL);
        if (!r->out || avcodec_parameters_copy(r->out->codecpar, made) < 0 || ec_metadata_copy_stream(r->out, in, false) < 0)
            status = ec_mux_fail(mux, AVERROR(ENOMEM), error);
        else
            r->out->time_base = time_base;
    }
    avcodec_parameters_free(&made);
    return status;
}

void ec_recoder_close(struct ec_recoder *r)
{
    avcodec_free_context(&r->decoder);
    avcodec_free_context(&r->encoder);
    r->out = NULL;
}
