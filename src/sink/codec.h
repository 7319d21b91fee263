/* Choices for the picture stream, made from what encoder and container say about themselves; nothing is opened here. */
#ifndef EC_SINK_CODEC_H
#define EC_SINK_CODEC_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>

#include "sink/mux.h"

enum { EC_CODEC_CANDIDATES = 4 };

/* Encoders to try, best first, *count of them: params->codec (an encoder or a codec name; a hardware encoder is followed by its
 * software stand-ins), or the format's usual one. EC_ERROR_ARGUMENT: unknown, or the container does not take it. */
enum ec_status ec_codec_find(const AVCodec *out[EC_CODEC_CANDIDATES], int *count, const struct ec_pipeline_params *params,
                             const struct ec_mux *mux, struct ec_error *error);

/* True for an encoder that needs a device which may be missing. */
bool ec_codec_is_hardware(const AVCodec *codec);

/* True for an encoder that takes frames in NVIDIA's device memory; of the encoder with that name (NULL: none). */
bool ec_codec_takes_surfaces(const AVCodec *codec);
bool ec_codec_name_takes_surfaces(const char *name);

/* What the pixels of a picture stream are. */
struct ec_content {
    int depth_bits;
    bool coloured, alpha; /* else gray, opaque */
};

/* The pixel format for that content. Without a wish (`name` NULL): gray (for colours RGB) for lossless codecs, and gray for
 * yuv4mpegpipe; 4:2:0, which plays everywhere, for the others; the smallest depth that holds depth_bits; with alpha where the
 * content has it. EC_ERROR_ARGUMENT: the codec has no such format, or not the wished one. */
enum ec_status ec_codec_pixel_format(enum AVPixelFormat *out, const AVCodec *codec, const AVOutputFormat *format,
                                     const char *name, const struct ec_content *content, struct ec_error *error);

/* False for a codec whose streams cannot say that their luma is of full range, and which every player takes as limited. */
bool ec_codec_tells_range(const AVCodec *codec);

/* How frames are stamped. */
struct ec_timing {
    AVRational time_base;
    AVRational frame_rate;
    bool counted; /* the container knows no times: frame n has time n */
    bool steady; /* and whoever reads it takes the rate for a constant one */
};

/* The input's own time base where encoder and container take any; else one tick a frame. */
struct ec_timing ec_codec_timing(const AVCodec *codec, const AVOutputFormat *format, const struct ec_stream_info *info);

#endif
