/* A benchmark's results as tables and as JSON. */
#ifndef EC_APP_BENCH_REPORT_H
#define EC_APP_BENCH_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "app/bench_measure.h"

void bench_print_limits(FILE *out, const struct bench_backend *backend);

/* The detectors alone. "in turn": each frame starts when the one before it is done; "at once": several in flight, as lanes run;
 * "cached": in turn, on one pair of buffers. Behind each the time of a copy of as many bytes, run in the same way. */
void bench_print_kernels_header(FILE *out);
void bench_print_kernels(FILE *out, const struct bench_result *result);

/* From host memory to host memory through the pipeline, and one frame by itself. */
void bench_print_runs_header(FILE *out);
void bench_print_run(FILE *out, const struct bench_result *result);

/* {schema "edgecam.bench/1", width, height, depth, repetitions, backends: [{backend, device, driver, pcie, limits
 * {memcpy_gb_per_s device_copy_gb_per_s h2d_gb_per_s d2h_gb_per_s both_ways_gb_per_s}}], results: [{label, operator, backend,
 * kernels {serial parallel cached: each {frame_us {median min max} copy_us {median min max} copy_ratio gb_per_s}},
 * kernel_ms, device_copy_ratio, one_frame_ms {median min max}, one_frame_copies_ratio, frames, frame_ms {median min max}, fps,
 * memcpy_ratio, pcie_percent {median min max}, timing_percent {median min max}, two_way_gb_per_s and upload_gb_per_s [before,
 * between and after the runs], map, stats}]}. kernel_ms: of a frame at the best throughput; device_copy_ratio: that by a device
 * copy run in the same way; one_frame_copies_ratio: by upload plus download; memcpy_ratio: time of a frame through the pipeline
 * by a memcpy of it; map: results come back as bits; pcie_percent: bytes of a frame by the two-way limit, of a map by the
 * upload's; timing_percent: what events that take times cost. What was not measured is null. The caller owns the object. */
json_t *bench_json(const struct bench_backend *backends, int backend_count, const struct bench_result *results,
                   int result_count, const struct ec_pipeline_params *params, const struct bench_picture *picture);

#endif
