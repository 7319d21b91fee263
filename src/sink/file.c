/* The file sink: frame -> encoder -+
 *                                  +-> mux -> target (temporary, then renamed)
 *                packet -> streams-+                                              */
#include <stdlib.h>

#include "sink/encoder.h"
#include "sink/mux.h"
#include "sink/sink.h"
#include "sink/streams.h"

struct ec_sink {
    struct ec_mux *mux;
    struct ec_encoder *encoder;
    struct ec_streams *streams;
    int64_t frames;
};

static void file_close(struct ec_sink **sink)
{
    struct ec_sink *s = *sink;
    if (!s)
        return;
    ec_streams_close(&s->streams);
    ec_encoder_close(&s->encoder);
    ec_mux_close(&s->mux);
    free(s);
    *sink = NULL;
}

static enum ec_status refuse_unknown(const struct ec_sink *s, const AVDictionary *left, struct ec_error *error)
{
    const AVDictionaryEntry *entry = av_dict_get(left, "", NULL, AV_DICT_IGNORE_SUFFIX);
    if (!entry)
        return EC_OK;
    return ec_fail(error, EC_ERROR_ARGUMENT, "cannot write %s: neither the encoder nor the format %s has an option %s",
                   s->mux->target->name, s->mux->context->oformat->name, entry->key);
}

static enum ec_status file_open(struct ec_sink **out, const struct ec_pipeline_params *params,
                                const struct ec_stream_info *info, const struct ec_results *results, struct ec_error *error)
{
    *out = NULL;
    AVDictionary *left = NULL;
    struct ec_sink *s = calloc(1, sizeof *s);
    if (!s)
        return ec_fail(error, EC_ERROR_MEMORY, "cannot write %s: out of memory", params->output);
    enum ec_status status = ec_mux_open(&s->mux, params, info, error);
    if (status == EC_OK)
        status = ec_encoder_open(&s->encoder, s->mux, params, info, results, &left, error);
    if (status == EC_OK)
        status = ec_streams_open(&s->streams, s->mux, params, info, error);
    if (status == EC_OK)
        status = ec_mux_begin(s->mux, info, &left, error);
    if (status == EC_OK)
        status = refuse_unknown(s, left, error);
    av_dict_free(&left);
    if (status != EC_OK)
        file_close(&s);
    *out = s;
    return status;
}

static bool file_takes_surfaces(const struct ec_sink *s)
{
    return ec_encoder_takes_surfaces(s->encoder);
}

static enum ec_status file_frame(struct ec_sink *s, const struct ec_frame *frame, struct ec_error *error)
{
    s->frames++;
    return ec_encoder_frame(s->encoder, frame, error);
}

static enum ec_status file_packet(struct ec_sink *s, const AVPacket *packet, struct ec_error *error)
{
    return ec_streams_packet(s->streams, packet, error);
}

static enum ec_status file_finish(struct ec_sink *s, int64_t deadline_ns, int64_t *given_up, struct ec_error *error)
{
    if (s->frames == 0)
        return ec_fail(error, EC_ERROR_FRAMES, "%s was not written: no frame came", s->mux->target->name);
    enum ec_status status = ec_encoder_flush(s->encoder, deadline_ns, given_up, error);
    if (status == EC_OK)
        status = ec_streams_finish(s->streams, error);
    return status == EC_OK ? ec_mux_finish(s->mux, error) : status;
}

static const char *file_advice(const struct ec_sink *s)
{
    return ec_encoder_advice(s->encoder);
}

static void file_abandon(const struct ec_sink *s)
{
    ec_target_abandon(s->mux->target);
}

const struct ec_sink_ops ec_sink_file = {
    .name = "file",
    .open = file_open,
    .takes_surfaces = file_takes_surfaces,
    .frame = file_frame,
    .packet = file_packet,
    .finish = file_finish,
    .advice = file_advice,
    .abandon = file_abandon,
    .close = file_close,
};
