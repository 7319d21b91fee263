/* What an encoder takes, in either generation of FFmpeg's ways to ask. */
#ifndef EC_SINK_SUPPORTED_H
#define EC_SINK_SUPPORTED_H

#include <libavcodec/avcodec.h>

enum ec_supported {
    EC_SUPPORTED_PIXEL_FORMATS, /* enum AVPixelFormat, ended by AV_PIX_FMT_NONE */
    EC_SUPPORTED_FRAME_RATES, /* AVRational, ended by 0/0 */
    EC_SUPPORTED_SAMPLE_FORMATS, /* enum AVSampleFormat, ended by AV_SAMPLE_FMT_NONE */
    EC_SUPPORTED_SAMPLE_RATES, /* int, ended by 0 */
    EC_SUPPORTED_LAYOUTS, /* AVChannelLayout, ended by one without channels; before FFmpeg 5.1 uint64_t, ended by 0 */
};

/* The list of `what`; NULL: anything, or not known. */
const void *ec_supported_by(const AVCodec *codec, enum ec_supported what);

#endif
