/* A run as a picture: every interval of work as a complete event of the Trace Event Format (JSON array form), which Perfetto
 * and chrome://tracing open. One track for each thread, queue, lane and engine. Any thread may call; spans go out as they come,
 * so memory does not grow with the run. */
#ifndef EC_PIPELINE_TRACE_H
#define EC_PIPELINE_TRACE_H

#include <stdint.h>

#include "edge/backend.h"

struct ec_trace;

enum ec_track {
    EC_TRACK_DECODE = 1,
    EC_TRACK_QUEUE_IN,
    EC_TRACK_STAGE,
    EC_TRACK_QUEUE_OUT,
    EC_TRACK_SINK,
    EC_TRACK_H2D, /* engines in the order of enum ec_engine_kind */
    EC_TRACK_COMPUTE,
    EC_TRACK_D2H,
    EC_TRACK_LANE, /* + number of the lane */
    EC_TRACK_PEER = EC_TRACK_LANE + EC_IN_FLIGHT_MAX, /* the engines of the second GPU, of the third and so on */
};

/* The track of an engine, EC_ENGINE_H2D to EC_ENGINE_D2H, of one of the GPUs that the run uses. */
int ec_track_engine(int gpu, int engine);

/* `lanes`: of all GPUs. Starts the file, replacing one that is there unless it is the input. EC_ERROR_OUTPUT with its name and
 * the cause otherwise.
 */
enum ec_status ec_trace_open(struct ec_trace **out, const char *path, const char *input, int lanes, int gpus,
                             struct ec_error *error);

/* One interval, CLOCK_MONOTONIC. Static `name`. A frame < 0 is left out. NULL trace: nothing. */
void ec_trace_span(struct ec_trace *trace, int track, const char *name, int64_t frame, int64_t start_ns, int64_t end_ns);

/* The thresholds that a frame was given, as a counter's track. NULL trace: nothing. */
void ec_trace_thresholds(struct ec_trace *trace, double low, double high, int64_t at_ns);

/* Ends the file. EC_ERROR_OUTPUT if anything could not be written. NULL and pointers to NULL are fine. */
enum ec_status ec_trace_close(struct ec_trace **trace, struct ec_error *error);

#endif
