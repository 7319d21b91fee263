/* What the parts of the libav source share. */
#ifndef EC_SOURCE_LIBAV_STATE_H
#define EC_SOURCE_LIBAV_STATE_H

#include "source/decoder.h"
#include "source/input.h"
#include "source/pictures.h"
#include "source/source.h"

/* What a stream of the input was when it was opened first. */
struct ec_stream_shape {
    enum AVCodecID codec;
    AVRational time_base;
};

struct ec_source {
    struct ec_source_env env;
    const struct ec_pipeline_params *p;
    struct ec_input input;
    struct ec_stream_info info;
    struct ec_clock clock;
    struct ec_video_decoder decoder;
    bool device_refused; /* the GPU does not take this stream, and FFmpeg needs another decoder for it */
    AVPacket *packet;
    AVFrame *decoded;
    struct ec_pictures pictures;
    double preroll_s; /* how far in front of the wanted start decoding has to begin */
    bool packets_wanted, ended;
    int end_code; /* why reading ended, while the last pictures are on their way; 0: it has not */
    struct ec_error late_error; /* what ended it, for when they are through */
    bool last_is_partial; /* the last packet: the input ended in the middle of it */
    bool jpegs_end; /* with the marker that ends them */
    bool lost; /* to be opened again, once what came before has been taken */
    AVRational stream_base; /* of the video stream in the container */
    struct ec_stream_shape *shapes; /* of all streams of the container */
    unsigned shape_count;
    int64_t video_packets, video_end; /* end of the last one in the file, in bytes */
    int decoding_failed; /* the decoder's first error, 0 without */
    atomic_llong damaged;
};

/* A decoder for the input's video stream. */
enum ec_status ec_libav_choose_decoder(struct ec_source *source, struct ec_error *error);
/* Streams that nobody asks for are not read. */
void ec_libav_discard_unwanted(struct ec_source *source);

#endif
