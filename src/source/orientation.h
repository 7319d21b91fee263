/* How a picture must be turned to stand upright, from a display matrix or an EXIF orientation. */
#ifndef EC_SOURCE_ORIENTATION_H
#define EC_SOURCE_ORIENTATION_H

#include <libavutil/frame.h>
#include <stdbool.h>
#include <stdint.h>

/* Apply in this order: exchange rows and columns, mirror left-right, mirror top-bottom. */
struct ec_orientation {
    bool transpose, mirror_x, mirror_y;
    bool oblique; /* the matrix also turns by an angle that is no multiple of 90 degrees; that part is not undone */
};

/* From a 3x3 display matrix (libavutil/display.h); NULL: as it is. */
struct ec_orientation ec_orientation_from_matrix(const int32_t *matrix);

/* The frame's own (display matrix side data, or the tag "Orientation" of EXIF), else `fallback`. */
struct ec_orientation ec_orientation_of_frame(const AVFrame *frame, struct ec_orientation fallback);

bool ec_orientation_is_upright(struct ec_orientation orientation);
bool ec_orientation_equal(struct ec_orientation a, struct ec_orientation b);

/* The libavfilter chain that does it, "null" when there is nothing to do. Static storage. */
const char *ec_orientation_chain(struct ec_orientation orientation);

#endif
