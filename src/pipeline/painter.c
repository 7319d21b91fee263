#include "pipeline/painter.h"

#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <limits.h>
#include <stdlib.h>

#include "pipeline/paint.h"

struct ec_painter {
    struct ec_style_params style;
    const char *name;
    int width_px, height_px;
    struct ec_paint *paint;
    struct SwsContext *scaler;
    AVFrame *video; /* RGB24 */
    AVBufferPool *pool;
    int pitch_bytes;
};

enum ec_status ec_painter_open(struct ec_painter **out, const struct ec_style_params *params, int width_px, int height_px,
                               const char *name, struct ec_error *error)
{
    struct ec_painter *p = calloc(1, sizeof *p);
    *out = p;
    if (p) {
        const int bytes = ec_style_has_alpha(params->style) ? 4 : 3;
        const int64_t pitch = ((int64_t)width_px * bytes + 63) & ~INT64_C(63);
        p->style = *params;
        p->name = name;
        p->width_px = width_px;
        p->height_px = height_px;
        p->pitch_bytes = (int)pitch;
        p->pool = pitch * height_px < INT_MAX ? av_buffer_pool_init((size_t)pitch * (size_t)height_px, NULL) : NULL;
        p->video = av_frame_alloc();
    }
    if (p && p->pool && p->video && ec_paint_open(&p->paint, params, width_px, error) == EC_OK)
        return EC_OK;
    ec_painter_close(out);
    return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory for coloured pictures of %dx%d", name, width_px, height_px);
}

void ec_painter_close(struct ec_painter **painter)
{
    struct ec_painter *p = *painter;
    if (!p)
        return;
    ec_paint_close(&p->paint);
    sws_freeContext(p->scaler);
    av_frame_free(&p->video);
    av_buffer_pool_uninit(&p->pool);
    free(p);
    *painter = NULL;
}

static bool is_full_range(const AVFrame *picture)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(picture->format);
    const bool yuv = !(d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) && d->nb_components >= 3;
    return picture->color_range != AVCOL_RANGE_UNSPECIFIED ? picture->color_range == AVCOL_RANGE_JPEG : !yuv;
}

/* The video's picture in p->video. */
static enum ec_status read_video(struct ec_painter *p, const AVFrame *picture, struct ec_error *error)
{
    AVFrame *to = p->video;
    if (!to->buf[0]) {
        to->format = AV_PIX_FMT_RGB24;
        to->width = p->width_px;
        to->height = p->height_px;
        if (av_frame_get_buffer(to, 0) < 0)
            return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory for a picture of %dx%d", p->name, p->width_px,
                           p->height_px);
    }
    if (sws_isSupportedInput(picture->format))
        p->scaler =
            sws_getCachedContext(p->scaler, picture->width, picture->height, picture->format, p->width_px, p->height_px,
                                 AV_PIX_FMT_RGB24, SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, NULL, NULL, NULL);
    else
        p->scaler = NULL;
    if (p->scaler) {
        const int *matrix = sws_getCoefficients((int)picture->colorspace);
        sws_setColorspaceDetails(p->scaler, matrix, is_full_range(picture), matrix, 1, 0, 1 << 16, 1 << 16);
    }
    if (!p->scaler || sws_scale(p->scaler, (const uint8_t *const *)picture->data, picture->linesize, 0, picture->height,
                                to->data, to->linesize) < 0)
        return ec_fail(error, EC_ERROR_INPUT, "%s: pictures of the format %s cannot be shown in colour", p->name,
                       av_get_pix_fmt_name(picture->format));
    return EC_OK;
}

enum ec_status ec_painter_paint(struct ec_painter *p, const struct ec_frame *frame, AVFrame *out, struct ec_error *error)
{
    struct ec_canvas canvas = {.width_px = p->width_px,
                               .height_px = p->height_px,
                               .result = frame->image.data,
                               .result_pitch = frame->image.pitch_bytes};
    if (ec_style_needs_video(p->style.style)) {
        const enum ec_status status = read_video(p, frame->picture, error);
        if (status != EC_OK)
            return status;
        canvas.video = p->video->data[0];
        canvas.video_pitch = p->video->linesize[0];
    }
    out->buf[0] = av_buffer_pool_get(p->pool);
    if (!out->buf[0])
        return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory for a picture of %dx%d", p->name, p->width_px, p->height_px);
    out->format = ec_style_has_alpha(p->style.style) ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24;
    out->width = p->width_px;
    out->height = p->height_px;
    out->data[0] = out->buf[0]->data;
    out->linesize[0] = p->pitch_bytes;
    for (int y = 0; y < p->height_px; y++)
        ec_paint_row(p->paint, &canvas, y, out->data[0] + (ptrdiff_t)y * p->pitch_bytes);
    return EC_OK;
}
