/* The picture stream: gray frames in, packets into the container. */
#ifndef EC_SINK_ENCODER_H
#define EC_SINK_ENCODER_H

#include "sink/mux.h"
#include "sink/sink.h"

struct ec_encoder;

/* Opens the first encoder that works (see ec_codec_find), with a notice when it is not the one asked for, and adds its stream
 * to the container. It takes the results' surfaces where it can. A size the encoder does not take is padded, with a notice.
 * Options that the encoder does not know are left in *left for the muxer. */
enum ec_status ec_encoder_open(struct ec_encoder **out, struct ec_mux *mux, const struct ec_pipeline_params *params,
                               const struct ec_stream_info *info, const struct ec_results *results, AVDictionary **left,
                               struct ec_error *error);

/* Whether every frame must come in a surface; else none may. */
bool ec_encoder_takes_surfaces(const struct ec_encoder *encoder);

/* Encodes one frame and writes what comes out. */
enum ec_status ec_encoder_frame(struct ec_encoder *encoder, const struct ec_frame *frame, struct ec_error *error);

/* Writes what is still inside, until deadline_ns (CLOCK_MONOTONIC; 0: all of it); *given_up grows by the frames that were not.
 */
enum ec_status ec_encoder_flush(struct ec_encoder *encoder, int64_t deadline_ns, int64_t *given_up, struct ec_error *error);

/* See ec_sink_ops. */
const char *ec_encoder_advice(const struct ec_encoder *encoder);

void ec_encoder_close(struct ec_encoder **encoder);

#endif
