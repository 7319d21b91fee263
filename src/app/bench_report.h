/* A benchmark's results as a table and as JSON. */
#ifndef EC_APP_BENCH_REPORT_H
#define EC_APP_BENCH_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "app/bench_measure.h"

void bench_print_limits(FILE *out, const struct bench_backend *backend);
void bench_print_header(FILE *out);
void bench_print_result(FILE *out, const struct bench_result *result);

/* {schema "edgecam.bench/1", width, height, depth, repetitions, backends: [{backend, device, driver, pcie, limits
 * {memcpy_gb_per_s device_copy_gb_per_s h2d_gb_per_s d2h_gb_per_s both_ways_gb_per_s}}], results: [{operator, backend, frames,
 * frame_ms {median min max}, fps, memcpy_ratio, kernel_ms, device_copy_ratio, pcie_percent, stats}]}. The ratios: time of a
 * frame by the time of a memcpy of its bytes; time of the kernels by the time of a device copy; bytes moved each way by the
 * two-way limit. The caller owns the object. */
json_t *bench_json(const struct bench_backend *backends, int backend_count, const struct bench_result *results,
                   int result_count, const struct ec_pipeline_params *params);

#endif
