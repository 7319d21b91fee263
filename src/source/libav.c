/* Files, devices, networks and pipes through libavformat and libavcodec.
 *
 * packet -> decoder -> [prefilter, which also turns the picture upright] -> gray plane -> [turn upright] [scale to the first
 * size] -> frame
 *
 * The parts in brackets are libavfilter chains that exist only where they are needed; without them the decoder's own luma plane
 * is the frame. Packets of other streams pass by. open() reads up to the first frame, so that info() knows what really comes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "source/clock.h"
#include "source/compat.h"
#include "source/decoder.h"
#include "source/filter.h"
#include "source/gray.h"
#include "source/input.h"
#include "source/orientation.h"
#include "source/source.h"

#define PENDING_MAX_BYTES (64 << 20) /* of other streams' packets that may precede the first frame */

struct pending {
    struct ec_item item;
    struct pending *next;
};

struct ec_source {
    struct ec_source_env env;
    const struct ec_pipeline_params *p;
    struct ec_input input;
    struct ec_stream_info info;
    struct ec_clock clock;
    AVCodecContext *decoder;
    AVPacket *packet;
    AVFrame *decoded, *gray, *filtered;
    struct ec_gray converter;
    struct ec_orientation container_orientation;

    struct ec_filter *prefilter, *finish;
    struct ec_orientation prefilter_orientation, finish_orientation;
    bool finish_scales;

    struct pending *first, *last;
    int64_t pending_bytes; /* of packets */
    bool packets_wanted, ended, flushed, told_interlaced, told_oblique, told_scaled;
    int64_t video_packets;
    atomic_llong damaged;
};

static enum ec_status out_of_memory(const struct ec_source *s, struct ec_error *error)
{
    return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", s->input.name);
}

static enum ec_status append(struct ec_source *s, const struct ec_item *item, struct ec_error *error)
{
    struct pending *node = malloc(sizeof *node);
    if (!node)
        return out_of_memory(s, error);
    *node = (struct pending){.item = *item};
    *(s->last ? &s->last->next : &s->first) = node;
    s->last = node;
    s->pending_bytes += item->kind == EC_ITEM_PACKET ? item->packet->size : 0;
    return EC_OK;
}

static bool take_pending(struct ec_source *s, struct ec_item *out)
{
    struct pending *node = s->first;
    if (!node)
        return false;
    *out = node->item;
    s->first = node->next;
    if (!s->first)
        s->last = NULL;
    s->pending_bytes -= out->kind == EC_ITEM_PACKET ? out->packet->size : 0;
    free(node);
    return true;
}

/* The first frame tells what all of them will be. */
static void describe_frames(struct ec_source *s, const AVFrame *gray, int depth_bits)
{
    s->info.width_px = gray->width;
    s->info.height_px = gray->height;
    s->info.depth_bits = depth_bits;
    s->info.pixel_aspect = gray->sample_aspect_ratio;
    s->info.primaries = gray->color_primaries;
    s->info.transfer = gray->color_trc;
}

/* The finished gray picture becomes a frame: in the pool's memory, with its place on the time axis. */
static enum ec_status emit(struct ec_source *s, AVFrame *gray, bool pooled, struct ec_error *error)
{
    const int depth = av_pix_fmt_desc_get(gray->format)->comp[0].depth;
    const int bytes = depth > 8 ? 2 : 1;
    struct ec_frame frame = {
        .image = {gray->data[0], gray->width, gray->height, gray->linesize[0], depth, EC_MEMORY_HOST},
        .limited_range = gray->color_range == AVCOL_RANGE_MPEG,
        .decoded_ns = ec_now_ns(),
    };
    if (!ec_clock_stamp(&s->clock, gray->pts, ec_frame_duration(gray), &frame.pts, &frame.duration))
        return EC_OK;
    if (pooled) {
        frame.owner = av_buffer_ref(gray->buf[0]);
    } else {
        const size_t pitch = ((size_t)gray->width * (size_t)bytes + 63) & ~(size_t)63;
        frame.owner = ec_pool_get(s->env.pool, pitch * (size_t)gray->height + 64);
        if (frame.owner)
            av_image_copy_plane(frame.owner->data, (int)pitch, gray->data[0], gray->linesize[0], gray->width * bytes,
                                gray->height);
        frame.image.data = frame.owner ? frame.owner->data : NULL;
        frame.image.pitch_bytes = (ptrdiff_t)pitch;
    }
    if (!frame.owner)
        return out_of_memory(s, error);
    const struct ec_item item = {.kind = EC_ITEM_FRAME, .frame = frame};
    const enum ec_status status = append(s, &item, error);
    if (status != EC_OK)
        av_buffer_unref(&frame.owner);
    else if (s->info.width_px == 0)
        describe_frames(s, gray, depth);
    return status;
}

