#include "source/gray.h"

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <math.h>
#include <string.h>

#define RED_15 9798 /* 0.299 * 2^15, and so on; they sum to 2^15 */
#define GREEN_15 19235
#define BLUE_15 3735

enum AVPixelFormat ec_gray_format(int depth_bits)
{
    switch (depth_bits) {
    case 8:
        return AV_PIX_FMT_GRAY8;
    case 9:
        return AV_PIX_FMT_GRAY9;
    case 10:
        return AV_PIX_FMT_GRAY10;
    case 12:
        return AV_PIX_FMT_GRAY12;
    case 14:
        return AV_PIX_FMT_GRAY14;
    case 16:
        return AV_PIX_FMT_GRAY16;
    default:
        return AV_PIX_FMT_NONE;
    }
}

static bool is_little_endian(void)
{
    const uint16_t probe = 1;
    return *(const uint8_t *)&probe == 1;
}

static bool is_foreign_endian(const AVPixFmtDescriptor *d)
{
    return d->comp[0].depth > 8 && (bool)(d->flags & AV_PIX_FMT_FLAG_BE) == is_little_endian();
}

/* Which byte of a palette's native 0xAARRGGBB is red (0), green (1), blue (2). */
static int palette_byte(int component)
{
    return is_little_endian() ? 2 - component : 1 + component;
}

/* Component 0 lies alone in its plane, one native sample a pixel. */
static bool has_luma_plane(const AVPixFmtDescriptor *d, const AVFrame *in)
{
    const uint64_t not_plain = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_FLOAT;
    const int bytes = d->comp[0].depth > 8 ? 2 : 1;
    return !(d->flags & not_plain) && !is_foreign_endian(d) && d->comp[0].step == bytes && d->comp[0].offset == 0 &&
           d->comp[0].shift == 0 && ec_gray_format(d->comp[0].depth) != AV_PIX_FMT_NONE && in->format != AV_PIX_FMT_XYZ12 &&
           in->linesize[d->comp[0].plane] >= in->width * bytes;
}

static enum AVColorRange range_of(const AVPixFmtDescriptor *d, const AVFrame *in)
{
    if (in->color_range != AVCOL_RANGE_UNSPECIFIED)
        return in->color_range;
    const bool yuv =
        !(d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) && d->nb_components >= 3 && in->format != AV_PIX_FMT_XYZ12;
    return yuv && strncmp(d->name, "yuvj", 4) != 0 ? AVCOL_RANGE_MPEG : AVCOL_RANGE_JPEG;
}

static enum ec_status alloc_plane(struct ec_gray *g, AVFrame *out, int depth_bits, struct ec_error *error)
{
    const size_t pitch = ((size_t)out->width * (depth_bits > 8 ? 2 : 1) + 63) & ~(size_t)63;
    out->format = ec_gray_format(depth_bits);
    /* 64 more bytes: FFmpeg's filters may read a vector beyond the last row. */
    out->buf[0] = ec_pool_get(g->pool, pitch * (size_t)out->height + 64);
    if (!out->buf[0])
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for a picture of %dx%d", out->width, out->height);
    out->data[0] = out->buf[0]->data;
    out->linesize[0] = (int)pitch;
    return EC_OK;
}

/* 8-bit RGB in any order and packing, also planar: component c of pixel x lies at at[c] + x * step[c]. */
static void convert_bytes(AVFrame *out, const AVFrame *in, const AVPixFmtDescriptor *d)
{
    for (int y = 0; y < in->height; y++) {
        const uint8_t *at[3];
        for (int c = 0; c < 3; c++)
            at[c] = in->data[d->comp[c].plane] + (ptrdiff_t)y * in->linesize[d->comp[c].plane] + d->comp[c].offset;
        const ptrdiff_t r = d->comp[0].step, g = d->comp[1].step, b = d->comp[2].step;
        uint8_t *to = out->data[0] + (ptrdiff_t)y * out->linesize[0];
        for (int x = 0; x < in->width; x++)
            to[x] = (uint8_t)((RED_15 * at[0][x * r] + GREEN_15 * at[1][x * g] + BLUE_15 * at[2][x * b] + (1 << 14)) >> 15);
    }
}

