#include "source/filter.h"

#include <stdbool.h>

#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/mathematics.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>

#include "source/compat.h"

struct ec_filter {
    char *chain, *name;
    AVRational time_base, frame_rate;
    AVFilterGraph *graph;
    AVFilterContext *input, *output;
    int width, height, format; /* of the input the graph was built for */
    int64_t end_pts; /* of the last picture that went in */
    AVFrame *next; /* waits until the graph for the old pictures is empty */
};

enum ec_status ec_filter_open(struct ec_filter **out, const char *chain, const char *name, AVRational time_base,
                              AVRational frame_rate, struct ec_error *error)
{
    struct ec_filter *f = av_mallocz(sizeof *f);
    *out = f;
    if (f) {
        f->chain = av_strdup(chain);
        f->name = av_strdup(name);
        f->next = av_frame_alloc();
        f->time_base = time_base;
        f->frame_rate = frame_rate;
    }
    if (f && f->chain && f->name && f->next)
        return EC_OK;
    ec_filter_close(out);
    return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the filter \"%s\"", name);
}

static int make_input(struct ec_filter *f, const AVFrame *frame)
{
    f->input = avfilter_graph_alloc_filter(f->graph, avfilter_get_by_name("buffer"), "in");
    AVBufferSrcParameters *p = av_buffersrc_parameters_alloc();
    int r = f->input && p ? 0 : AVERROR(ENOMEM);
    if (r >= 0) {
        p->format = frame->format;
        p->width = frame->width;
        p->height = frame->height;
        p->time_base = f->time_base;
        p->frame_rate = f->frame_rate;
        p->sample_aspect_ratio = frame->sample_aspect_ratio;
        r = av_buffersrc_parameters_set(f->input, p);
    }
    av_free(p);
    return r < 0 ? r : avfilter_init_str(f->input, NULL);
}

static int build(struct ec_filter *f, const AVFrame *frame)
{
    avfilter_graph_free(&f->graph);
    f->graph = avfilter_graph_alloc();
    AVFilterInOut *outputs = avfilter_inout_alloc(), *inputs = avfilter_inout_alloc();
    int r = f->graph && outputs && inputs ? make_input(f, frame) : AVERROR(ENOMEM);
    if (r >= 0)
        r = avfilter_graph_create_filter(&f->output, avfilter_get_by_name("buffersink"), "out", NULL, NULL, f->graph);
    if (r >= 0) {
        *outputs = (AVFilterInOut){.name = av_strdup("in"), .filter_ctx = f->input};
        *inputs = (AVFilterInOut){.name = av_strdup("out"), .filter_ctx = f->output};
        r = avfilter_graph_parse_ptr(f->graph, f->chain, &inputs, &outputs, NULL);
    }
    if (r >= 0)
        r = avfilter_graph_config(f->graph, NULL);
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    if (r < 0)
        avfilter_graph_free(&f->graph);
    f->width = frame->width;
    f->height = frame->height;
    f->format = frame->format;
    return r;
}

static int64_t end_of(const struct ec_filter *f, const AVFrame *frame)
{
    int64_t duration = ec_frame_duration(frame);
    if (duration <= 0 && f->frame_rate.num > 0 && f->frame_rate.den > 0)
        duration = av_rescale_q(1, av_inv_q(f->frame_rate), f->time_base);
    return frame->pts == AV_NOPTS_VALUE ? AV_NOPTS_VALUE : av_sat_add64(frame->pts, FFMAX(duration, 0));
}

/* Filters that make a constant rate need to know how long the last picture lasts. */
static int end_input(struct ec_filter *f)
{
    return f->end_pts == AV_NOPTS_VALUE ? av_buffersrc_add_frame_flags(f->input, NULL, AV_BUFFERSRC_FLAG_PUSH)
                                        : av_buffersrc_close(f->input, f->end_pts, AV_BUFFERSRC_FLAG_PUSH);
}

static enum ec_status feed(struct ec_filter *f, AVFrame *frame, struct ec_error *error)
{
    f->end_pts = end_of(f, frame);
    int r = f->graph ? 0 : build(f, frame);
    if (r >= 0)
        r = av_buffersrc_add_frame_flags(f->input, frame, AV_BUFFERSRC_FLAG_PUSH);
    av_frame_unref(frame);
    if (r >= 0)
        return EC_OK;
    char cause[AV_ERROR_MAX_STRING_SIZE];
    av_strerror(r, cause, sizeof cause);
    return ec_fail(error, EC_ERROR_ARGUMENT, "the filter \"%s\" cannot be used on this video: %s", f->name, cause);
}

enum ec_status ec_filter_push(struct ec_filter *f, AVFrame *frame, struct ec_error *error)
{
    if (!frame) {
        if (f->graph && end_input(f) < 0)
            return ec_fail(error, EC_ERROR_ARGUMENT, "the filter \"%s\" cannot be ended", f->name);
        return EC_OK;
    }
    if (f->graph && (f->width != frame->width || f->height != frame->height || f->format != frame->format)) {
        av_frame_move_ref(f->next, frame);
        return ec_filter_push(f, NULL, error);
    }
    return feed(f, frame, error);
}

int ec_filter_pull(struct ec_filter *f, AVFrame *frame)
{
    int r = f->graph ? av_buffersink_get_frame(f->output, frame) : AVERROR(EAGAIN);
    if (r == AVERROR_EOF && f->next->buf[0]) {
        avfilter_graph_free(&f->graph);
        struct ec_error ignored = {0};
        r = feed(f, f->next, &ignored) == EC_OK ? av_buffersink_get_frame(f->output, frame) : AVERROR(EINVAL);
    }
    return r >= 0 ? 1 : r == AVERROR(EAGAIN) || r == AVERROR_EOF ? 0 : r;
}

AVRational ec_filter_time_base(const struct ec_filter *f)
{
    return f->graph ? av_buffersink_get_time_base(f->output) : f->time_base;
}

AVRational ec_filter_frame_rate(const struct ec_filter *f)
{
    return f->graph ? av_buffersink_get_frame_rate(f->output) : f->frame_rate;
}

void ec_filter_close(struct ec_filter **filter)
{
    struct ec_filter *f = *filter;
    if (!f)
        return;
    avfilter_graph_free(&f->graph);
    av_frame_free(&f->next);
    av_free(f->chain);
    av_free(f->name);
    av_freep(filter);
}
