#include "source/pictures.h"

#include <stdio.h>

#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "source/compat.h"
#include "source/decoder.h"

static enum ec_status out_of_memory(const struct ec_pictures *s, struct ec_error *error)
{
    return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", s->name);
}

/* A shape of pixels that no container can say, or no screen show, is as good as unknown. */
static AVRational known_aspect(AVRational aspect, int width_px)
{
    const double shown_px = aspect.num > 0 && aspect.den > 0 ? width_px * av_q2d(aspect) : 0;
    return shown_px >= 1 && shown_px <= 65535 ? aspect : (AVRational){0, 1};
}

/* The first frame tells what all of them will be. */
static void describe_frames(struct ec_pictures *s, const struct ec_frame *frame, const AVFrame *picture)
{
    const struct ec_image *image = &frame->image;
    s->first_pts = frame->pts;
    s->info->width_px = image->width_px;
    s->info->height_px = image->height_px;
    s->info->depth_bits = image->depth_bits;
    s->info->pixel_aspect = known_aspect(picture->sample_aspect_ratio, image->width_px);
    s->info->primaries = picture->color_primaries;
    s->info->transfer = picture->color_trc;
}

/* The frame's place on the time axis; false: it is not wanted. */
static bool stamp(struct ec_pictures *s, const AVFrame *picture, struct ec_frame *frame)
{
    const bool wanted = ec_clock_stamp(s->clock, picture->pts, ec_frame_duration(picture), &frame->pts, &frame->duration);
    if (s->clock->holes > 0 && !s->told_hole && !s->clock->wraps) {
        ec_log(&s->logger, EC_LOG_NOTICE, "%s: there is more than an hour without a picture in it, which is left out", s->name);
        s->told_hole = true;
    }
    return wanted;
}

/* Takes over frame->owner. `picture` is what it was made of. */
static enum ec_status append_frame(struct ec_pictures *s, struct ec_frame *frame, const AVFrame *picture,
                                   struct ec_error *error)
{
    const struct ec_item item = {.kind = EC_ITEM_FRAME, .frame = *frame};
    const enum ec_status status = ec_item_list_append(&s->items, &item) ? EC_OK : out_of_memory(s, error);
    if (status != EC_OK) {
        av_buffer_unref(&frame->owner);
        av_frame_free(&frame->picture);
    } else if (s->info->width_px == 0) {
        describe_frames(s, frame, picture);
    }
    return status;
}

/* Planes of a finished picture in the order of a frame's. */
static int plane_index(const AVFrame *picture, int channel)
{
    static const int planar_rgb[3] = {2, 0, 1};
    return picture->data[1] ? planar_rgb[channel] : 0;
}

/* The pool's memory for a finished picture, and the picture in it. */
static enum ec_status copy_planes(struct ec_pictures *s, struct ec_frame *frame, const AVFrame *picture, struct ec_error *error)
{
    const int channels = picture->data[1] ? 3 : 1, row = picture->width * (frame->image.depth_bits > 8 ? 2 : 1);
    const size_t pitch = ((size_t)row + 63) & ~(size_t)63, plane = pitch * (size_t)picture->height;
    frame->owner = ec_pool_get(s->pool, plane * (size_t)channels + 64);
    if (!frame->owner)
        return out_of_memory(s, error);
    frame->image.data = frame->owner->data;
    frame->image.pitch_bytes = (ptrdiff_t)pitch;
    frame->image.plane_bytes = channels > 1 ? (ptrdiff_t)plane : 0;
    for (int c = 0; c < channels; c++) {
        const int p = plane_index(picture, c);
        av_image_copy_plane(frame->owner->data + (size_t)c * plane, (int)pitch, picture->data[p], picture->linesize[p], row,
                            picture->height);
    }
    return EC_OK;
}

/* The finished picture, gray or planar RGB, becomes a frame: in the pool's memory, with its place on the time axis. */
static enum ec_status emit(struct ec_pictures *s, AVFrame *picture, bool pooled, struct ec_error *error)
{
    const int depth = av_pix_fmt_desc_get(picture->format)->comp[0].depth, first = plane_index(picture, 0);
    struct ec_frame frame = {
        .image = {.data = picture->data[first],
                  .width_px = picture->width,
                  .height_px = picture->height,
                  .pitch_bytes = picture->linesize[first],
                  .depth_bits = depth,
                  .plane_bytes = first ? picture->data[plane_index(picture, 1)] - picture->data[first] : 0},
        .limited_range = picture->color_range == AVCOL_RANGE_MPEG,
        .decoded_ns = ec_now_ns(),
    };
    if (!stamp(s, picture, &frame))
        return EC_OK;
    enum ec_status status = EC_OK;
    if (!pooled)
        status = copy_planes(s, &frame, picture, error);
    else if (!(frame.owner = av_buffer_ref(picture->buf[0])))
        status = out_of_memory(s, error);
    if (status == EC_OK && s->keep && !(frame.picture = av_frame_clone(s->kept))) {
        av_buffer_unref(&frame.owner);
        status = out_of_memory(s, error);
    }
    return status == EC_OK ? append_frame(s, &frame, picture, error) : status;
}

