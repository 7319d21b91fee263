/* One detector on one frame of noise, without a pipeline: what benchmarks and the tuner work on. */
#ifndef EC_APP_BENCH_TRIAL_H
#define EC_APP_BENCH_TRIAL_H

#include "app/bench_measure.h"

struct bench_trial {
    const struct ec_backend *ops;
    struct ec_device *device;
    struct ec_engine *engine; /* with one lane */
    struct ec_plan plan;
    struct ec_image in, out; /* in host memory of the device */
    size_t bytes; /* of either image at most, all its planes */
};

/* Opens the backend with params->device and a detector for params->edge. *out is NULL after a failure. */
enum ec_status bench_trial_open(struct bench_trial **out, const struct ec_backend *ops, const struct ec_pipeline_params *params,
                                const struct bench_picture *picture, struct ec_error *error);
void bench_trial_close(struct bench_trial **trial);

/* `in` to `out`. */
enum ec_status bench_trial_run(struct bench_trial *trial, struct ec_error *error);

#endif