static uint32_t widen(uint32_t v, uint32_t max)
{
    return max >= 255 ? v : (v * 255 + max / 2) / max;
}

/* One component of one line as integers; floats from 0 to 1 become 0 to 65535. */
static const uint16_t *read_line(struct ec_gray *g, const AVFrame *in, const AVPixFmtDescriptor *d, int y, int component)
{
    const uint8_t *planes[4] = {in->data[0], in->data[1], in->data[2], in->data[3]};
    uint16_t *to = g->lines + (size_t)component * (size_t)g->lines_px;
    if (d->flags & AV_PIX_FMT_FLAG_PAL) {
        /* libavutil knows one component of a palette's picture: the index. */
        av_read_image_line2(to, planes, in->linesize, d, 0, y, 0, in->width, 0, sizeof *to);
        for (int x = 0; x < in->width; x++)
            to[x] = in->data[1][4 * to[x] + palette_byte(component)];
        return to;
    }
    if (!(d->flags & AV_PIX_FMT_FLAG_FLOAT)) {
        av_read_image_line2(to, planes, in->linesize, d, 0, y, component, in->width, 0, sizeof *to);
        return to;
    }
    float *values = (float *)(void *)(g->lines + 4 * (size_t)g->lines_px);
    av_read_image_line2(values, planes, in->linesize, d, 0, y, component, in->width, 0, sizeof *values);
    for (int x = 0; x < in->width; x++)
        to[x] = values[x] > 0 ? (uint16_t)lrintf(fminf(values[x], 1.0f) * 65535.0f) : 0;
    return to;
}

/* Any format of integers or floats, line by line, through FFmpeg's own description of it. */
static enum ec_status convert_lines(struct ec_gray *g, AVFrame *out, const AVFrame *in, const AVPixFmtDescriptor *d,
                                    struct ec_error *error)
{
    if (g->lines_px < in->width) {
        av_freep(&g->lines);
        g->lines = av_malloc_array((size_t)in->width, 6 * sizeof *g->lines); /* four lines, and one of floats */
        g->lines_px = g->lines ? in->width : 0;
        if (!g->lines)
            return ec_fail(error, EC_ERROR_MEMORY, "out of memory for a line of %d pixels", in->width);
    }
    const bool palette = d->flags & AV_PIX_FMT_FLAG_PAL;
    const bool rgb = palette || (d->flags & AV_PIX_FMT_FLAG_RGB);
    const int components = rgb ? 3 : 1;
    const bool inverted = in->format == AV_PIX_FMT_MONOWHITE;
    uint32_t max[3];
    for (int c = 0; c < components; c++)
        max[c] = palette ? 255 : d->flags & AV_PIX_FMT_FLAG_FLOAT ? 65535 : (1u << d->comp[c].depth) - 1;
    for (int y = 0; y < in->height; y++) {
        const uint16_t *line[3];
        for (int c = 0; c < components; c++)
            line[c] = read_line(g, in, d, y, c);
        uint8_t *row = out->data[0] + (ptrdiff_t)y * out->linesize[0];
        for (int x = 0; x < in->width; x++) {
            uint32_t v = widen(line[0][x], max[0]);
            if (rgb)
                v = (RED_15 * v + GREEN_15 * widen(line[1][x], max[1]) + BLUE_15 * widen(line[2][x], max[2]) + (1u << 14)) >>
                    15;
            if (inverted)
                v = 255 - v;
            if (out->format == AV_PIX_FMT_GRAY8)
                row[x] = (uint8_t)v;
            else
                ((uint16_t *)(void *)row)[x] = (uint16_t)v;
        }
    }
    return EC_OK;
}

static enum ec_status convert(struct ec_gray *g, AVFrame *out, const AVFrame *in, struct ec_error *error);

