/* What turns the packets of one stream into another codec: a const table of functions. */
#ifndef EC_SINK_CONVERTER_H
#define EC_SINK_CONVERTER_H

#include "sink/mux.h"

struct ec_converter;

struct ec_converter_ops {
    /* Opens decoder and encoder and adds the output stream. EC_ERROR_DEVICE with a sentence: there is no way from `in` into
     * this container, and nothing was added. */
    enum ec_status (*open)(struct ec_converter **out, struct ec_mux *mux, const AVStream *in, struct ec_error *error);
    /* One packet in the input's terms, or (NULL) the end. *damaged: it could not be decoded. */
    enum ec_status (*packet)(struct ec_converter *converter, const AVPacket *packet, bool *damaged, struct ec_error *error);
    void (*close)(struct ec_converter **converter);
};

extern const struct ec_converter_ops ec_converter_audio, ec_converter_subtitle;

#endif
