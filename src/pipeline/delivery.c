#include "pipeline/delivery.h"

#include "edge/packed.h"
#include "pipeline/feeder.h"
#include "pipeline/range.h"

#define POLL_NS 15000000 /* how often a window is looked after */
#define DRAIN_NS 400000000 /* after a stop, finished frames are still taken for this long */
#define FINISH_NS 1200000000 /* and by then the outputs are being completed */
#define PAUSE_NS 4000000 /* a paused window is asked again after this */

static enum ec_status open_painter(struct ec_delivery *d, const struct ec_stream_info *info, struct ec_error *error)
{
    const struct ec_style_params *style = &d->params->style;
    if (!ec_style_is_coloured(style->style))
        return EC_OK;
    d->look = av_frame_alloc();
    if (!d->look)
        return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", info->name);
    return ec_painter_open(&d->painter, style, info->width_px, info->height_px, info->name, error);
}

enum ec_status ec_delivery_open(struct ec_delivery *d, const struct ec_stream_info *info, int depth_bits, AVBufferRef *surfaces,
                                struct ec_error *error)
{
    const struct ec_results results = {depth_bits, surfaces};
    d->seconds_per_tick = av_q2d(info->time_base);
    d->depth_bits = depth_bits;
    d->frames_left = info->live ? d->params->max_frames : 0;
    const struct {
        bool wanted;
        const struct ec_sink_ops *ops;
    } table[EC_SINKS_MAX] = {
        {d->params->output != NULL, &ec_sink_file},
        {d->params->display, &ec_sink_window},
        {d->params->hash, &ec_sink_hash},
        {d->params->null_sink, &ec_sink_null},
    };
    for (int i = 0; i < EC_SINKS_MAX; i++) {
        if (!table[i].wanted)
            continue;
        const int n = d->count;
        d->sinks[n].ops = table[i].ops;
        const enum ec_status status = table[i].ops->open(&d->sinks[n].sink, d->params, info, &results, error);
        if (status != EC_OK)
            return status;
        d->count++;
        d->wants_pixels |= table[i].ops != &ec_sink_null;
    }
    const enum ec_status status = open_painter(d, info, error);
    d->wants_pixels |= d->painter != NULL;
    return status;
}

bool ec_delivery_takes_surfaces(const struct ec_delivery *d)
{
    for (int i = 0; i < d->count; i++)
        if (d->sinks[i].ops->takes_surfaces && d->sinks[i].ops->takes_surfaces(d->sinks[i].sink))
            return true;
    return false;
}

/* Of several sinks the first one, a file before a window, takes the longest. */
const char *ec_delivery_advice(const struct ec_delivery *d)
{
    for (int i = 0; i < d->count; i++)
        if (d->sinks[i].ops->advice)
            return d->sinks[i].ops->advice(d->sinks[i].sink);
    return d->painter ? "Drawing is the slowest part: the style mask costs nothing." : NULL;
}

static enum ec_status paint(struct ec_delivery *d, struct ec_frame *frame, struct ec_error *error)
{
    frame->look = d->look;
    return ec_painter_paint(d->painter, frame, d->look, error);
}

/* A map becomes an image of pixels. */
static enum ec_status expand(const struct ec_delivery *d, struct ec_frame *frame, struct ec_error *error)
{
    const struct ec_image map = frame->image;
    const size_t row = (size_t)map.width_px * (d->depth_bits > 8 ? 2 : 1), pitch = (row + 63) & ~(size_t)63;
    AVBufferRef *owner = ec_pool_get(d->pixels, pitch * (size_t)map.height_px);
    if (!owner)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for a result of %dx%d", map.width_px, map.height_px);
    frame->image.data = owner->data;
    frame->image.pitch_bytes = (ptrdiff_t)pitch;
    frame->image.depth_bits = d->depth_bits;
    ec_packed_expand(&map, &frame->image);
    av_buffer_unref(&frame->owner);
    frame->owner = owner;
    return EC_OK;
}

