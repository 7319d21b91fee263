/* Files, devices, networks and pipes through libavformat and libavcodec: packets of the chosen stream go to the decoder, its
 * pictures to `pictures`, and what is ready there comes out between the packets of the other streams. open() reads up to the
 * first frame, so that info() knows what really comes. */
#include <inttypes.h>
#include <libavutil/avstring.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/style.h"
#include "source/reconnect.h"

#define PENDING_MAX_BYTES (512 << 20) /* of other streams' packets that may precede the first frame */

static enum ec_status out_of_memory(const struct ec_source *s, struct ec_error *error)
{
    return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", s->input.name);
}

static struct ec_decoder_params decoder_params(const struct ec_source *s, AVBufferRef *device)
{
    return (struct ec_decoder_params){.container = s->input.container,
                                      .stream = s->input.stream,
                                      .threads = s->p->decoder_threads,
                                      .pool = s->env.pool,
                                      .device = device,
                                      .device_frames = s->info.device_frames};
}

static enum ec_status take_decoded(struct ec_source *s, struct ec_error *error)
{
    AVFrame *frame = s->decoded;
    if ((frame->flags & AV_FRAME_FLAG_CORRUPT) || frame->decode_error_flags)
        atomic_fetch_add(&s->damaged, 1);
    frame->pts = frame->best_effort_timestamp;
    return ec_pictures_add(&s->pictures, frame, error);
}

/* What a refused decoder could not do is no damage: another one does it. */
static void count_failure(struct ec_source *s, int code)
{
    if (ec_decoder_is_refused(&s->decoder))
        return;
    s->decoding_failed = s->decoding_failed ? s->decoding_failed : code;
    atomic_fetch_add(&s->damaged, 1);
}

static enum ec_status nothing_decoded(const struct ec_source *s, struct ec_error *error)
{
    const enum AVCodecID codec = s->input.container->streams[s->input.stream]->codecpar->codec_id;
    char cause[AV_ERROR_MAX_STRING_SIZE];
    if (s->decoding_failed == AVERROR(ENOSYS))
        return ec_fail(error, EC_ERROR_FRAMES,
                       "%s: no frame could be decoded: FFmpeg here decodes %s on GPUs that can, not on a CPU", s->input.name,
                       avcodec_get_name(codec));
    if (!s->decoding_failed)
        return ec_fail(error, EC_ERROR_FRAMES, "%s: no frame could be decoded", s->input.name);
    av_strerror(s->decoding_failed, cause, sizeof cause);
    return ec_fail(error, EC_ERROR_FRAMES, "%s: no frame could be decoded: %s", s->input.name, cause);
}

/* Everything the decoder has ready. A frame that it cannot decode is counted and passed over. */
static enum ec_status drain_decoder(struct ec_source *s, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    while (status == EC_OK && !s->clock.past_end) {
        const int r = avcodec_receive_frame(s->decoder.codec, s->decoded);
        if (r == AVERROR(EAGAIN) || r == AVERROR_EOF)
            break;
        if (r == AVERROR(ENOMEM))
            status = out_of_memory(s, error);
        else if (r < 0)
            count_failure(s, r);
        else
            status = take_decoded(s, error);
        av_frame_unref(s->decoded);
    }
    return status;
}

static enum ec_status decode_with_host_memory(struct ec_source *s, struct ec_error *error)
{
    const struct ec_decoder_params params = decoder_params(s, NULL);
    s->device_refused = true;
    ec_decoder_close(&s->decoder);
    return ec_decoder_open(&s->decoder, &params, s->input.name, error);
}

static enum ec_status decode(struct ec_source *s, const AVPacket *packet, struct ec_error *error)
{
    for (;;) {
        const int r = ec_decoder_send(&s->decoder, packet);
        enum ec_status status = drain_decoder(s, error);
        if (status != EC_OK || s->clock.past_end)
            return status;
        if (r == AVERROR(ENOMEM))
            return out_of_memory(s, error);
        if (r < 0 && r != AVERROR_EOF && r != AVERROR(EAGAIN))
            count_failure(s, r);
        const bool again = ec_decoder_is_refused(&s->decoder);
        if (again)
            status = decode_with_host_memory(s, error);
        if (status != EC_OK || (!again && r != AVERROR(EAGAIN)))
            return status;
    }
}

