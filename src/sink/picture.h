/* Gray results as the frames an encoder takes. */
#ifndef EC_SINK_PICTURE_H
#define EC_SINK_PICTURE_H

#include <libavutil/frame.h>

#include "edge/error.h"
#include "pipeline/frame.h"

struct SwsContext;
struct ec_picture;

/* Frames of `format` and width_px x height_px from gray images of image_width_px x image_height_px and depth_bits, full range.
 * A larger frame repeats the last column and row. limited_range: luma is squeezed to 16 ... 235 (times 2^(depth - 8)) on the
 * way into a YUV format. */
struct ec_picture_params {
    enum AVPixelFormat format;
    int width_px, height_px;
    int image_width_px, image_height_px, depth_bits;
    bool limited_range;
};

/* EC_ERROR_ARGUMENT: there is no conversion to that format; EC_ERROR_MEMORY. */
enum ec_status ec_picture_open(struct ec_picture **out, const struct ec_picture_params *params, struct ec_error *error);

/* Fills `out` (which must be empty). Where size, depth and layout agree the luma plane is the image itself, referenced, and
 * chroma planes are one constant buffer: nothing is copied. `out` must not be written to. */
enum ec_status ec_picture_make(struct ec_picture *picture, const struct ec_frame *frame, AVFrame *out, struct ec_error *error);

/* Gives `out`, whose format and size are set, memory of its own and the scaled picture. 0 or an AVERROR. */
int ec_picture_scale(struct SwsContext *scaler, const AVFrame *from, AVFrame *out);

void ec_picture_close(struct ec_picture **picture);

#endif