/* The chain behind the gray plane: turns it, and scales what differs from the first frame. */
static enum ec_status prepare_finish(struct ec_source *s, const AVFrame *gray, struct ec_orientation o, bool *needed,
                                     struct ec_error *error)
{
    const int width = o.transpose ? gray->height : gray->width;
    const int height = o.transpose ? gray->width : gray->height;
    const bool known = s->info.width_px > 0;
    const bool scale = known && (width != s->info.width_px || height != s->info.height_px ||
                                 gray->format != ec_gray_format(s->info.depth_bits));
    *needed = scale || !ec_orientation_is_upright(o);
    if (!*needed || (s->finish && ec_orientation_equal(o, s->finish_orientation) && scale == s->finish_scales))
        return EC_OK;
    ec_filter_close(&s->finish);
    s->finish_orientation = o;
    s->finish_scales = scale;
    char scaler[128] = "";
    if (scale) {
        snprintf(scaler, sizeof scaler, ",scale=%d:%d:flags=bicubic,format=%s", s->info.width_px, s->info.height_px,
                 av_get_pix_fmt_name(ec_gray_format(s->info.depth_bits)));
        if (!s->told_scaled)
            ec_log(&s->env.logger, EC_LOG_NOTICE,
                   "%s: the picture changes to %dx%d on the way; it is scaled to the first size, %dx%d", s->input.name, width,
                   height, s->info.width_px, s->info.height_px);
        s->told_scaled = true;
    }
    char chain[192];
    snprintf(chain, sizeof chain, "%s%s", ec_orientation_chain(o), scaler);
    return ec_filter_open(&s->finish, chain, s->info.time_base, s->info.frame_rate, error);
}

static enum ec_status take_gray(struct ec_source *s, AVFrame *picture, struct ec_orientation o, struct ec_error *error)
{
    bool pooled = ec_decoder_frame_is_pooled(picture), filter = false;
    const uint8_t *plane = picture->data[0];
    enum ec_status status = ec_gray_from(&s->converter, s->gray, picture, error);
    av_frame_unref(picture);
    if (status == EC_OK) {
        /* A plane that is not the picture's own was made by the converter, in the pool. */
        pooled = (pooled || s->gray->data[0] != plane) && s->gray->linesize[0] > 0;
        status = prepare_finish(s, s->gray, o, &filter, error);
    }
    if (status == EC_OK && !filter)
        status = emit(s, s->gray, pooled, error);
    if (status == EC_OK && filter)
        status = ec_filter_push(s->finish, s->gray, error);
    while (status == EC_OK && filter && ec_filter_pull(s->finish, s->filtered) > 0) {
        status = emit(s, s->filtered, false, error);
        av_frame_unref(s->filtered);
    }
    av_frame_unref(s->gray);
    return status;
}

static enum ec_status drain_prefilter(struct ec_source *s, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    AVFrame *picture = av_frame_alloc();
    if (!picture)
        return out_of_memory(s, error);
    while (status == EC_OK && ec_filter_pull(s->prefilter, picture) > 0) {
        const AVRational own = ec_filter_time_base(s->prefilter);
        if (s->info.width_px == 0) {
            s->info.time_base = own;
            s->info.frame_rate = ec_filter_frame_rate(s->prefilter);
            ec_clock_change_base(&s->clock, own);
        }
        if (picture->pts != AV_NOPTS_VALUE)
            picture->pts = av_rescale_q(picture->pts, own, s->info.time_base);
        picture->opaque = NULL;
        status = take_gray(s, picture, (struct ec_orientation){0}, error);
    }
    av_frame_free(&picture);
    return status;
}

