/* A libavcodec decoder that writes straight into the pool's memory where it can. */
#ifndef EC_SOURCE_DECODER_H
#define EC_SOURCE_DECODER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

#include "edge/error.h"
#include "pipeline/frame.h"

/* Opens a decoder for the stream, with frame and slice threads (threads 0: one a core). The pool must outlive it and its
 * frames. EC_ERROR_INPUT: there is no decoder, or it refuses the stream. Free with avcodec_free_context. */
enum ec_status ec_decoder_open(AVCodecContext **out, const AVFormatContext *container, int stream, int threads,
                               struct ec_pool *pool, const char *name, struct ec_error *error);

/* True for a frame whose planes lie in the pool. */
bool ec_decoder_frame_is_pooled(const AVFrame *frame);

#endif
