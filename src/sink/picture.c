#include "sink/picture.h"

#include <libavcodec/avcodec.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* How the plane that carries the luma is stored: value << shift in `bytes` bytes. */
struct luma {
    int depth_bits, shift, bytes;
};

struct ec_picture {
    struct ec_picture_params p;
    enum AVPixelFormat plane_format; /* p.format, or the gray format that swscale turns into it */
    struct luma luma;
    bool direct; /* the image is the luma plane as it stands */
    AVBufferRef *chroma; /* one plane of neutral chroma */
    int chroma_pitch_bytes[AV_NUM_DATA_POINTERS];
    AVBufferPool *planes; /* luma planes when not direct */
    int pitch_bytes;
    struct SwsContext *scaler;
};

/* True when the format is a luma plane of its own, with nothing else than chroma beside it. */
static bool read_luma(struct luma *luma, enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    const AVPixFmtDescriptor *native = av_pix_fmt_desc_get(AV_PIX_FMT_GRAY16);
    const uint64_t other = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_ALPHA |
                           AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER;
    if (!d || d->flags & other || d->comp[0].plane != 0 || d->comp[0].offset != 0 || d->comp[0].depth < 8)
        return false;
    const int bytes = d->comp[0].depth + d->comp[0].shift > 8 ? 2 : 1;
    if (d->comp[0].step != bytes || (bytes == 2 && (d->flags ^ native->flags) & AV_PIX_FMT_FLAG_BE))
        return false;
    for (int i = 1; i < d->nb_components; i++) {
        if (d->comp[i].plane == 0 || d->comp[i].depth != d->comp[0].depth || d->comp[i].shift != d->comp[0].shift)
            return false;
    }
    *luma = (struct luma){d->comp[0].depth, d->comp[0].shift, bytes};
    return true;
}

static enum ec_status open_scaler(struct ec_picture *picture, struct ec_error *error)
{
    const struct ec_picture_params *p = &picture->p;
    picture->plane_format = p->depth_bits > 8 ? AV_PIX_FMT_GRAY16 : AV_PIX_FMT_GRAY8;
    if (sws_isSupportedOutput(p->format))
        picture->scaler = sws_getContext(p->width_px, p->height_px, picture->plane_format, p->width_px, p->height_px, p->format,
                                         SWS_POINT | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, NULL, NULL, NULL);
    if (!picture->scaler || !read_luma(&picture->luma, picture->plane_format))
        return ec_fail(error, EC_ERROR_ARGUMENT, "gray pictures of %dx%d cannot be turned into the pixel format %s",
                       p->width_px, p->height_px, av_get_pix_fmt_name(p->format));
    const int *matrix = sws_getCoefficients(SWS_CS_ITU709);
    sws_setColorspaceDetails(picture->scaler, matrix, 1, matrix, !p->limited_range, 0, 1 << 16, 1 << 16);
    return EC_OK;
}

/* One buffer serves every chroma plane: all are neutral. */
static enum ec_status open_chroma(struct ec_picture *picture, struct ec_error *error)
{
    const struct ec_picture_params *p = &picture->p;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(picture->plane_format);
    const int planes = av_pix_fmt_count_planes(picture->plane_format);
    if (planes < 2)
        return EC_OK;
    int widest = 0;
    for (int i = 1; i < planes; i++) {
        const int row = av_image_get_linesize(picture->plane_format, p->width_px, i);
        picture->chroma_pitch_bytes[i] = FFALIGN(row, 64);
        widest = FFMAX(widest, picture->chroma_pitch_bytes[i]);
    }
    const size_t bytes = (size_t)widest * (size_t)AV_CEIL_RSHIFT(p->height_px, d->log2_chroma_h) + AV_INPUT_BUFFER_PADDING_SIZE;
    picture->chroma = bytes < INT_MAX ? av_buffer_alloc(bytes) : NULL;
    if (!picture->chroma)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for a frame of %dx%d", p->width_px, p->height_px);
    const unsigned neutral = 1u << (picture->luma.depth_bits - 1 + picture->luma.shift);
    if (picture->luma.bytes == 1) {
        memset(picture->chroma->data, (int)neutral, bytes);
    } else {
        uint16_t *values = (void *)picture->chroma->data;
        for (size_t i = 0; i < bytes / 2; i++)
            values[i] = (uint16_t)neutral;
    }
    return EC_OK;
}

/* swscale squeezes by itself. */
static bool squeezes(const struct ec_picture *picture)
{
    return picture->p.limited_range && !picture->scaler;
}

enum ec_status ec_picture_open(struct ec_picture **out, const struct ec_picture_params *params, struct ec_error *error)
{
    *out = NULL;
    struct ec_picture *picture = calloc(1, sizeof *picture);
    if (!picture)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    picture->p = *params;
    picture->plane_format = params->format;
    enum ec_status status = EC_OK;
    if (!read_luma(&picture->luma, params->format))
        status = open_scaler(picture, error);
    if (status == EC_OK)
        status = open_chroma(picture, error);
    if (status != EC_OK)
        goto fail;
    picture->direct = params->width_px == params->image_width_px && params->height_px == params->image_height_px &&
                      picture->luma.depth_bits == params->depth_bits && picture->luma.shift == 0 && !squeezes(picture);
    picture->pitch_bytes = FFALIGN(params->width_px * picture->luma.bytes, 64);
    const size_t bytes = (size_t)picture->pitch_bytes * (size_t)params->height_px + AV_INPUT_BUFFER_PADDING_SIZE;
    picture->planes = bytes < INT_MAX ? av_buffer_pool_init(bytes, NULL) : NULL;
    if (!picture->planes) {
        status = ec_fail(error, EC_ERROR_MEMORY, "out of memory for a frame of %dx%d", params->width_px, params->height_px);
        goto fail;
    }
    *out = picture;
    return EC_OK;
fail:
    ec_picture_close(&picture);
    return status;
}

