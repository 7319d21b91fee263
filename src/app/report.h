/* What a finished run tells the person who started it. */
#ifndef EC_APP_REPORT_H
#define EC_APP_REPORT_H

#include "edgecam/pipeline.h"

/* One notice: what came out and how fast; a warning more if frames were lost. */
void app_report_summary(const struct ec_logger *logger, const struct ec_pipeline_params *params, const struct ec_stats *stats);

/* Two notices: what set the pace, and what would help. Nothing where that is not known. */
void app_report_bottleneck(const struct ec_logger *logger, const struct ec_stats *stats);

#endif
