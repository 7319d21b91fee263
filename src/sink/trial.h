/* Whether a muxer really takes a stream: what it says when asked is not all that it refuses. */
#ifndef EC_SINK_TRIAL_H
#define EC_SINK_TRIAL_H

#include "sink/mux.h"

/* A stream that may be added to what mux->context has so far. */
struct ec_trial {
    const AVCodecParameters *codec;
    AVRational time_base;
    const AVDictionary *metadata; /* NULL: none */
    int compliance; /* FF_COMPLIANCE_..., of the muxer */
};

/* Writes a header with it to memory. True also where memory ran out or the format writes several files: nothing is known
 * against it then. */
bool ec_trial_passes(const struct ec_mux *mux, const struct ec_trial *trial);

#endif