/* v of d bits in the limited range of D bits, rounded. */
static unsigned squeeze(unsigned v, int d, int D)
{
    const uint64_t max = (1u << d) - 1, span = 219ull << (D - 8);
    return (16u << (D - 8)) + (unsigned)((v * span + max / 2) / max);
}

/* v of d bits in D bits. Deeper: the top bits repeat below, so that 0 and the maximum stay themselves; shallower: rounded. */
static unsigned change_depth(unsigned v, int d, int D)
{
    if (D >= d)
        return D > 2 * d ? v << (D - d) : (v << (D - d)) | (v >> (2 * d - D));
    const unsigned rounded = (v + (1u << (d - D - 1))) >> (d - D), max = (1u << D) - 1;
    return rounded < max ? rounded : max;
}

/* A pixel of the image as the luma plane stores it. */
static unsigned stored(const struct ec_picture *picture, unsigned v)
{
    const int d = picture->p.depth_bits, D = picture->luma.depth_bits;
    return (squeezes(picture) ? squeeze(v, d, D) : change_depth(v, d, D)) << picture->luma.shift;
}

static void copy_row(const struct ec_picture *picture, uint8_t *to, const uint8_t *from)
{
    const struct ec_picture_params *p = &picture->p;
    const struct luma *luma = &picture->luma;
    const int n = p->image_width_px, d = p->depth_bits;
    const uint16_t *from16 = (const void *)from;
    uint16_t *to16 = (void *)to;
    if (luma->depth_bits == d && luma->shift == 0 && !squeezes(picture))
        memcpy(to, from, (size_t)n * (size_t)luma->bytes);
    else if (luma->bytes == 1)
        for (int x = 0; x < n; x++)
            to[x] = (uint8_t)stored(picture, d > 8 ? from16[x] : from[x]);
    else
        for (int x = 0; x < n; x++)
            to16[x] = (uint16_t)stored(picture, d > 8 ? from16[x] : from[x]);
    for (int x = n; x < p->width_px; x++) {
        if (luma->bytes == 1)
            to[x] = to[n - 1];
        else
            to16[x] = to16[n - 1];
    }
}

static AVBufferRef *copy_plane(struct ec_picture *picture, const struct ec_image *image)
{
    AVBufferRef *plane = av_buffer_pool_get(picture->planes);
    if (!plane)
        return NULL;
    const uint8_t *from = image->data;
    uint8_t *to = plane->data;
    for (int y = 0; y < picture->p.image_height_px; y++, from += image->pitch_bytes, to += picture->pitch_bytes)
        copy_row(picture, to, from);
    for (int y = picture->p.image_height_px; y < picture->p.height_px; y++, to += picture->pitch_bytes)
        memcpy(to, to - picture->pitch_bytes, (size_t)picture->pitch_bytes);
    return plane;
}

int ec_picture_scale(struct SwsContext *scaler, const AVFrame *from, AVFrame *out)
{
    const int result = av_frame_get_buffer(out, 0);
    return result < 0 ? result
                      : sws_scale(scaler, (const uint8_t *const *)from->data, from->linesize, 0, from->height, out->data,
                                  out->linesize);
}

static int scale(const struct ec_picture *picture, AVFrame *frame)
{
    AVFrame *scaled = av_frame_alloc();
    if (!scaled)
        return AVERROR(ENOMEM);
    scaled->format = picture->p.format;
    scaled->width = picture->p.width_px;
    scaled->height = picture->p.height_px;
    const int result = ec_picture_scale(picture->scaler, frame, scaled);
    if (result >= 0) {
        av_frame_unref(frame);
        av_frame_move_ref(frame, scaled);
    }
    av_frame_free(&scaled);
    return result;
}

enum ec_status ec_picture_make(struct ec_picture *picture, const struct ec_frame *frame, AVFrame *out, struct ec_error *error)
{
    const struct ec_picture_params *p = &picture->p;
    const bool direct = picture->direct && frame->owner && frame->image.pitch_bytes <= INT_MAX;
    int result = AVERROR(ENOMEM);
    out->format = picture->plane_format;
    out->width = p->width_px;
    out->height = p->height_px;
    out->buf[0] = direct ? av_buffer_ref(frame->owner) : copy_plane(picture, &frame->image);
    if (!out->buf[0])
        goto fail;
    out->data[0] = direct ? frame->image.data : out->buf[0]->data;
    out->linesize[0] = direct ? (int)frame->image.pitch_bytes : picture->pitch_bytes;
    if (picture->chroma) {
        out->buf[1] = av_buffer_ref(picture->chroma);
        if (!out->buf[1])
            goto fail;
        for (int i = 1; i < av_pix_fmt_count_planes(picture->plane_format); i++) {
            out->data[i] = picture->chroma->data;
            out->linesize[i] = picture->chroma_pitch_bytes[i];
        }
    }
    if (picture->scaler) {
        result = scale(picture, out);
        if (result < 0)
            goto fail;
    }
    return EC_OK;
fail:
    av_frame_unref(out);
    return ec_fail(error, EC_ERROR_MEMORY, "cannot make a frame of %dx%d for the encoder: %s", p->width_px, p->height_px,
                   av_err2str(result));
}

void ec_picture_close(struct ec_picture **picture)
{
    struct ec_picture *p = *picture;
    if (!p)
        return;
    sws_freeContext(p->scaler);
    av_buffer_pool_uninit(&p->planes);
    av_buffer_unref(&p->chroma);
    free(p);
    *picture = NULL;
}
