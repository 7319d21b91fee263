/* Settings of an encoder: ours where the person has no wish, then the person's. */
#ifndef EC_SINK_ENCODER_OPTIONS_H
#define EC_SINK_ENCODER_OPTIONS_H

#include <libavcodec/avcodec.h>

#include "edge/error.h"
#include "edgecam/pipeline.h"

/* Sets crf, preset and encoder_options on a context that is not open yet. EC_ERROR_ARGUMENT: a value is refused, or the encoder
 * has no crf or preset; other unknown options are added to *left. `stand_in`: the encoder is not the one asked for, so what it
 * does not know, and the preset, is passed over. */
enum ec_status ec_encoder_options_set(AVCodecContext *context, const struct ec_pipeline_params *params, bool stand_in,
                                      AVDictionary **left, struct ec_error *error);

#endif
