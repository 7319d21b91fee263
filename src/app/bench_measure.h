/* The measurements of a benchmark. Times are medians; NaN: no such path. */
#ifndef EC_APP_BENCH_MEASURE_H
#define EC_APP_BENCH_MEASURE_H

#include "app/run.h"
#include "edge/backend.h"

#define BENCH_REPETITIONS 7

struct bench_backend {
    enum ec_backend_kind kind;
    const struct ec_backend *ops;
    struct ec_device_info info;
    struct ec_limits limits; /* with blocks of one frame */
};

struct bench_result {
    enum ec_operator op;
    const struct bench_backend *backend;
    int64_t frames; /* a repetition */
    double frame_ms, fastest_ms, slowest_ms; /* wall time of a run by its frames: median, smallest, largest */
    double kernel_ms; /* of one frame alone on the device, without copies */
    struct ec_stats stats; /* of the last repetition */
};

/* Opens the device once, describes it and measures its limits with blocks of `bytes`. */
enum ec_status bench_backend_measure(struct bench_backend *backend, const struct ec_device_params *params, size_t bytes,
                                     const struct ec_logger *logger, struct ec_error *error);

/* BENCH_REPETITIONS runs of `params` with `op`, of params->max_frames each, or of about a second each when that is 0. */
enum ec_status bench_result_measure(struct bench_result *result, const struct bench_backend *backend, enum ec_operator op,
                                    const struct app_context *context, const struct ec_pipeline_params *params);

#endif
