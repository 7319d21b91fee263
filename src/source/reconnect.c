#include "source/reconnect.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/feeder.h"
#include "source/compat.h"

#define PATIENCE_NS INT64_C(10000000000) /* with an input that sends nothing, before it is opened again */
#define RETRY_NS 1000000000 /* between two attempts */

enum ec_status ec_libav_prepare_reconnect(struct ec_source *s, struct ec_error *error)
{
    struct stat st;
    if (!s->p->reconnect)
        return EC_OK;
    if (strcmp(s->p->input, "-") == 0 || (stat(s->p->input, &st) == 0 && S_ISREG(st.st_mode)))
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s: --reconnect is for cameras and addresses", s->p->input);
    s->input.patience_ns = PATIENCE_NS;
    return EC_OK;
}

enum ec_status ec_libav_keep_shapes(struct ec_source *s, struct ec_error *error)
{
    const AVFormatContext *c = s->input.container;
    s->shapes = malloc((c->nb_streams + 1) * sizeof *s->shapes);
    if (!s->shapes)
        return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", s->input.name);
    s->shape_count = c->nb_streams;
    for (unsigned i = 0; i < c->nb_streams; i++)
        s->shapes[i] = (struct ec_stream_shape){c->streams[i]->codecpar->codec_id, c->streams[i]->time_base};
    s->stream_base = c->streams[s->input.stream]->time_base;
    return EC_OK;
}

/* Whether the other streams can go on where those of the old container were. */
static bool has_same_streams(const AVFormatContext *c, const struct ec_stream_shape *old, unsigned count)
{
    bool same = c->nb_streams == count;
    for (unsigned i = 0; same && i < count; i++)
        same = c->streams[i]->codecpar->codec_id == old[i].codec && av_cmp_q(c->streams[i]->time_base, old[i].time_base) == 0;
    return same;
}

/* The input again, in place of the one that was closed. */
static enum ec_status take_over(struct ec_source *s, struct ec_error *error)
{
    const enum ec_status opened = ec_input_open(&s->input, s->p, &s->env, error);
    if (opened != EC_OK)
        return opened;
    AVFormatContext *c = s->input.container;
    AVStream *stream = c->streams[s->input.stream];
    if (av_cmp_q(stream->time_base, s->stream_base) != 0)
        return ec_fail(error, EC_ERROR_INPUT, "%s: it came back with another clock", s->input.name);
    s->packets_wanted = s->packets_wanted && has_same_streams(c, s->shapes, s->shape_count);
    ec_libav_discard_unwanted(s);
    s->info.container = c;
    s->info.video_stream = s->input.stream;
    s->pictures.stream = stream;
    s->pictures.orientation = ec_orientation_from_matrix(ec_stream_display_matrix(stream));
    ec_clock_take_over(&s->clock, c->start_time == AV_NOPTS_VALUE ? 0 : c->start_time);
    return ec_libav_choose_decoder(s, error);
}

bool ec_libav_reconnect(struct ec_source *s)
{
    ec_log(&s->env.logger, EC_LOG_WARNING, "%s: the connection was lost; it is tried again every second", s->input.name);
    for (;;) {
        struct ec_error error = {0};
        ec_decoder_close(&s->decoder);
        ec_input_close(&s->input);
        s->input.patience_ns = PATIENCE_NS;
        if (take_over(s, &error) == EC_OK)
            break;
        ec_log(&s->env.logger, EC_LOG_VERBOSE, "%s", error.text);
        ec_wait_until(ec_now_ns() + RETRY_NS, s->env.stop);
        if (ec_input_cancelled(&s->input))
            return false;
    }
    ec_log(&s->env.logger, EC_LOG_NOTICE, "%s: the connection is back", s->input.name);
    return true;
}
