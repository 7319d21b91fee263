/* --bench: how fast each operator runs on each backend of this machine, beside the limits measured in the same run. */
#ifndef EC_APP_BENCH_H
#define EC_APP_BENCH_H

#include "app/run.h"

/* Each detector by itself, back to back; then frames rendered beforehand go through the whole pipeline into the null sink.
 * Tables on standard output (standard error with --stats -), the same numbers as JSON with --stats: schema "edgecam.bench/1".
 * EC_STOPPED after a signal. */
enum ec_status app_bench(const struct app_context *context);

#endif
