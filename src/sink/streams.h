/* The input's other streams: each is copied, converted or left out, with a notice when that is a loss. */
#ifndef EC_SINK_STREAMS_H
#define EC_SINK_STREAMS_H

#include "sink/mux.h"

struct ec_streams;

/* Adds a stream to the container for every stream that goes into it:
 *   audio        copied where the container takes it, else encoded again;
 *   subtitles    copied, or text turned into the container's own kind;
 *   attachments  copied into Matroska;
 *   anything else, and what cannot be converted, is left out. With params->no_audio everything is. */
enum ec_status ec_streams_open(struct ec_streams **out, struct ec_mux *mux, const struct ec_pipeline_params *params,
                               const struct ec_stream_info *info, struct ec_error *error);

/* A packet of the input; packets of streams that were left out, and those after the wanted part, are dropped. A packet that
 * cannot be decoded costs one warning a stream, not the run. */
enum ec_status ec_streams_packet(struct ec_streams *streams, const AVPacket *packet, struct ec_error *error);

/* Writes what the converters still hold. */
enum ec_status ec_streams_finish(struct ec_streams *streams, struct ec_error *error);

void ec_streams_close(struct ec_streams **streams);

#endif