/* Bayer and other rare formats: libswscale makes 16-bit RGB of them. */
static enum ec_status convert_by_swscale(struct ec_gray *g, AVFrame *out, const AVFrame *in, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    AVFrame *rgb = av_frame_alloc();
    if (rgb) {
        rgb->format = AV_PIX_FMT_RGB48;
        rgb->width = in->width;
        rgb->height = in->height;
    }
    if (!rgb || av_frame_get_buffer(rgb, 0) < 0)
        status = ec_fail(error, EC_ERROR_MEMORY, "out of memory for a picture of %dx%d", in->width, in->height);
    if (status == EC_OK)
        g->scaler = sws_getCachedContext(g->scaler, in->width, in->height, in->format, in->width, in->height, AV_PIX_FMT_RGB48,
                                         SWS_POINT | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, NULL, NULL, NULL);
    if (status == EC_OK && (!g->scaler || sws_scale(g->scaler, (const uint8_t *const *)in->data, in->linesize, 0, in->height,
                                                    rgb->data, rgb->linesize) < 0))
        status = ec_fail(error, EC_ERROR_INPUT, "pictures of the format %s cannot be read", av_get_pix_fmt_name(in->format));
    if (status == EC_OK)
        status = convert(g, out, rgb, error);
    av_frame_free(&rgb);
    return status;
}

static int deepest(const AVPixFmtDescriptor *d)
{
    if (d->flags & AV_PIX_FMT_FLAG_FLOAT)
        return 16;
    int depth = 8;
    for (int c = 0; c < (d->flags & AV_PIX_FMT_FLAG_RGB ? 3 : 1); c++)
        depth = d->comp[c].depth > depth ? d->comp[c].depth : depth;
    return d->flags & AV_PIX_FMT_FLAG_PAL ? 8 : depth;
}

static bool is_byte_rgb(const AVPixFmtDescriptor *d)
{
    if (!(d->flags & AV_PIX_FMT_FLAG_RGB) ||
        (d->flags & (AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_FLOAT)))
        return false;
    for (int c = 0; c < 3; c++)
        if (d->comp[c].depth != 8 || d->comp[c].shift != 0)
            return false;
    return d->nb_components >= 3;
}

static enum ec_status convert(struct ec_gray *g, AVFrame *out, const AVFrame *in, struct ec_error *error)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(in->format);
    const int depth = deepest(d);
    const bool readable = !(d->flags & AV_PIX_FMT_FLAG_BAYER) && in->format != AV_PIX_FMT_XYZ12LE &&
                          in->format != AV_PIX_FMT_XYZ12BE && ec_gray_format(depth) != AV_PIX_FMT_NONE;
    if (!readable)
        return convert_by_swscale(g, out, in, error);
    const enum ec_status status = alloc_plane(g, out, depth, error);
    if (status != EC_OK)
        return status;
    if (is_byte_rgb(d)) {
        convert_bytes(out, in, d);
        return EC_OK;
    }
    return convert_lines(g, out, in, d, error);
}

enum ec_status ec_gray_from(struct ec_gray *g, AVFrame *out, const AVFrame *in, struct ec_error *error)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(in->format);
    if (!d || (d->flags & AV_PIX_FMT_FLAG_HWACCEL))
        return ec_fail(error, EC_ERROR_INPUT, "pictures of the format %s cannot be read", d ? d->name : "?");
    if (av_frame_copy_props(out, in) < 0)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    out->width = in->width;
    out->height = in->height;
    out->color_range = range_of(d, in);
    AVBufferRef *plane = has_luma_plane(d, in) ? av_frame_get_plane_buffer((AVFrame *)(uintptr_t)in, d->comp[0].plane) : NULL;
    if (!plane)
        return convert(g, out, in, error);
    out->format = ec_gray_format(d->comp[0].depth);
    out->data[0] = in->data[d->comp[0].plane];
    out->linesize[0] = in->linesize[d->comp[0].plane];
    out->buf[0] = av_buffer_ref(plane);
    return out->buf[0] ? EC_OK : ec_fail(error, EC_ERROR_MEMORY, "out of memory");
}

void ec_gray_close(struct ec_gray *g)
{
    sws_freeContext(g->scaler);
    av_freep(&g->lines);
    *g = (struct ec_gray){0};
}
