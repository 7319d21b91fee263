/* What the threads of one run tell about themselves. Any thread may call; one lock inside. */
#ifndef EC_PIPELINE_METERS_H
#define EC_PIPELINE_METERS_H

#include <stdint.h>

#include "edge/backend.h"
#include "edgecam/stats.h"
#include "pipeline/queue.h"

struct ec_meters;

struct ec_meters *ec_meters_open(void);
void ec_meters_free(struct ec_meters **meters);

void ec_meters_start(struct ec_meters *meters);
void ec_meters_end(struct ec_meters *meters);

/* A thread's share so far (EC_STAGE_DECODE, _STAGE or _SINK); each call replaces the last. */
void ec_meters_stage(struct ec_meters *meters, enum ec_stage_kind kind, int64_t busy_ns, int64_t wait_ns);

void ec_meters_frame_in(struct ec_meters *meters);
/* Frames that were delivered but not kept. */
void ec_meters_given_up(struct ec_meters *meters, int64_t frames);
/* latency_ns: from decoded to delivered; end_s: where the frame ends on the time axis of the input. */
void ec_meters_frame_out(struct ec_meters *meters, int64_t latency_ns, double end_s);

/* A frame that went through the backend's engines. The first `lanes` frames and, at any moment, the last `lanes` do not count:
 * they fill and drain the pipeline. */
void ec_meters_job(struct ec_meters *meters, const struct ec_job_times *times, int lanes);

/* One reading of the GPUs' own counters: the mean of the percentages, the sum of power and memory. */
struct ec_gpu_reading {
    double utilization_percent, decode_percent, encode_percent, power_w; /* NaN: not known */
    int64_t memory_bytes; /* -1: not known */
};
void ec_meters_reading(struct ec_meters *meters, const struct ec_gpu_reading *reading);

/* What to do about each part where it is the slowest; kept as they are, NULL: nothing. */
struct ec_advice {
    const char *source, *compute, *sink;
};
void ec_meters_advise(struct ec_meters *meters, const struct ec_advice *advice);

void ec_meters_limits(struct ec_meters *meters, const struct ec_limits *limits);

/* Fills what the meters know: frames, times, latency, stages, engines, bottleneck. Fields that belong to others are left. */
void ec_meters_read(struct ec_meters *meters, struct ec_queue *queue_in, struct ec_queue *queue_out, struct ec_stats *out);

#endif