static enum ec_status deliver(struct ec_delivery *d, struct ec_item *item, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    const int64_t from_ns = ec_now_ns();
    ec_range_begin("deliver");
    if (d->wants_pixels && item->kind == EC_ITEM_FRAME && item->frame.image.depth_bits == 1)
        status = expand(d, &item->frame, error);
    if (status == EC_OK && d->painter && item->kind == EC_ITEM_FRAME)
        status = paint(d, &item->frame, error);
    for (int i = 0; status == EC_OK && i < d->count; i++) {
        const struct ec_sink_ops *ops = d->sinks[i].ops;
        if (item->kind == EC_ITEM_FRAME)
            status = ops->frame(d->sinks[i].sink, &item->frame, error);
        else if (ops->packet)
            status = ops->packet(d->sinks[i].sink, item->packet, error);
    }
    if (d->look)
        av_frame_unref(d->look);
    ec_range_end();
    if (status == EC_OK && item->kind == EC_ITEM_FRAME) {
        const struct ec_frame *f = &item->frame;
        const int64_t now = ec_now_ns();
        ec_meters_frame_out(d->meters, now - f->decoded_ns, (double)(f->pts + f->duration) * d->seconds_per_tick);
        ec_trace_span(d->trace, EC_TRACK_QUEUE_OUT, "waiting", f->index, f->queued_ns, from_ns);
        ec_trace_span(d->trace, EC_TRACK_SINK, "deliver", f->index, from_ns, now);
    }
    return status;
}

static void tell_sinks(struct ec_delivery *d)
{
    ec_meters_stage(d->meters, EC_STAGE_SINK, ec_now_ns() - d->begin_ns - d->wait_ns, d->wait_ns);
}

/* The strongest wish of any sink that has one: QUIT before PAUSE. */
static enum ec_sink_wish poll_sinks(struct ec_delivery *d, bool *has_poll)
{
    enum ec_sink_wish wish = EC_SINK_GO_ON;
    for (int i = 0; i < d->count; i++) {
        if (!d->sinks[i].ops->poll)
            continue;
        *has_poll = true;
        const enum ec_sink_wish one = d->sinks[i].ops->poll(d->sinks[i].sink);
        if (wish != EC_SINK_QUIT && one != EC_SINK_GO_ON)
            wish = one;
    }
    return wish;
}

enum ec_status ec_delivery_run(struct ec_delivery *d, struct ec_queue *in, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    d->begin_ns = ec_now_ns();
    while (status == EC_OK) {
        bool has_poll = false;
        const enum ec_sink_wish wish = poll_sinks(d, &has_poll);
        if (wish == EC_SINK_QUIT)
            d->quit = true;
        if (d->quit)
            atomic_store(d->halt, true);
        if (wish == EC_SINK_PAUSE && !atomic_load(d->halt)) {
            ec_wait_until(ec_now_ns() + PAUSE_NS, d->halt);
            continue;
        }
        struct ec_item item;
        const enum ec_queue_result r = ec_queue_pop(in, &item, has_poll ? POLL_NS : -1, &d->wait_ns);
        if (r == EC_QUEUE_CLOSED)
            break;
        if (atomic_load(d->halt) && !d->stopped_ns)
            d->stopped_ns = ec_now_ns();
        if (r == EC_QUEUE_OK && !(d->stopped_ns && ec_now_ns() - d->stopped_ns > DRAIN_NS))
            status = deliver(d, &item, error);
        /* A live input drops frames on the way: what counts is what arrives. */
        const bool last = item.kind == EC_ITEM_FRAME && d->frames_left > 0 && --d->frames_left == 0;
        ec_item_release(&item);
        tell_sinks(d);
        if (last) {
            atomic_store(d->halt, true);
            break;
        }
    }
    return status;
}

static enum ec_status finish_sinks(struct ec_delivery *d, struct ec_error *error)
{
    const int64_t deadline_ns = d->stopped_ns ? d->stopped_ns + FINISH_NS : 0;
    int64_t given_up = 0;
    for (int i = 0; i < d->count; i++) {
        const enum ec_status status = d->sinks[i].ops->finish(d->sinks[i].sink, deadline_ns, &given_up, error);
        if (status != EC_OK)
            return status;
    }
    if (given_up > 0)
        ec_log(&d->params->logger, EC_LOG_NOTICE,
               "%s: to end in time, the last %lld frame%s that the encoder still held %s left out", d->params->input,
               (long long)given_up, given_up == 1 ? "" : "s", given_up == 1 ? "was" : "were");
    ec_meters_given_up(d->meters, given_up);
    return EC_OK;
}

enum ec_status ec_delivery_finish(struct ec_delivery *d, struct ec_error *error)
{
    const enum ec_status status = finish_sinks(d, error);
    tell_sinks(d);
    return status;
}

void ec_delivery_abandon(const struct ec_delivery *d)
{
    for (int i = 0; i < d->count; i++) {
        if (d->sinks[i].ops->abandon)
            d->sinks[i].ops->abandon(d->sinks[i].sink);
    }
}

void ec_delivery_close(struct ec_delivery *d)
{
    for (int i = 0; i < d->count; i++)
        d->sinks[i].ops->close(&d->sinks[i].sink);
    d->count = 0;
    ec_painter_close(&d->painter);
    av_frame_free(&d->look);
}