static enum ec_status push_prefilter(struct ec_source *s, AVFrame *picture, struct ec_orientation o, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    if (s->prefilter && !ec_orientation_equal(o, s->prefilter_orientation)) {
        status = ec_filter_push(s->prefilter, NULL, error);
        if (status == EC_OK)
            status = drain_prefilter(s, error);
        ec_filter_close(&s->prefilter);
    }
    if (status == EC_OK && !s->prefilter) {
        char *chain = av_asprintf("%s,%s", ec_orientation_chain(o), s->p->prefilter);
        const AVStream *stream = s->input.container->streams[s->input.stream];
        status = chain ? ec_filter_open(&s->prefilter, chain, stream->time_base, s->info.frame_rate, error)
                       : out_of_memory(s, error);
        s->prefilter_orientation = o;
        av_free(chain);
    }
    if (status == EC_OK)
        status = ec_filter_push(s->prefilter, picture, error);
    return status == EC_OK ? drain_prefilter(s, error) : status;
}

static void tell_about(struct ec_source *s, const AVFrame *frame, struct ec_orientation o)
{
    if (!s->told_interlaced && ec_frame_interlaced(frame) && !s->p->prefilter) {
        ec_log(&s->env.logger, EC_LOG_NOTICE,
               "%s: the video is interlaced, its combs will show as edges; --pre yadif removes them", s->input.name);
        s->told_interlaced = true;
    }
    if (!s->told_oblique && o.oblique) {
        ec_log(&s->env.logger, EC_LOG_NOTICE,
               "%s: the file asks for a turn by an angle that is no multiple of 90 degrees; that part is left out",
               s->input.name);
        s->told_oblique = true;
    }
}

static enum ec_status take_decoded(struct ec_source *s, struct ec_error *error)
{
    AVFrame *frame = s->decoded;
    const struct ec_orientation o = ec_orientation_of_frame(frame, s->container_orientation);
    tell_about(s, frame, o);
    if ((frame->flags & AV_FRAME_FLAG_CORRUPT) || frame->decode_error_flags)
        atomic_fetch_add(&s->damaged, 1);
    frame->pts = frame->best_effort_timestamp;
    frame->sample_aspect_ratio =
        av_guess_sample_aspect_ratio(s->input.container, s->input.container->streams[s->input.stream], frame);
    if (s->p->prefilter)
        return push_prefilter(s, frame, o, error);
    return take_gray(s, frame, o, error);
}

/* Everything the decoder has ready. A frame that it cannot decode is counted and passed over. */
static enum ec_status drain_decoder(struct ec_source *s, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    while (status == EC_OK && !s->clock.past_end) {
        const int r = avcodec_receive_frame(s->decoder, s->decoded);
        if (r == AVERROR(EAGAIN) || r == AVERROR_EOF)
            break;
        if (r == AVERROR(ENOMEM))
            status = out_of_memory(s, error);
        else if (r < 0)
            atomic_fetch_add(&s->damaged, 1);
        else
            status = take_decoded(s, error);
        av_frame_unref(s->decoded);
    }
    return status;
}

static enum ec_status decode(struct ec_source *s, const AVPacket *packet, struct ec_error *error)
{
    for (;;) {
        const int r = avcodec_send_packet(s->decoder, packet);
        const enum ec_status status = drain_decoder(s, error);
        if (status != EC_OK || s->clock.past_end)
            return status;
        if (r == AVERROR(EAGAIN))
            continue;
        if (r == AVERROR(ENOMEM))
            return out_of_memory(s, error);
        if (r < 0 && r != AVERROR_EOF)
            atomic_fetch_add(&s->damaged, 1);
        return EC_OK;
    }
}

/* The decoder's and the filters' last frames. */
static enum ec_status flush(struct ec_source *s, struct ec_error *error)
{
    enum ec_status status = decode(s, NULL, error);
    if (status == EC_OK && s->prefilter) {
        status = ec_filter_push(s->prefilter, NULL, error);
        if (status == EC_OK)
            status = drain_prefilter(s, error);
        ec_filter_close(&s->prefilter);
    }
    return status;
}

/* A packet of another stream, on the same shifted time axis as the frames. */
static enum ec_status pass_packet(struct ec_source *s, struct ec_error *error)
{
    const AVRational base = s->input.container->streams[s->packet->stream_index]->time_base;
    if (!s->packets_wanted || !ec_clock_shift_packet(&s->clock, s->packet, base))
        return EC_OK;
    AVPacket *copy = av_packet_alloc();
    if (!copy)
        return out_of_memory(s, error);
    av_packet_move_ref(copy, s->packet);
    struct ec_item item = {.kind = EC_ITEM_PACKET, .packet = copy};
    const enum ec_status status = av_packet_make_refcounted(copy) < 0 ? out_of_memory(s, error) : append(s, &item, error);
    if (status != EC_OK)
        av_packet_free(&copy);
    return status;
}

