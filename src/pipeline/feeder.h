/* The body of the source thread: reads the source and feeds the first queue. */
#ifndef EC_PIPELINE_FEEDER_H
#define EC_PIPELINE_FEEDER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "pipeline/meters.h"
#include "pipeline/queue.h"
#include "pipeline/trace.h"
#include "source/source.h"

struct ec_feeder_params {
    const struct ec_source_ops *ops;
    struct ec_source *source;
    int64_t max_frames; /* 0: all */
    bool realtime; /* hold each frame back until its time has come */
    struct ec_meters *meters;
    struct ec_trace *trace; /* NULL: none */
    const atomic_bool *halt;
};

/* Until the source ends, max_frames were fed, *halt, or the queue takes no more; then closes its end of the queue. */
void ec_feeder_run(const struct ec_feeder_params *params, struct ec_queue *out, struct ec_error *error);

/* Returns at `deadline_ns` (CLOCK_MONOTONIC), or within 20 ms after *stop becomes true. */
void ec_wait_until(int64_t deadline_ns, const atomic_bool *stop);

#endif
