/* The middle of the pipeline: takes frames from one queue, runs them through the backend's lanes, hands the results on in
 * order. Owned by the pipeline; ec_stage_run is the body of one thread. */
#ifndef EC_PIPELINE_STAGE_H
#define EC_PIPELINE_STAGE_H

#include <stdatomic.h>

#include "edge/backend.h"
#include "pipeline/frame.h"
#include "pipeline/meters.h"
#include "pipeline/queue.h"
#include "pipeline/trace.h"

struct ec_stage_params {
    const struct ec_backend *backend;
    struct ec_device *device;
    const struct ec_plan *plan; /* copied */
    int width_px, height_px;
    AVRational time_base; /* of the frames' pts */
    int lanes;
    bool luma_raw; /* never expand limited range */
    /* When the device fails in mid-run: go on with the CPU backend (same bytes), or end with the error. Results in surfaces
     * always end, since their encoder is on that device too. */
    bool fall_back;
    int threads; /* of that CPU backend */
    struct ec_pool *results; /* where result frames come from: of two values, on a GPU, maps of depth 1 (edge/packed.h) */
    struct ec_meters *meters;
    struct ec_trace *trace; /* NULL: none */
    const atomic_bool *halt; /* frames not yet started are dropped once it is true */
    struct ec_logger logger;
};

struct ec_stage;

/* Allocates all lanes. EC_ERROR_DEVICE: the device lacks the memory, or failed. */
enum ec_status ec_stage_open(struct ec_stage **out, const struct ec_stage_params *params, struct ec_error *error);

/* Once, before the run. surfaces: results of 8 bits go into frames of that AVHWFramesContext, which is the device's and
 * outlives the stage, and stay there (ec_frame.surface). NULL: into host memory, and the first ones are allocated now. */
void ec_stage_prepare(struct ec_stage *stage, AVBufferRef *surfaces);

/* Until the input queue is closed and empty, the output queue takes no more, or an error. Closes its ends of both queues.
 * Packets are passed on at once; frames come out in the order they went in, none lost or doubled. */
enum ec_status ec_stage_run(struct ec_stage *stage, struct ec_queue *in, struct ec_queue *out, struct ec_error *error);

/* The backend that runs now: "cpu" after a take-over. Any thread. */
const char *ec_stage_backend(const struct ec_stage *stage);

void ec_stage_close(struct ec_stage **stage);

#endif
