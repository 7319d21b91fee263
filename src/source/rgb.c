#include "source/rgb.h"

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

static const struct {
    int depth_bits;
    enum AVPixelFormat planar;
    const char *chain;
} depths[] = {
    {8, AV_PIX_FMT_GBRP, "scale=flags=bicubic,format=rgb24"},     {9, AV_PIX_FMT_GBRP9, "scale=flags=bicubic,format=gbrp9"},
    {10, AV_PIX_FMT_GBRP10, "scale=flags=bicubic,format=gbrp10"}, {12, AV_PIX_FMT_GBRP12, "scale=flags=bicubic,format=gbrp12"},
    {14, AV_PIX_FMT_GBRP14, "scale=flags=bicubic,format=gbrp14"}, {16, AV_PIX_FMT_GBRP16, "scale=flags=bicubic,format=gbrp16"},
};

enum { DEPTHS = sizeof depths / sizeof *depths };

/* Index of the first of `depths` that holds so many bits. */
static int index_of(int depth_bits)
{
    int i = 0;
    while (i + 1 < DEPTHS && depths[i].depth_bits < depth_bits)
        i++;
    return i;
}

enum AVPixelFormat ec_rgb_format(int depth_bits)
{
    const int i = index_of(depth_bits);
    return depths[i].depth_bits == depth_bits ? depths[i].planar : AV_PIX_FMT_NONE;
}

const char *ec_rgb_chain(enum AVPixelFormat format, bool native)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    int depth = 8;
    for (int c = 0; d && native && !(d->flags & AV_PIX_FMT_FLAG_PAL) && c < d->nb_components; c++)
        depth = d->comp[c].depth > depth ? d->comp[c].depth : depth;
    return depths[index_of(depth)].chain;
}

static void split_row(uint8_t *restrict red, uint8_t *restrict green, uint8_t *restrict blue, const uint8_t *restrict packed,
                      int n)
{
    for (int x = 0; x < n; x++) {
        red[x] = packed[3 * x];
        green[x] = packed[3 * x + 1];
        blue[x] = packed[3 * x + 2];
    }
}

enum ec_status ec_rgb_split(struct ec_pool *pool, AVFrame *out, const AVFrame *in, struct ec_error *error)
{
    /* Planar formats name their planes green, blue, red. */
    static const int place[3] = {1, 2, 0};
    const int depth = av_pix_fmt_desc_get(in->format)->comp[0].depth;
    const size_t row = (size_t)in->width * (depth > 8 ? 2 : 1), pitch = (row + 63) & ~(size_t)63;
    const size_t plane = pitch * (size_t)in->height;
    if (av_frame_copy_props(out, in) < 0)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    out->format = ec_rgb_format(depth);
    out->width = in->width;
    out->height = in->height;
    out->color_range = AVCOL_RANGE_JPEG;
    /* 64 more bytes: FFmpeg's filters may read a vector beyond the last row. */
    out->buf[0] = ec_pool_get(pool, 3 * plane + 64);
    if (!out->buf[0])
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for a picture of %dx%d in colour", in->width, in->height);
    for (int p = 0; p < 3; p++) {
        out->data[p] = out->buf[0]->data + (size_t)place[p] * plane;
        out->linesize[p] = (int)pitch;
    }
    if (in->format == AV_PIX_FMT_RGB24)
        for (int y = 0; y < in->height; y++)
            split_row(out->data[2] + (size_t)y * pitch, out->data[0] + (size_t)y * pitch, out->data[1] + (size_t)y * pitch,
                      in->data[0] + (ptrdiff_t)y * in->linesize[0], in->width);
    else
        for (int p = 0; p < 3; p++)
            av_image_copy_plane(out->data[p], (int)pitch, in->data[p], in->linesize[p], (int)row, in->height);
    return EC_OK;
}