/* The next packet of the video. */
static enum ec_status decode_packet(struct ec_source *s, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    if (ec_decoder_is_outgrown(&s->decoder, s->packet)) {
        status = decode(s, NULL, error);
        ec_decoder_close(&s->decoder);
        if (status == EC_OK)
            status = ec_libav_choose_decoder(s, error);
    }
    return status == EC_OK ? decode(s, s->packet, error) : status;
}

/* The decoder's and the filters' last frames. */
static enum ec_status flush(struct ec_source *s, struct ec_error *error)
{
    const enum ec_status status = decode(s, NULL, error);
    ec_pictures_end(&s->pictures);
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
    if (av_packet_make_refcounted(copy) >= 0 && ec_item_list_append(&s->pictures.items, &item))
        return EC_OK;
    av_packet_free(&copy);
    return out_of_memory(s, error);
}

/* What a file that was cut off lacks, where that is known: in mov and mp4 the index says how many samples there are, in y4m and
 * DV every byte belongs to a frame. */
static void count_missing(struct ec_source *s)
{
    const AVFormatContext *c = s->input.container;
    const AVStream *stream = c->streams[s->input.stream];
    const bool whole = s->p->start_s == 0 && !s->clock.past_end && !s->p->loop;
    const bool frames_only = strcmp(c->iformat->name, "yuv4mpegpipe") == 0 || strcmp(c->iformat->name, "dv") == 0;
    if (whole && strstr(c->iformat->name, "mp4") && stream->nb_frames > s->video_packets)
        atomic_fetch_add(&s->damaged, stream->nb_frames - s->video_packets);
    if (whole && frames_only && s->video_packets > 0 && avio_tell(c->pb) != s->video_end)
        atomic_fetch_add(&s->damaged, 1);
}

/* Whether there was more than came: as the container tells, or because its last packet is a part of one. Broadcasts begin and
 * end anywhere. */
static bool was_cut_off(struct ec_source *s)
{
    const bool wanted = s->clock.any && !s->clock.past_end && !s->p->loop;
    return wanted && ((s->last_is_partial && !s->clock.wraps) || ec_input_is_cut(&s->input));
}

/* Goes to `before_s` in front of the wanted start; the decoder begins anew. */
static bool go_to_start(struct ec_source *s, double before_s)
{
    AVFormatContext *c = s->input.container;
    const int64_t first = c->start_time == AV_NOPTS_VALUE ? 0 : c->start_time;
    int64_t target = s->clock.shift_us - (int64_t)(before_s * AV_TIME_BASE);
    /* The first decoding time may lie before the first presentation time; not every format knows places there. */
    if (target <= first)
        target = first - AV_TIME_BASE;
    if (avformat_seek_file(c, -1, INT64_MIN, target, target, AVSEEK_FLAG_BACKWARD) < 0 &&
        (target > first || avformat_seek_file(c, -1, INT64_MIN, first, first, AVSEEK_FLAG_BACKWARD) < 0))
        return false;
    avcodec_flush_buffers(s->decoder.codec);
    return true;
}

static bool rewind_input(struct ec_source *s)
{
    if (!ec_clock_next_round(&s->clock))
        return false;
    if (go_to_start(s, s->preroll_s))
        return true;
    ec_log(&s->env.logger, EC_LOG_WARNING, "%s: it cannot be played again: this input cannot be rewound", s->input.name);
    return false;
}

