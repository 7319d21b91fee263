/* The container that is being written: one libavformat muxer on one target. */
#ifndef EC_SINK_MUX_H
#define EC_SINK_MUX_H

#include <libavformat/avformat.h>
#include <stdbool.h>

#include "edgecam/pipeline.h"
#include "sink/target.h"
#include "source/source.h"

/* `context` takes streams between open and begin; the rest is read-only for its users. */
struct ec_mux {
    AVFormatContext *context;
    struct ec_target *target;
    struct ec_logger logger;
    bool one_picture; /* the format holds exactly one frame */
    bool reader_gone; /* of standard output: every write is EC_STOPPED */
    int64_t *last_dts; /* of each stream, in its time base */
};

/* Chooses the muxer from params->output_format or the name and opens the target (see there for what is refused). An unknown
 * format is EC_ERROR_ARGUMENT. */
enum ec_status ec_mux_open(struct ec_mux **out, const struct ec_pipeline_params *params, const struct ec_stream_info *info,
                           struct ec_error *error);

/* Copies the input's metadata and chapters, opens the file and writes the header. Options the muxer took leave *options. A
 * reader of standard output that has gone already is met by the first write. */
enum ec_status ec_mux_begin(struct ec_mux *mux, const struct ec_stream_info *info, AVDictionary **options,
                            struct ec_error *error);

/* Takes the packet (it is empty afterwards); stream_index is the output's, times are in `time_base`. Times that the container
 * cannot tell apart are moved on by one tick, so that no packet is lost. */
enum ec_status ec_mux_write(struct ec_mux *mux, AVPacket *packet, AVRational time_base, struct ec_error *error);

/* Trailer, last bytes, final name. */
enum ec_status ec_mux_finish(struct ec_mux *mux, struct ec_error *error);

/* What failed with FFmpeg's `code`, as a sentence with the output's name. EC_STOPPED, without a sentence, when the reader of
 * standard output has gone. */
enum ec_status ec_mux_fail(const struct ec_mux *mux, int code, struct ec_error *error);

/* Releases everything; what was not finished is removed. */
void ec_mux_close(struct ec_mux **mux);

#endif
