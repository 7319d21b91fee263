/* What the styles are made of and what they need; edgecam/style.h is their definition. */
#ifndef EC_PIPELINE_STYLE_H
#define EC_PIPELINE_STYLE_H

#include "edge/error.h"
#include "edgecam/style.h"

bool ec_style_needs_video(enum ec_style style); /* the colours of the video itself */
bool ec_style_shows_video(enum ec_style style); /* its colours are among the result's */
bool ec_style_is_coloured(enum ec_style style); /* RGB or RGBA instead of the gray result */
bool ec_style_has_alpha(enum ec_style style);

uint32_t ec_style_line(const struct ec_style_params *params);
uint32_t ec_style_paper(const struct ec_style_params *params);

/* EC_ERROR_ARGUMENT: a colour that the style has no use for, or no style at all. */
enum ec_status ec_style_check(const struct ec_style_params *params, struct ec_error *error);

#endif