static enum ec_status reading_ended(struct ec_source *s, int r, struct ec_error *error)
{
    char cause[AV_ERROR_MAX_STRING_SIZE];
    if (was_cut_off(s))
        return ec_fail(error, EC_ERROR_FRAMES, "%s: it was cut off; what came before is kept", s->input.name);
    if (r == AVERROR_EOF)
        return EC_OK;
    if (!s->clock.any)
        return ec_input_failed(&s->input, r, error);
    if (av_strstart(s->input.container->iformat->name, "image2", NULL))
        return ec_fail(error, EC_ERROR_INPUT, "%s: there is a gap behind picture %" PRId64 " of the sequence", s->input.name,
                       s->video_packets);
    av_strerror(r, cause, sizeof cause);
    return ec_fail(error, EC_ERROR_INPUT, "%s: reading failed: %s", s->input.name, cause);
}

/* Whether the input ended in the middle of this packet: libavformat says so, or, where JPEGs stand one behind the other, it is
 * the first one without an end. */
static bool is_partial(struct ec_source *s)
{
    const AVPacket *p = s->packet;
    const char *format = s->input.container->iformat->name;
    if (strcmp(format, "mjpeg") != 0 && strcmp(format, "jpeg_pipe") != 0)
        return p->flags & AV_PKT_FLAG_CORRUPT;
    int size = p->size;
    while (size > 2 && !p->data[size - 1])
        size--;
    const bool has_end = size >= 2 && p->data[size - 2] == 0xFF && p->data[size - 1] == 0xD9;
    s->jpegs_end |= has_end;
    return s->jpegs_end && !has_end;
}

/* Behind the last picture; sets s->ended unless the input begins again. */
static enum ec_status finish_reading(struct ec_source *s, int r, struct ec_error *error)
{
    if (r == AVERROR_EOF && s->p->loop && rewind_input(s))
        return EC_OK;
    if (s->p->reconnect && s->clock.any) {
        s->lost = true;
        return EC_OK;
    }
    s->ended = true;
    count_missing(s);
    return reading_ended(s, r, error);
}

/* Reads one packet and what follows from it, or ends when all pictures are through. */
static enum ec_status advance(struct ec_source *s, struct ec_error *error)
{
    if (s->lost) {
        s->ended = !ec_libav_reconnect(s);
        s->lost = false;
        return EC_OK;
    }
    int r = s->end_code;
    if (r < 0) {
        s->end_code = 0;
        return finish_reading(s, r, error);
    }
    ec_input_begin_wait(&s->input);
    r = av_read_frame(s->input.container, s->packet);
    if (r == AVERROR(EAGAIN))
        return EC_OK;
    if (r < 0) {
        s->ended = ec_input_cancelled(&s->input);
        s->end_code = r;
        return s->ended ? EC_OK : flush(s, error);
    }
    ec_clock_close_hole(&s->clock, s->packet, s->input.container->streams[s->packet->stream_index]->time_base);
    s->last_is_partial = is_partial(s);
    enum ec_status status;
    if (s->packet->stream_index == s->input.stream) {
        s->video_packets++;
        s->video_end = s->packet->pos + s->packet->size;
        s->ended = s->clock.past_end &&
                   ec_clock_is_far_past(&s->clock, s->packet, s->info.container->streams[s->input.stream]->time_base);
        status = s->clock.past_end ? EC_OK : decode_packet(s, error);
    } else {
        status = pass_packet(s, error);
    }
    av_packet_unref(s->packet);
    if (s->clock.past_end && !s->packets_wanted)
        s->ended = true;
    return status;
}

void ec_libav_discard_unwanted(struct ec_source *s)
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
}

/* The next step: of the pictures that came already, then of the input. False: nothing more comes, for the reason in
 * s->late_error if it is one. What was decoded before an error comes out first. */
static bool go_on(struct ec_source *s)
{
    bool done = false;
    struct ec_error error = {0};
    if (ec_pictures_go_on(&s->pictures, &done, &error) != EC_OK)
        ec_pictures_restart(&s->pictures);
    else if (done && s->ended)
        return false;
    else if (done)
        advance(s, &error);
    s->ended |= error.status != EC_OK;
    if (s->late_error.status == EC_OK)
        s->late_error = error;
    return true;
}

