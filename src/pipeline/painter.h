/* Between the stage and the sinks: the result and the video become the picture that the style asks for. One thread. */
#ifndef EC_PIPELINE_PAINTER_H
#define EC_PIPELINE_PAINTER_H

#include "pipeline/frame.h"
#include "pipeline/style.h"

struct ec_painter;

/* For frames of that size with 8 bits. `name` is the input's, for messages. */
enum ec_status ec_painter_open(struct ec_painter **out, const struct ec_style_params *params, int width_px, int height_px,
                               const char *name, struct ec_error *error);

/* Fills `out` (which must be empty) with RGB24, or RGBA where the style has alpha. A video of another size is scaled. */
enum ec_status ec_painter_paint(struct ec_painter *painter, const struct ec_frame *frame, AVFrame *out, struct ec_error *error);
void ec_painter_close(struct ec_painter **painter);

#endif
