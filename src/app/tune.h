/* `--bench --tune`: measures how this card does its work best, and keeps that (tuning.h). */
#ifndef EC_APP_TUNE_H
#define EC_APP_TUNE_H

#include "app/bench_measure.h"

/* For each operator of the command line and both norms: every choice that the backend has for it, each checked against the
 * bytes of the default and measured back to back; then the number of lanes. Prints a table, and saves. */
enum ec_status app_tune(const struct app_context *context, const struct ec_pipeline_params *params,
                        const struct bench_picture *picture, FILE *table);

#endif
