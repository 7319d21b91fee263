/* What a run did and how well the machine was used. */
#ifndef EDGECAM_STATS_H
#define EDGECAM_STATS_H

#include <stdint.h>

/* Numbers that were not measured are NaN (double) or -1 (int64_t), and become null in JSON, never 0. */

enum ec_engine_kind {
    EC_ENGINE_H2D = 0,
    EC_ENGINE_COMPUTE,
    EC_ENGINE_D2H,
    EC_ENGINE_DECODE,
    EC_ENGINE_ENCODE,
    EC_ENGINE_COUNT
};

enum ec_stage_kind {
    EC_STAGE_DECODE = 0,
    EC_STAGE_QUEUE_IN,
    EC_STAGE_STAGE,
    EC_STAGE_QUEUE_OUT,
    EC_STAGE_SINK,
    EC_STAGE_COUNT
};

enum ec_bottleneck {
    EC_BOTTLENECK_UNKNOWN = 0,
    EC_BOTTLENECK_SOURCE,
    EC_BOTTLENECK_H2D,
    EC_BOTTLENECK_COMPUTE,
    EC_BOTTLENECK_D2H,
    EC_BOTTLENECK_SINK
};

/* Busy: the union of the engine's intervals over the steady part of the run (the first and the last frames in flight left out);
 * of decode and encode, the mean of NVML's readings, whoever uses them. */
struct ec_engine_stats {
    double busy_percent;
    int64_t bytes; /* moved over the whole run */
    double gb_per_s; /* 1e9 bytes a second while busy */
    double limit_gb_per_s; /* of this engine alone, measured in this process */
};

/* Of a thread: busy_s is time at work, wait_s time blocked on its neighbours. Of a queue: busy_s is time it held something,
 * wait_s time it was empty. */
struct ec_stage_stats {
    double busy_s, wait_s;
};

/* Of the frames so far. */
struct ec_range_stats {
    double min, mean, max;
};

struct ec_gpu_stats {
    char name[128], driver[64], pcie[64]; /* empty: not known */
    int count; /* of GPUs that the run used; with several, what follows is their mean, bytes, memory and power their sum */
    int lanes; /* on each */
    struct ec_engine_stats engines[EC_ENGINE_COUNT];
    double overlap_percent; /* share of busy time in which two or more engines run */
    double utilization_mean_percent, utilization_min_percent; /* NVML's reading */
    int64_t utilization_samples;
    int64_t memory_bytes;
    double power_w;
};

struct ec_stats {
    char backend[16]; /* "cpu" or "cuda", empty before it is chosen */
    char device[128];
    int width_px, height_px, depth_bits;
    int64_t frames_in, frames_out, frames_dropped, frames_damaged;
    int64_t frames_expected; /* from the container, -1 if it does not say */
    double wall_s, fps, realtime_factor, position_s, duration_s;
    double latency_p50_ms, latency_p95_ms, latency_p99_ms, latency_max_ms; /* frame decoded -> frame delivered */
    struct ec_stage_stats stages[EC_STAGE_COUNT];
    struct ec_range_stats low, high; /* thresholds that Canny chose, in 8-bit units */
    struct ec_gpu_stats gpu; /* meaningful when backend is "cuda" */
    int64_t rss_peak_bytes, pinned_bytes;
    enum ec_bottleneck bottleneck;
    double bottleneck_busy_percent;
    char advice[200];
};

#endif
