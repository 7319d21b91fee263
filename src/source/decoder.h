/* A libavcodec decoder that writes straight into the pool's memory where it can. */
#ifndef EC_SOURCE_DECODER_H
#define EC_SOURCE_DECODER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

#include "edge/error.h"
#include "pipeline/frame.h"

struct ec_decoder_params {
    const AVFormatContext *container;
    int stream;
    int threads; /* 0: one a core */
    struct ec_pool *pool;
    AVBufferRef *device; /* AVHWDeviceContext to decode with where it can; NULL: none */
    int device_frames; /* frames of the device that the caller may hold at once */
};

/* Whether FFmpeg has a way to decode this stream with that kind of device. The device itself may still refuse the stream's
 * profile or size: the decoder then goes on in host memory by itself. */
bool ec_decoder_takes_device(const AVFormatContext *container, int stream, const AVBufferRef *device);

/* Opens a decoder for the stream, with frame and slice threads. The pool must outlive it and its
 * frames. EC_ERROR_INPUT: there is no decoder, or it refuses the stream. Free with avcodec_free_context. */
enum ec_status ec_decoder_open(AVCodecContext **out, const struct ec_decoder_params *params, const char *name,
                               struct ec_error *error);

/* True for a frame whose planes lie in the pool. */
bool ec_decoder_frame_is_pooled(const AVFrame *frame);

#endif