/* Reads up to the first frame. */
static enum ec_status reach_first_frame(struct ec_source *s, struct ec_error *error)
{
    while (s->info.width_px == 0) {
        if (s->pictures.items.packet_bytes > PENDING_MAX_BYTES)
            return ec_fail(error, EC_ERROR_INPUT,
                           "%s: no video frame in the first %d MiB of the other streams (--no-audio leaves them out)",
                           s->input.name, PENDING_MAX_BYTES >> 20);
        if (go_on(s))
            continue;
        if (ec_input_cancelled(&s->input))
            return ec_fail(error, EC_STOPPED, "%s: stopped", s->input.name);
        if (s->late_error.status != EC_OK)
            return (*error = s->late_error).status;
        return atomic_load(&s->damaged) ? nothing_decoded(s, error)
                                        : ec_fail(error, EC_ERROR_FRAMES, "%s: no frames came", s->input.name);
    }
    return EC_OK;
}

/* True when the first frame stands where the person wanted to begin; streams without an index may seek to a place from where
 * the decoder finds its feet only later. */
static bool begins_in_time(const struct ec_source *s)
{
    return s->pictures.first_pts <= s->clock.default_duration;
}

/* Seeks to --start, and from further in front as long as the first frame comes late. */
static enum ec_status enter_at_start(struct ec_source *s, struct ec_error *error)
{
    s->preroll_s = 0;
    for (;;) {
        if (!go_to_start(s, s->preroll_s))
            return ec_fail(error, EC_ERROR_INPUT, "%s: this input cannot be entered at %g s", s->input.name, s->p->start_s);
        struct ec_error local = {0};
        const enum ec_status status = reach_first_frame(s, &local);
        const bool last = s->preroll_s > s->p->start_s;
        if (last || (status == EC_OK && begins_in_time(s)) || (status != EC_OK && status != EC_ERROR_FRAMES)) {
            *error = local;
            return status;
        }
        ec_pictures_restart(&s->pictures);
        ec_clock_restart(&s->clock);
        s->info.width_px = 0;
        s->late_error = (struct ec_error){0};
        s->ended = false;
        s->end_code = 0;
        s->video_packets = 0;
        atomic_store(&s->damaged, 0);
        s->preroll_s = s->preroll_s > 0 ? 4 * s->preroll_s : 2;
    }
}

static void libav_close(struct ec_source **source)
{
    struct ec_source *s = *source;
    if (!s)
        return;
    ec_pictures_close(&s->pictures);
    av_frame_free(&s->decoded);
    av_packet_free(&s->packet);
    ec_decoder_close(&s->decoder);
    ec_input_close(&s->input);
    free(s->shapes);
    free(s);
    *source = NULL;
}

enum ec_status ec_libav_choose_decoder(struct ec_source *s, struct ec_error *error)
{
    const char *obstacle = NULL;
    if (!s->env.decode_device)
        obstacle = "the frames do not go to a GPU that can decode";
    else if (s->pictures.keep)
        obstacle = "the style needs the whole picture in host memory";
    else if (s->p->prefilter)
        obstacle = "--pre works on frames in host memory";
    else if (s->pictures.colour)
        obstacle = "--channels rgb takes frames from host memory";
    else if (!ec_orientation_is_upright(s->pictures.orientation))
        obstacle = "the picture must be turned, which is done in host memory";
    else if (!ec_decoder_takes_device(s->input.container, s->input.stream, s->env.decode_device))
        obstacle = "FFmpeg here cannot decode this format on a GPU";
    const int spare = ec_decoder_spare_frames(s->input.container, s->input.stream);
    if (!obstacle && s->p->decoder != EC_DECODER_CPU && spare < s->env.least_device_frames) {
        obstacle = "its decoder has too few surfaces for that many frames at once; fewer --lanes would do";
        if (s->p->decoder == EC_DECODER_AUTO)
            ec_log(&s->env.logger, EC_LOG_NOTICE, "%s: the CPU decodes it: the GPU could, but %s", s->input.name, obstacle);
    }
    if (obstacle && s->p->decoder == EC_DECODER_NVDEC)
        return ec_fail(error, EC_ERROR_DEVICE, "%s: the GPU cannot decode it: %s", s->input.name, obstacle);
    s->pictures.on_device = !obstacle && s->p->decoder != EC_DECODER_CPU && !s->device_refused;
    s->info.device_frames = s->pictures.on_device ? FFMIN(s->env.device_frames, spare) : 0;
    const struct ec_decoder_params params = decoder_params(s, s->pictures.on_device ? s->env.decode_device : NULL);
    return ec_decoder_open(&s->decoder, &params, s->input.name, error);
}

