/* A libavcodec decoder that writes straight into the pool's memory where it can. */
#ifndef EC_SOURCE_DECODER_H
#define EC_SOURCE_DECODER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "edge/error.h"
#include "pipeline/frame.h"

struct ec_decoder_params {
    const AVFormatContext *container;
    int stream;
    int threads; /* 0: one a core */
    struct ec_pool *pool;
    AVBufferRef *device; /* AVHWDeviceContext to decode with where it can; NULL: none */
    int device_frames; /* frames of the device that the caller may hold at once, at most ec_decoder_spare_frames */
};

enum { EC_SEQUENCE_MAX_BYTES = 512 }; /* an AV1 sequence header with 32 operating points takes 400 */

/* Stays where it is while it is open: libavcodec's callbacks know it. */
struct ec_video_decoder {
    AVCodecContext *codec;

    /* Private. */
    struct ec_pool *pool;
    bool device_only; /* it decodes on the device or not at all */
    atomic_bool refused;
    uint8_t sequence[EC_SEQUENCE_MAX_BYTES]; /* of device_only: what the pictures so far belong to */
    size_t sequence_bytes; /* 0: not known yet */
};

/* Whether FFmpeg has a way to decode this stream with that kind of device. The device itself may still refuse the stream's
 * profile or size: the decoder then goes on in host memory by itself, or is refused. */
bool ec_decoder_takes_device(const AVFormatContext *container, int stream, const AVBufferRef *device);

/* How many of its frames such a device can lend at most while it decodes this stream. */
int ec_decoder_spare_frames(const AVFormatContext *container, int stream);

/* Opens a decoder for the stream, with frame and slice threads. The pool must outlive it and its
 * frames. EC_ERROR_INPUT: there is no decoder, or it refuses the stream. */
enum ec_status ec_decoder_open(struct ec_video_decoder *out, const struct ec_decoder_params *params, const char *name,
                               struct ec_error *error);
void ec_decoder_close(struct ec_video_decoder *decoder);

/* avcodec_send_packet. */
int ec_decoder_send(struct ec_video_decoder *decoder, const AVPacket *packet);

/* True when the device does not take what the last packet began, and this decoder knows no other way (AV1: FFmpeg's decoder for
 * devices does nothing else). All frames before that packet have come out; another decoder, without device, goes on with it. */
bool ec_decoder_is_refused(const struct ec_video_decoder *decoder);

/* True when pictures of another kind or size begin with this packet, which the decoder does not notice by itself: it must be
 * drained, and another opened for them. */
bool ec_decoder_is_outgrown(const struct ec_video_decoder *decoder, const AVPacket *packet);

/* True for a frame whose planes lie in the pool. */
bool ec_decoder_frame_is_pooled(const AVFrame *frame);

#endif