/* In mov and mp4 the index says how many samples there are: a file that was cut off ends before. */
static void count_missing(struct ec_source *s)
{
    const AVStream *stream = s->input.container->streams[s->input.stream];
    const bool indexed = strstr(s->input.container->iformat->name, "mp4") != NULL;
    if (indexed && s->p->start_s == 0 && !s->clock.past_end && !s->p->loop && stream->nb_frames > s->video_packets)
        atomic_fetch_add(&s->damaged, stream->nb_frames - s->video_packets);
}

static bool rewind_input(struct ec_source *s)
{
    AVFormatContext *c = s->input.container;
    const int64_t start = c->start_time == AV_NOPTS_VALUE ? 0 : c->start_time;
    if (!ec_clock_next_round(&s->clock) || avformat_seek_file(c, -1, INT64_MIN, start, start, AVSEEK_FLAG_BACKWARD) < 0)
        return false;
    avcodec_flush_buffers(s->decoder);
    return true;
}

/* Reads one packet and what follows from it. Sets s->ended behind the last one. */
static enum ec_status advance(struct ec_source *s, struct ec_error *error)
{
    int r = av_read_frame(s->input.container, s->packet);
    if (r == AVERROR(EAGAIN))
        return EC_OK;
    if (r < 0) {
        const bool stopped = ec_input_cancelled(&s->input);
        enum ec_status status = stopped ? EC_OK : flush(s, error);
        if (status != EC_OK || stopped || (r == AVERROR_EOF && s->p->loop && rewind_input(s))) {
            s->ended = stopped;
            return status;
        }
        s->ended = true;
        count_missing(s);
        if (r == AVERROR_EOF)
            return EC_OK;
        char cause[AV_ERROR_MAX_STRING_SIZE];
        av_strerror(r, cause, sizeof cause);
        return ec_fail(error, EC_ERROR_INPUT, "%s: reading failed: %s", s->input.name, cause);
    }
    enum ec_status status;
    if (s->packet->stream_index == s->input.stream) {
        s->video_packets++;
        s->ended = s->clock.past_end &&
                   ec_clock_is_far_past(&s->clock, s->packet, s->info.container->streams[s->input.stream]->time_base);
        status = s->clock.past_end ? EC_OK : decode(s, s->packet, error);
    } else {
        status = pass_packet(s, error);
    }
    av_packet_unref(s->packet);
    if (s->clock.past_end && !s->packets_wanted)
        s->ended = true;
    return status;
}

static enum ec_status seek_start(struct ec_source *s, struct ec_error *error)
{
    if (s->p->start_s == 0)
        return EC_OK;
    AVFormatContext *c = s->input.container;
    const int64_t target = s->clock.shift_us;
    if (avformat_seek_file(c, -1, INT64_MIN, target, target, 0) < 0)
        return ec_fail(error, EC_ERROR_INPUT, "%s: this input cannot be entered at %g s", s->input.name, s->p->start_s);
    return EC_OK;
}

static void discard_unwanted(struct ec_source *s)
{
    AVFormatContext *c = s->input.container;
    for (unsigned i = 0; i < c->nb_streams; i++)
        if ((int)i != s->input.stream && (!s->packets_wanted || (c->streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC)))
            c->streams[i]->discard = AVDISCARD_ALL;
}

static void describe_container(struct ec_source *s)
{
    AVFormatContext *c = s->input.container;
    AVStream *stream = c->streams[s->input.stream];
    struct ec_stream_info *i = &s->info;
    i->name = s->input.name;
    i->container = c;
    i->video_stream = s->input.stream;
    i->live = s->input.live;
    i->time_base = stream->time_base;
    i->frame_rate = av_guess_frame_rate(c, stream, NULL);
    i->frames = -1;
    i->duration_s = i->end_s = NAN;
    if (c->duration > 0)
        i->duration_s = fmax(0, (double)c->duration / AV_TIME_BASE - s->p->start_s);
    if (s->p->duration_s > 0)
        i->end_s = isnan(i->duration_s) ? s->p->duration_s : fmin(i->duration_s, s->p->duration_s);
    if (stream->nb_frames > 0 && s->p->start_s == 0 && s->p->duration_s == 0)
        i->frames = stream->nb_frames;
    if (s->p->max_frames > 0 && (i->frames < 0 || s->p->max_frames < i->frames))
        i->frames = s->p->max_frames;
    if (s->p->loop) {
        i->frames = s->p->max_frames > 0 ? s->p->max_frames : -1;
        i->duration_s = NAN;
    }
    s->container_orientation = ec_orientation_from_matrix(ec_stream_display_matrix(stream));
}

