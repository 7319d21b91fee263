/* How a result is shown. Everything but the plain result is 8-bit RGB, to the byte:
 *
 * m is the result's pixel (0 to 255), s the same pixel of the upright video as full-range RGB (the colours that FFmpeg makes of
 * it), l the line colour, p the paper colour; mix(a, b, m) = floor((a*(255 - m) + b*m + 127) / 255) for each of R, G, B.
 *
 *   mask       the result itself, gray, of its own depth
 *   ink        mix(p, l, m); black on white
 *   overlay    mix(s, l, m); green
 *   glow       min(255, floor((s + 2)/4) + mix(0, l, min(255, m + h))); light blue. h = floor((3*t + 312) / 625), where t is
 *              the sum of m over 9x9 pixels, weighted (1 2 3 4 5 4 3 2 1) in both directions, 0 outside the picture
 *   direction  mix(0, c, m), c the colour of the gradient's direction, see below
 *   alpha      l with opacity m (RGBA, not premultiplied); white. Needs an output that keeps transparency
 *   split      s in the left half (column < ceil(width / 2)), mix(p, l, m) in the right; white on black
 *
 * Pictures that show the video (overlay, glow, split) mean what its numbers mean: they keep its primaries and its transfer, so
 * an HDR video (PQ, HLG) stays one, in 8 bits, and 255 of a line is as bright as that transfer goes. Line and paper colours
 * alone (ink, direction, alpha) are BT.709. mask, which is no picture of light, keeps the video's tags.
 *
 * The direction is that of the 3x3 Sobel gradient (gx, gy), border repeated, of g = (9798 R + 19235 G + 3735 B + 2^14) >> 15 of
 * s. Its place on the diamond |x| + |y| = 1, clockwise from the right in 384ths of a side, is the hue: floor(384*|gy| / (|gx| +
 * |gy|)) in the first quarter, and in the ones behind it 384, 768, 1152 more, with the axes exchanged in every other one; 0
 * without a gradient. Hue 0 is red, 512 green, 1024 blue, and linear in between.
 */
#ifndef EDGECAM_STYLE_H
#define EDGECAM_STYLE_H

#include <stdbool.h>
#include <stdint.h>

#include "edgecam/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ec_style {
    EC_STYLE_MASK = 0,
    EC_STYLE_INK,
    EC_STYLE_OVERLAY,
    EC_STYLE_GLOW,
    EC_STYLE_DIRECTION,
    EC_STYLE_ALPHA,
    EC_STYLE_SPLIT,
    EC_STYLE_COUNT
};

/* Zero-initialised: the plain result. Colours are 0xRRGGBB; without has_line, has_paper they are the style's own. A line colour
 * is for ink, overlay, glow, alpha and split, a paper colour for ink and split. */
struct ec_style_params {
    enum ec_style style;
    bool has_line, has_paper;
    uint32_t line_rgb, paper_rgb;
};

/* Name of a style as the command line spells it ("overlay"), NULL outside the enum. Static storage. */
EC_API const char *ec_style_name(enum ec_style style);
/* One line about a style, NULL outside the enum. Static storage. */
EC_API const char *ec_style_text(enum ec_style style);

#ifdef __cplusplus
}
#endif
#endif
