/* Which encoder a picture stream gets, at which size and in which pixel format: the first that starts. */
#ifndef EC_SINK_ENCODER_CONTEXT_H
#define EC_SINK_ENCODER_CONTEXT_H

#include "sink/codec.h"
#include "sink/mux.h"

struct ec_encoder_request {
    const struct ec_mux *mux;
    const struct ec_pipeline_params *params;
    const struct ec_stream_info *info;
    struct ec_content content;
    AVBufferRef *surfaces; /* NULL: none */
};

/* An open encoder (the caller's to free) and how its frames are stamped. With hw_frames_ctx it takes the surfaces and nothing
 * else; the picture is the same as from host memory, so an encoder that does not start with them takes that. Tells of an
 * encoder that takes the place of the one asked for, and of a size that had to be padded. Options that the encoder does not
 * know are left in *left. On failure *out is NULL. */
enum ec_status ec_encoder_context_open(AVCodecContext **out, struct ec_timing *timing, const struct ec_encoder_request *request,
                                       AVDictionary **left, struct ec_error *error);

#endif