/* Reads up to the first frame. */
static enum ec_status reach_first_frame(struct ec_source *s, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    while (status == EC_OK && s->info.width_px == 0) {
        if (s->pending_bytes > PENDING_MAX_BYTES)
            return ec_fail(error, EC_ERROR_INPUT, "%s: no video frame in the first %d MiB of the other streams", s->input.name,
                           PENDING_MAX_BYTES >> 20);
        if (s->ended && ec_input_cancelled(&s->input))
            return ec_fail(error, EC_STOPPED, "%s: stopped", s->input.name);
        if (s->ended)
            return ec_fail(error, EC_ERROR_FRAMES, "%s: %s", s->input.name,
                           atomic_load(&s->damaged) ? "no frame could be decoded" : "no frames came");
        status = advance(s, error);
    }
    return status;
}

static void libav_close(struct ec_source **source)
{
    struct ec_source *s = *source;
    if (!s)
        return;
    struct ec_item item;
    while (take_pending(s, &item))
        ec_item_release(&item);
    ec_filter_close(&s->prefilter);
    ec_filter_close(&s->finish);
    ec_gray_close(&s->converter);
    av_frame_free(&s->decoded);
    av_frame_free(&s->gray);
    av_frame_free(&s->filtered);
    av_packet_free(&s->packet);
    avcodec_free_context(&s->decoder);
    ec_input_close(&s->input);
    free(s);
    *source = NULL;
}

static enum ec_status open_parts(struct ec_source *s, struct ec_error *error)
{
    s->packet = av_packet_alloc();
    s->decoded = av_frame_alloc();
    s->gray = av_frame_alloc();
    s->filtered = av_frame_alloc();
    if (!s->packet || !s->decoded || !s->gray || !s->filtered)
        return out_of_memory(s, error);
    enum ec_status status = ec_input_open(&s->input, s->p, &s->env, error);
    if (status != EC_OK)
        return status;
    const AVFormatContext *c = s->input.container;
    s->packets_wanted = s->p->output && !s->p->no_audio;
    discard_unwanted(s);
    describe_container(s);
    ec_clock_init(&s->clock, s->info.time_base, s->info.frame_rate, c->start_time == AV_NOPTS_VALUE ? 0 : c->start_time,
                  s->p->start_s, s->p->duration_s);
    s->info.shift_us = s->clock.shift_us;
    status = ec_decoder_open(&s->decoder, c, s->input.stream, s->p->decoder_threads, s->env.pool, s->input.name, error);
    if (status == EC_OK)
        status = seek_start(s, error);
    return status == EC_OK ? reach_first_frame(s, error) : status;
}

static enum ec_status libav_open(struct ec_source **out, const struct ec_pipeline_params *params,
                                 const struct ec_source_env *env, struct ec_error *error)
{
    struct ec_source *s = calloc(1, sizeof *s);
    *out = s;
    if (!s)
        return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", params->input);
    s->env = *env;
    s->p = params;
    s->input.name = params->input;
    s->converter.pool = env->pool;
    const enum ec_status status = open_parts(s, error);
    if (status != EC_OK)
        libav_close(out);
    return status;
}

static const struct ec_stream_info *libav_info(const struct ec_source *s)
{
    return &s->info;
}

static enum ec_read_result libav_read(struct ec_source *s, struct ec_item *out, struct ec_error *error)
{
    while (!take_pending(s, out)) {
        if (s->ended)
            return error->status == EC_OK ? EC_READ_END : EC_READ_ERROR;
        /* What was decoded before an error still comes out; the error follows. */
        if (advance(s, error) != EC_OK)
            s->ended = true;
    }
    return EC_READ_ITEM;
}

static int64_t libav_damaged(const struct ec_source *s)
{
    return atomic_load(&s->damaged);
}

const struct ec_source_ops ec_source_libav = {.name = "libav",
                                              .open = libav_open,
                                              .info = libav_info,
                                              .read = libav_read,
                                              .damaged = libav_damaged,
                                              .close = libav_close};
