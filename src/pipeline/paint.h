/* The styles row by row: the arithmetic of edgecam/style.h, each line of it written once. One thread a painter. */
#ifndef EC_PIPELINE_PAINT_H
#define EC_PIPELINE_PAINT_H

#include <stddef.h>

#include "pipeline/style.h"

/* A finished picture of results, and the video's own as RGB bytes (NULL where the style does without). */
struct ec_canvas {
    int width_px, height_px;
    const uint8_t *result, *video;
    ptrdiff_t result_pitch, video_pitch;
};

struct ec_paint;

/* EC_ERROR_MEMORY. */
enum ec_status ec_paint_open(struct ec_paint **out, const struct ec_style_params *params, int width_px, struct ec_error *error);
/* Row y of the canvas: width RGB triples, or RGBA quadruples where the style has alpha. */
void ec_paint_row(struct ec_paint *paint, const struct ec_canvas *canvas, int y, uint8_t *out);
void ec_paint_close(struct ec_paint **paint);

#endif
