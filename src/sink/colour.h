/* Styled results as the frames an encoder takes. */
#ifndef EC_SINK_COLOUR_H
#define EC_SINK_COLOUR_H

#include "sink/picture.h"

struct ec_colour;

/* Frames as *params describes them from pictures in RGB24, or RGBA (`alpha`). EC_ERROR_ARGUMENT: there is no conversion to that
 * format; EC_ERROR_MEMORY. */
enum ec_status ec_colour_open(struct ec_colour **out, const struct ec_picture_params *params, bool alpha,
                              struct ec_error *error);

/* Fills `out` (which must be empty) from frame->look: with a reference to it where nothing has to be done. */
enum ec_status ec_colour_make(struct ec_colour *colour, const struct ec_frame *frame, AVFrame *out, struct ec_error *error);

void ec_colour_close(struct ec_colour **colour);

#endif
