/* The last part of the pipeline, on the thread that called ec_pipeline_run: hands every frame and packet to each sink in turn,
 * looks after the window, and completes the outputs. */
#ifndef EC_PIPELINE_DELIVERY_H
#define EC_PIPELINE_DELIVERY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "pipeline/meters.h"
#include "pipeline/painter.h"
#include "pipeline/queue.h"
#include "pipeline/trace.h"
#include "sink/sink.h"

enum { EC_SINKS_MAX = 4 };

struct ec_delivery {
    /* Set by the owner before ec_delivery_open; not owned. */
    const struct ec_pipeline_params *params;
    struct ec_meters *meters;
    struct ec_trace *trace; /* NULL: none */
    struct ec_pool *pixels; /* where results that came as maps become pixels */
    atomic_bool *halt; /* set when the person closes the window */

    bool quit; /* that happened */
    int64_t frames_left; /* of a live input; 0: no limit */

    /* Private. */
    struct {
        const struct ec_sink_ops *ops;
        struct ec_sink *sink;
    } sinks[EC_SINKS_MAX];
    int count;
    int depth_bits; /* of results in pixels */
    bool wants_pixels; /* some sink looks at them */
    struct ec_painter *painter; /* NULL: the results go to the sinks as they are */
    AVFrame *look;
    double seconds_per_tick;
    int64_t begin_ns, wait_ns, stopped_ns;
};

/* Opens every sink that the parameters name: an output that cannot be written is found here. surfaces (see ec_results) are
 * offered, which is for a run that the file and nothing else looks at; NULL: none. */
enum ec_status ec_delivery_open(struct ec_delivery *delivery, const struct ec_stream_info *info, int depth_bits,
                                AVBufferRef *surfaces, struct ec_error *error);

/* Whether the frames must come in the surfaces that were offered; else in host memory. */
bool ec_delivery_takes_surfaces(const struct ec_delivery *delivery);

/* For a run that the sinks held up; NULL: nothing is known that would help. */
const char *ec_delivery_advice(const struct ec_delivery *delivery);

/* Until the queue is closed and empty, or a sink fails. After a halt only what comes within a moment is still taken. */
enum ec_status ec_delivery_run(struct ec_delivery *delivery, struct ec_queue *in, struct ec_error *error);

/* Completes the outputs; after a halt in bounded time, leaving out what an encoder still holds. */
enum ec_status ec_delivery_finish(struct ec_delivery *delivery, struct ec_error *error);

/* See ec_pipeline_abandon. */
void ec_delivery_abandon(const struct ec_delivery *delivery);

/* Outputs that were not finished leave no file. */
void ec_delivery_close(struct ec_delivery *delivery);

#endif