static enum ec_status fetch_from_device(struct ec_pictures *s, AVFrame *picture, struct ec_error *error);

static void release_picture(void *opaque, uint8_t *data)
{
    (void)opaque;
    AVFrame *picture = (AVFrame *)(void *)data;
    av_frame_free(&picture);
}

/* A picture that the GPU decoded: its luma plane is used where it lies, and the picture kept until the frame is done. */
static enum ec_status emit_from_device(struct ec_pictures *s, AVFrame *picture, struct ec_error *error)
{
    const AVHWFramesContext *frames = (const AVHWFramesContext *)(void *)picture->hw_frames_ctx->data;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(frames->sw_format);
    const int depth = d->comp[0].depth, bytes = depth > 8 ? 2 : 1;
    struct ec_frame frame = {
        .image = {.data = picture->data[0] + (ptrdiff_t)picture->crop_top * picture->linesize[0] +
                          (ptrdiff_t)picture->crop_left * bytes,
                  .width_px = picture->width - (int)picture->crop_left,
                  .height_px = picture->height - (int)picture->crop_top,
                  .pitch_bytes = picture->linesize[0],
                  .depth_bits = depth,
                  .memory = d->comp[0].shift > 0 ? EC_MEMORY_DEVICE_HIGH : EC_MEMORY_DEVICE},
        .limited_range = picture->color_range != AVCOL_RANGE_JPEG,
        .decoded_ns = ec_now_ns(),
    };
    if (s->info->width_px > 0 && (frame.image.width_px != s->info->width_px || frame.image.height_px != s->info->height_px ||
                                  depth != s->info->depth_bits))
        return fetch_from_device(s, picture, error);
    if (!stamp(s, picture, &frame))
        return EC_OK;
    AVFrame *kept = av_frame_clone(picture);
    frame.owner = kept ? av_buffer_create((uint8_t *)kept, sizeof *kept, release_picture, NULL, 0) : NULL;
    if (!frame.owner) {
        av_frame_free(&kept);
        return out_of_memory(s, error);
    }
    return append_frame(s, &frame, picture, error);
}

/* Of every finished picture, once the first one is known. */
static enum AVPixelFormat finished_format(const struct ec_pictures *s)
{
    return s->colour ? ec_rgb_format(s->info->depth_bits) : ec_gray_format(s->info->depth_bits);
}

/* The chain behind the finished planes: turns them, and scales what differs from the first frame. */
static enum ec_status prepare_finish(struct ec_pictures *s, const AVFrame *planes, struct ec_orientation o, bool *needed,
                                     struct ec_error *error)
{
    const int width = o.transpose ? planes->height : planes->width;
    const int height = o.transpose ? planes->width : planes->height;
    const bool known = s->info->width_px > 0;
    const bool scale =
        known && (width != s->info->width_px || height != s->info->height_px || planes->format != finished_format(s));
    *needed = scale || !ec_orientation_is_upright(o);
    if (!*needed || (s->finish && ec_orientation_equal(o, s->finish_orientation) && scale == s->finish_scales))
        return EC_OK;
    ec_filter_close(&s->finish);
    s->finish_orientation = o;
    s->finish_scales = scale;
    char scaler[128] = "";
    if (scale) {
        snprintf(scaler, sizeof scaler, ",scale=%d:%d:flags=bicubic,format=%s", s->info->width_px, s->info->height_px,
                 av_get_pix_fmt_name(finished_format(s)));
        if (!s->told_scaled)
            ec_log(&s->logger, EC_LOG_NOTICE,
                   "%s: the picture changes to %dx%d on the way; it is scaled to the first size, %dx%d", s->name, width, height,
                   s->info->width_px, s->info->height_px);
        s->told_scaled = true;
    }
    char chain[192];
    snprintf(chain, sizeof chain, "%s%s", ec_orientation_chain(o), scaler);
    return ec_filter_open(&s->finish, chain, chain, s->info->time_base, s->info->frame_rate, error);
}

