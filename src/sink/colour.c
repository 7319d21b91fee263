#include "sink/colour.h"

#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <stdlib.h>
#include <string.h>

struct ec_colour {
    struct ec_picture_params p;
    int pixel_bytes; /* of the styled picture */
    enum AVPixelFormat from;
    struct SwsContext *scaler; /* NULL: the format is the encoder's own */
    AVFrame *padded; /* NULL: the size is the encoder's own */
};

static AVFrame *make_frame(enum AVPixelFormat format, int width_px, int height_px)
{
    AVFrame *frame = av_frame_alloc();
    if (frame) {
        frame->format = format;
        frame->width = width_px;
        frame->height = height_px;
        if (av_frame_get_buffer(frame, 0) < 0)
            av_frame_free(&frame);
    }
    return frame;
}

static enum ec_status open_scaler(struct ec_colour *c, struct ec_error *error)
{
    const struct ec_picture_params *p = &c->p;
    if (sws_isSupportedOutput(p->format))
        c->scaler = sws_getContext(p->width_px, p->height_px, c->from, p->width_px, p->height_px, p->format,
                                   SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, NULL, NULL, NULL);
    if (!c->scaler)
        return ec_fail(error, EC_ERROR_ARGUMENT, "coloured pictures of %dx%d cannot be turned into the pixel format %s",
                       p->width_px, p->height_px, av_get_pix_fmt_name(p->format));
    const int *matrix = sws_getCoefficients(SWS_CS_ITU709);
    sws_setColorspaceDetails(c->scaler, matrix, 1, matrix, !p->limited_range, 0, 1 << 16, 1 << 16);
    return EC_OK;
}

enum ec_status ec_colour_open(struct ec_colour **out, const struct ec_picture_params *params, bool alpha,
                              struct ec_error *error)
{
    *out = NULL;
    struct ec_colour *c = calloc(1, sizeof *c);
    if (!c)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    enum ec_status status = EC_OK;
    c->p = *params;
    c->pixel_bytes = alpha ? 4 : 3;
    c->from = alpha ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24;
    if (params->format != c->from)
        status = open_scaler(c, error);
    if (status == EC_OK && (params->width_px != params->image_width_px || params->height_px != params->image_height_px)) {
        c->padded = make_frame(c->from, params->width_px, params->height_px);
        if (!c->padded)
            status = ec_fail(error, EC_ERROR_MEMORY, "out of memory for a frame of %dx%d", params->width_px, params->height_px);
    }
    if (status != EC_OK)
        ec_colour_close(&c);
    *out = c;
    return status;
}

/* The picture with its last column and row repeated. */
static int pad(struct ec_colour *c, const AVFrame *look)
{
    const struct ec_picture_params *p = &c->p;
    const int result = av_frame_make_writable(c->padded);
    const size_t n = (size_t)c->pixel_bytes, row = n * (size_t)p->image_width_px;
    for (int y = 0; result >= 0 && y < p->height_px; y++) {
        const int from = y < p->image_height_px ? y : p->image_height_px - 1;
        uint8_t *to = c->padded->data[0] + (ptrdiff_t)y * c->padded->linesize[0];
        memcpy(to, look->data[0] + (ptrdiff_t)from * look->linesize[0], row);
        for (int x = p->image_width_px; x < p->width_px; x++)
            memcpy(to + n * (size_t)x, to + row - n, n);
    }
    return result;
}

enum ec_status ec_colour_make(struct ec_colour *c, const struct ec_frame *frame, AVFrame *out, struct ec_error *error)
{
    const struct ec_picture_params *p = &c->p;
    const AVFrame *look = c->padded ? c->padded : frame->look;
    int result = c->padded ? pad(c, frame->look) : 0;
    if (result >= 0 && !c->scaler)
        result = av_frame_ref(out, look);
    if (result >= 0 && c->scaler) {
        out->format = p->format;
        out->width = p->width_px;
        out->height = p->height_px;
        result = ec_picture_scale(c->scaler, look, out);
    }
    if (result >= 0)
        return EC_OK;
    av_frame_unref(out);
    return ec_fail(error, EC_ERROR_MEMORY, "cannot make a frame of %dx%d for the encoder: %s", p->width_px, p->height_px,
                   av_err2str(result));
}

void ec_colour_close(struct ec_colour **colour)
{
    struct ec_colour *c = *colour;
    if (!c)
        return;
    sws_freeContext(c->scaler);
    av_frame_free(&c->padded);
    free(c);
    *colour = NULL;
}
