/* Opening what a person named: which protocol and demuxer, which stream. */
#ifndef EC_SOURCE_INPUT_H
#define EC_SOURCE_INPUT_H

#include <libavformat/avformat.h>

#include "edge/error.h"
#include "edgecam/pipeline.h"
#include "source/descriptor.h"
#include "source/source.h"

struct ec_input {
    const char *name; /* as given; the caller's */
    AVFormatContext *container;
    struct ec_descriptor *descriptor; /* standard input, a FIFO, or a file that only opens when it is read forwards */
    int stream; /* the video stream */
    bool live;
    const atomic_bool *stop;
    const volatile sig_atomic_t *cancel;
    int64_t patience_ns; /* how long a call may wait for data before it fails; 0: for ever */
    int64_t deadline_ns; /* of the call that runs now; private */
};

/* Zero-initialised *input to an open container with a chosen video stream. EC_ERROR_INPUT with the name and the cause
 * otherwise, EC_STOPPED when told to stop. *input must stay where it is until ec_input_close (libavformat's interrupt callback
 * points at it). */
enum ec_status ec_input_open(struct ec_input *input, const struct ec_pipeline_params *params, const struct ec_source_env *env,
                             struct ec_error *error);
void ec_input_close(struct ec_input *input);

/* The sentence for an AVERROR before the first frame: EC_ERROR_INPUT, or EC_STOPPED when told to stop. */
enum ec_status ec_input_failed(const struct ec_input *input, int averror, struct ec_error *error);

/* Marks the begin of a call that may wait, see patience_ns. */
void ec_input_begin_wait(struct ec_input *input);

/* At the end of a file or a pipe: true when it was cut off among its frames, as its container tells, see ending.h. The place of
 * reading moves. */
bool ec_input_is_cut(const struct ec_input *input);

/* True when reading should end. */
bool ec_input_cancelled(const struct ec_input *input);

#endif