/* Takes the picture. In colour it is upright and RGB by now. */
static enum ec_status take_picture(struct ec_pictures *s, AVFrame *picture, struct ec_orientation o, struct ec_error *error)
{
    bool pooled = ec_decoder_frame_is_pooled(picture), filter = false;
    const uint8_t *plane = picture->data[0];
    enum ec_status status =
        s->colour ? ec_rgb_split(s->pool, s->planes, picture, error) : ec_gray_from(&s->converter, s->planes, picture, error);
    if (s->keep) {
        av_frame_unref(s->kept);
        av_frame_move_ref(s->kept, picture);
    }
    av_frame_unref(picture);
    if (status == EC_OK) {
        /* Planes that are not the picture's own were made by the converter, in the pool. */
        pooled = (pooled || s->planes->data[0] != plane) && s->planes->linesize[0] > 0;
        status = prepare_finish(s, s->planes, o, &filter, error);
    }
    if (status == EC_OK && !filter)
        status = emit(s, s->planes, pooled, error);
    if (status == EC_OK && filter)
        status = ec_filter_push(s->finish, s->planes, error);
    while (status == EC_OK && filter && ec_filter_pull(s->finish, s->filtered) > 0) {
        status = emit(s, s->filtered, false, error);
        av_frame_unref(s->filtered);
    }
    av_frame_unref(s->planes);
    return status;
}

/* What came out of the prefilter, whose own clock counts from its first picture on. */
static enum ec_status take_prefiltered(struct ec_pictures *s, AVFrame *picture, struct ec_error *error)
{
    const AVRational own = ec_filter_time_base(s->prefilter);
    if (s->info->width_px == 0) {
        s->info->time_base = own;
        s->info->frame_rate = ec_filter_frame_rate(s->prefilter);
        ec_clock_change_base(s->clock, own, s->info->frame_rate);
    }
    /* Filters that change the clock leave the durations in the old one, in releases before 6.0 at least. */
    if (av_cmp_q(own, s->stream->time_base) != 0)
        ec_frame_forget_duration(picture);
    if (picture->pts != AV_NOPTS_VALUE)
        picture->pts = av_rescale_q(picture->pts, own, s->info->time_base);
    picture->opaque = NULL;
    return take_picture(s, picture, (struct ec_orientation){0}, error);
}

static enum ec_status open_prefilter(struct ec_pictures *s, const AVFrame *picture, struct ec_orientation o,
                                     struct ec_error *error)
{
    const char *wished = s->prefilter_chain ? s->prefilter_chain : "";
    char *chain = av_asprintf("%s%s%s%s%s", ec_orientation_chain(o), *wished ? "," : "", wished, s->colour ? "," : "",
                              s->colour ? ec_rgb_chain(picture->format, s->native_depth) : "");
    const enum ec_status status =
        chain ? ec_filter_open(&s->prefilter, chain, *wished ? wished : chain, s->stream->time_base, s->info->frame_rate, error)
              : out_of_memory(s, error);
    s->prefilter_orientation = o;
    av_free(chain);
    return status;
}

static enum ec_status push_prefilter(struct ec_pictures *s, AVFrame *picture, struct ec_error *error)
{
    const struct ec_orientation o = ec_orientation_of_frame(picture, s->orientation);
    const enum ec_status status = s->prefilter ? EC_OK : open_prefilter(s, picture, o, error);
    return status == EC_OK ? ec_filter_push(s->prefilter, picture, error) : status;
}

static void take_waiting(struct ec_pictures *s)
{
    struct ec_item item = {0};
    if (!s->next && ec_item_list_take(&s->waiting, &item))
        s->next = item.frame.picture;
}

/* True when the prefilter has to give what it holds before it goes on: at the end, or for a picture that lies otherwise. */
static bool prefilter_ends(const struct ec_pictures *s)
{
    return s->prefilter &&
           (s->next ? !ec_orientation_equal(ec_orientation_of_frame(s->next, s->orientation), s->prefilter_orientation)
                    : s->ending);
}

enum ec_status ec_pictures_go_on(struct ec_pictures *s, bool *done, struct ec_error *error)
{
    *done = s->clock->past_end;
    if (*done)
        return EC_OK;
    if (s->prefilter && ec_filter_pull(s->prefilter, s->prefiltered) > 0) {
        const enum ec_status status = take_prefiltered(s, s->prefiltered, error);
        av_frame_unref(s->prefiltered);
        return status;
    }
    take_waiting(s);
    if (prefilter_ends(s) && !s->told_end) {
        s->told_end = true;
        return ec_filter_push(s->prefilter, NULL, error);
    }
    if (s->told_end)
        ec_filter_close(&s->prefilter);
    s->told_end = false;
    *done = !s->next;
    s->ending = s->ending && s->next;
    const enum ec_status status = s->next ? push_prefilter(s, s->next, error) : EC_OK;
    av_frame_free(&s->next);
    return status;
}

