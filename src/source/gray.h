/* One gray plane out of any decoded picture. */
#ifndef EC_SOURCE_GRAY_H
#define EC_SOURCE_GRAY_H

#include <libavutil/frame.h>
#include <stdbool.h>

#include "edge/error.h"
#include "pipeline/frame.h"

struct SwsContext;

/* Scratch of one decoder; zero-initialise. One thread. */
struct ec_gray {
    struct ec_pool *pool; /* where converted planes go */
    struct SwsContext *scaler; /* for formats that only libswscale reads */
    uint16_t *lines;
    int lines_px;
};

/* Sets *out (an empty AVFrame) to the gray plane of `in`: GRAY8, or GRAY9 to GRAY16 in native endianness, with in's size,
 * times, aspect and color_range (JPEG or MPEG, never unspecified). Planar YUV, NV12 and gray keep the decoder's own plane (a
 * new reference, no copy). Everything else is converted: packed luma is gathered; RGB and palettes become (9798 R + 19235 G +
 * 3735 B + 2^14) >> 15, which is cv2.cvtColor(COLOR_RGB2GRAY); formats with less than 8 bits are widened first; float becomes
 * 16 bit. Alpha is ignored. EC_ERROR_INPUT: a format that cannot be read; EC_ERROR_MEMORY. */
enum ec_status ec_gray_from(struct ec_gray *gray, AVFrame *out, const AVFrame *in, struct ec_error *error);

void ec_gray_close(struct ec_gray *gray);

/* The gray AVPixelFormat of a depth (8, 9, 10, 12, 14, 16), AV_PIX_FMT_NONE for others. */
enum AVPixelFormat ec_gray_format(int depth_bits);

#endif
