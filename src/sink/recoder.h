/* The two ends of a stream that is turned into another codec: its decoder, and the encoder with the stream that it feeds. */
#ifndef EC_SINK_RECODER_H
#define EC_SINK_RECODER_H

#include <libavcodec/avcodec.h>

#include "sink/mux.h"

/* Zero-initialised: closed. */
struct ec_recoder {
    AVCodecContext *decoder, *encoder;
    AVStream *out; /* the container's */
};

/* An open decoder for `in`, and an encoder to be set up. EC_ERROR_DEVICE with a sentence: the decoder does not start. */
enum ec_status ec_recoder_open(struct ec_recoder *recoder, const struct ec_mux *mux, const AVStream *in, const AVCodec *from,
                               const AVCodec *to, struct ec_error *error);

/* Opens the encoder as it was set up, and adds its stream, which counts in `time_base`, with the language and title of `in`.
 * EC_ERROR_DEVICE with a sentence: the encoder does not start, or the container refuses its stream, and nothing was added. */
enum ec_status ec_recoder_begin(struct ec_recoder *recoder, const struct ec_mux *mux, const AVStream *in, AVRational time_base,
                                struct ec_error *error);

void ec_recoder_close(struct ec_recoder *recoder);

#endif