/* Bare streams have no times, without which some filters drop everything. */
static void give_time(struct ec_pictures *s, AVFrame *picture)
{
    const AVRational rate = s->info->frame_rate;
    int64_t duration = ec_frame_duration(picture);
    if (duration <= 0 && rate.num > 0 && rate.den > 0)
        duration = av_rescale_q(1, av_inv_q(rate), s->stream->time_base);
    if (picture->pts == AV_NOPTS_VALUE)
        picture->pts = s->added_end;
    s->added_end = av_sat_add64(picture->pts, FFMAX(duration, 1));
}

static enum ec_status wait_for_prefilter(struct ec_pictures *s, AVFrame *picture, struct ec_error *error)
{
    give_time(s, picture);
    struct ec_item item = {.kind = EC_ITEM_FRAME, .frame = {.picture = av_frame_alloc()}};
    if (item.frame.picture) {
        av_frame_move_ref(item.frame.picture, picture);
        if (ec_item_list_append(&s->waiting, &item))
            return EC_OK;
        av_frame_free(&item.frame.picture);
    }
    return out_of_memory(s, error);
}

static void tell_about(struct ec_pictures *s, const AVFrame *frame, struct ec_orientation o)
{
    if (!s->told_interlaced && ec_frame_interlaced(frame) && !s->prefilter_chain) {
        ec_log(&s->logger, EC_LOG_NOTICE, "%s: the video is interlaced, its combs will show as edges; --pre yadif removes them",
               s->name);
        s->told_interlaced = true;
    }
    if (!s->told_oblique && o.oblique) {
        ec_log(&s->logger, EC_LOG_NOTICE,
               "%s: the file asks for a turn by an angle that is no multiple of 90 degrees; that part is left out", s->name);
        s->told_oblique = true;
    }
}

static void tell_fallback(struct ec_pictures *s)
{
    ec_log(&s->logger, EC_LOG_NOTICE, "%s: the GPU does not decode this kind of stream; the CPU decodes it", s->name);
    s->on_device = false;
}

/* A picture of the GPU that must be turned or scaled takes the way through host memory. */
static enum ec_status fetch_from_device(struct ec_pictures *s, AVFrame *picture, struct ec_error *error)
{
    AVFrame *host = av_frame_alloc();
    enum ec_status status = EC_OK;
    if (!host || av_hwframe_transfer_data(host, picture, 0) < 0 || av_frame_copy_props(host, picture) < 0)
        status = ec_fail(error, EC_ERROR_DEVICE, "%s: a frame could not be fetched from the GPU", s->name);
    if (host && status == EC_OK)
        status = take_picture(s, host, ec_orientation_of_frame(host, s->orientation), error);
    av_frame_free(&host);
    return status;
}

enum ec_status ec_pictures_add(struct ec_pictures *s, AVFrame *frame, struct ec_error *error)
{
    const struct ec_orientation o = ec_orientation_of_frame(frame, s->orientation);
    tell_about(s, frame, o);
    frame->pts = frame->best_effort_timestamp;
    frame->sample_aspect_ratio = av_guess_sample_aspect_ratio(NULL, s->stream, frame);
    if (frame->hw_frames_ctx)
        return ec_orientation_is_upright(o) ? emit_from_device(s, frame, error) : fetch_from_device(s, frame, error);
    if (s->on_device)
        tell_fallback(s);
    if (s->prefilter_chain || s->colour || s->prefilter || s->waiting.first || (s->keep && !ec_orientation_is_upright(o)))
        return wait_for_prefilter(s, frame, error);
    return take_picture(s, frame, o, error);
}

enum ec_status ec_pictures_open(struct ec_pictures *s, struct ec_error *error)
{
    s->planes = av_frame_alloc();
    s->filtered = av_frame_alloc();
    s->kept = av_frame_alloc();
    s->prefiltered = av_frame_alloc();
    s->converter.pool = s->pool;
    s->orientation = ec_orientation_from_matrix(ec_stream_display_matrix(s->stream));
    return s->planes && s->filtered && s->kept && s->prefiltered ? EC_OK : out_of_memory(s, error);
}

void ec_pictures_end(struct ec_pictures *s)
{
    s->ending = true;
    s->added_end = 0;
}

void ec_pictures_restart(struct ec_pictures *s)
{
    ec_filter_close(&s->prefilter);
    ec_item_list_clear(&s->items);
    ec_item_list_clear(&s->waiting);
    av_frame_free(&s->next);
    s->ending = s->told_end = false;
    s->added_end = 0;
}

void ec_pictures_close(struct ec_pictures *s)
{
    ec_pictures_restart(s);
    ec_filter_close(&s->finish);
    ec_gray_close(&s->converter);
    av_frame_free(&s->planes);
    av_frame_free(&s->filtered);
    av_frame_free(&s->kept);
    av_frame_free(&s->prefiltered);
}
