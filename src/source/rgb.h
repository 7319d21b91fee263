/* Red, green and blue of a picture as three planes of one block of memory.
 *
 * The colours are those that FFmpeg itself makes (`ffmpeg -pix_fmt rgb24`, or gbrp10 to gbrp16): libavfilter's scale, bicubic,
 * with the matrix and the range that the frame is tagged with, BT.601 and limited where it is not. */
#ifndef EC_SOURCE_RGB_H
#define EC_SOURCE_RGB_H

#include <libavutil/frame.h>
#include <stdbool.h>

#include "edge/error.h"
#include "pipeline/frame.h"

/* The end of a libavfilter chain that turns pictures of `format` into what ec_rgb_split takes: of 8 bits, or with `native` of
 * as many as they have. Static storage. */
const char *ec_rgb_chain(enum AVPixelFormat format, bool native);

/* Sets *out (an empty AVFrame) to a planar copy of `in`, RGB24 or planar RGB of more bits, in a block of `pool`: red, then
 * green, then blue, equally far apart. EC_ERROR_MEMORY. */
enum ec_status ec_rgb_split(struct ec_pool *pool, AVFrame *out, const AVFrame *in, struct ec_error *error);

/* Planar RGB of a depth (8, 9, 10, 12, 14, 16), AV_PIX_FMT_NONE for others. */
enum AVPixelFormat ec_rgb_format(int depth_bits);

#endif