/* Whether sound or subtitles go by the times of the pictures. */
static bool has_company(const struct ec_source *s)
{
    const AVFormatContext *c = s->input.container;
    bool found = false;
    for (unsigned i = 0; i < c->nb_streams && !s->p->no_audio; i++)
        found |= c->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO ||
                 c->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE;
    return found;
}

static enum ec_status open_parts(struct ec_source *s, struct ec_error *error)
{
    s->packet = av_packet_alloc();
    s->decoded = av_frame_alloc();
    if (!s->packet || !s->decoded)
        return out_of_memory(s, error);
    enum ec_status status = ec_libav_prepare_reconnect(s, error);
    if (status == EC_OK)
        status = ec_input_open(&s->input, s->p, &s->env, error);
    if (status == EC_OK)
        status = ec_libav_keep_shapes(s, error);
    if (status != EC_OK)
        return status;
    const AVFormatContext *c = s->input.container;
    s->packets_wanted = s->p->output && !s->p->no_audio;
    ec_libav_discard_unwanted(s);
    describe_container(s);
    ec_clock_init(&s->clock, s->info.time_base, s->info.frame_rate, c->start_time == AV_NOPTS_VALUE ? 0 : c->start_time,
                  s->p->start_s, s->p->duration_s);
    s->clock.wraps = c->iformat->flags & AVFMT_TS_DISCONT;
    s->clock.alone = !s->packets_wanted || !has_company(s);
    s->info.shift_us = s->clock.shift_us;
    s->pictures = (struct ec_pictures){
        .name = s->input.name,
        .keep = ec_style_needs_video(s->p->style.style),
        .prefilter_chain = s->p->prefilter,
        .logger = s->env.logger,
        .pool = s->env.pool,
        .stream = c->streams[s->input.stream],
        .info = &s->info,
        .clock = &s->clock,
        .colour = s->p->edge.channels == EC_CHANNELS_RGB,
        .native_depth = s->p->native_depth,
    };
    status = ec_pictures_open(&s->pictures, error);
    if (status == EC_OK)
        status = ec_libav_choose_decoder(s, error);
    if (status != EC_OK)
        return status;
    return s->p->start_s > 0 ? enter_at_start(s, error) : reach_first_frame(s, error);
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
    while (!ec_item_list_take(&s->pictures.items, out)) {
        if (go_on(s))
            continue;
        if (s->late_error.status == EC_OK)
            return EC_READ_END;
        *error = s->late_error;
        return EC_READ_ERROR;
    }
    return EC_READ_ITEM;
}

static int64_t libav_damaged(const struct ec_source *s)
{
    return atomic_load(&s->damaged);
}

static const char *libav_advice(const struct ec_source *s)
{
    if (s->info.live)
        return "The input sets the pace: it is live.";
    if (s->pictures.on_device)
        return "Decoding on the GPU is the slowest part: a video that is cheaper to decode would help.";
    return "Reading and decoding are the slowest part: more cores, or a video that is cheaper to decode, would help.";
}

const struct ec_source_ops ec_source_libav = {.name = "libav",
                                              .open = libav_open,
                                              .info = libav_info,
                                              .read = libav_read,
                                              .damaged = libav_damaged,
                                              .advice = libav_advice,
                                              .close = libav_close};
