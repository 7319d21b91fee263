/* The measurements of a benchmark. NaN: no such path. */
#ifndef EC_APP_BENCH_MEASURE_H
#define EC_APP_BENCH_MEASURE_H

#include "app/run.h"
#include "edge/backend.h"

#define BENCH_REPETITIONS 7

/* The picture that every frame of the benchmark is like, from the input's name "cycle:WxH@FPS:DEPTH". */
struct bench_picture {
    int width_px, height_px, depth_bits;
    size_t bytes;
};

struct bench_backend {
    enum ec_backend_kind kind;
    const struct ec_backend *ops;
    struct ec_device_info info;
    struct ec_limits limits; /* with blocks of one frame */
};

struct bench_result {
    char label[80]; /* the operator with its settings */
    enum ec_operator op;
    const struct bench_backend *backend;

    struct ec_throughput kernels; /* the detector alone */
    struct ec_spread one_frame_ms; /* from a frame in host memory to its result there, nothing else in flight */

    bool has_run; /* through the whole pipeline: what follows was measured */
    int64_t frames; /* a repetition */
    struct ec_spread frame_ms; /* wall time of a run by its frames */
    bool is_map; /* results of two values come back as bits: next to nothing beside the upload */
    struct ec_limits link[BENCH_REPETITIONS + 1]; /* right before and after each run: shared machines change by the minute */
    /* What the link needs at its two-way rate, for what comes alone at the upload's, by the readings around each run. */
    struct ec_spread pcie_percent;
    struct ec_spread timing_percent; /* wall time that a run takes longer than its neighbour without events that take times */
    struct ec_stats stats; /* of the last repetition */
};

/* EC_ERROR_ARGUMENT for a name that is none. */
enum ec_status bench_picture_parse(struct bench_picture *picture, const char *input, struct ec_error *error);

/* Opens the device once, describes it and measures its limits with blocks of one frame. */
enum ec_status bench_backend_measure(struct bench_backend *backend, const struct ec_device_params *params,
                                     const struct bench_picture *picture, const struct ec_logger *logger,
                                     struct ec_error *error);

/* Starts *result with `op`: what the detector takes by itself, without a pipeline. */
enum ec_status bench_kernels_measure(struct bench_result *result, const struct bench_backend *backend, enum ec_operator op,
                                     const struct ec_pipeline_params *params, const struct bench_picture *picture,
                                     struct ec_error *error);

/* A pipeline from its opening to its end; *stats is its last word. */
enum ec_status bench_run_once(const struct app_context *context, const struct ec_pipeline_params *params,
                              struct ec_stats *stats);

/* Adds BENCH_REPETITIONS runs through the pipeline, of params->max_frames each, or of enough that starting does not count when
 * that is 0. */
enum ec_status bench_run_measure(struct bench_result *result, const struct app_context *context,
                                 const struct ec_pipeline_params *params, const struct bench_picture *picture);

#endif
