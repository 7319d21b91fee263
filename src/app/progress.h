/* Tells how far a run is, from a thread of its own that looks at ec_pipeline_stats now and then. */
#ifndef EC_APP_PROGRESS_H
#define EC_APP_PROGRESS_H

#include "app/log.h"
#include "app/options.h"

struct app_progress;

/* A bar on the terminal, or one JSON object a line on standard error: frame, expected, fps, speed, position_s, duration_s,
 * eta_s, gpu_percent, done (null: not known). AUTO is a bar on a terminal at the usual level, else nothing. NULL when nothing
 * is to be shown, or no thread could be had: a run needs no progress to be right. */
struct app_progress *app_progress_start(struct ec_pipeline *pipeline, struct app_log *log, enum app_progress_kind kind,
                                        enum ec_log_level level);
/* Shows the last state (JSON) or removes the bar. NULL is fine. */
void app_progress_stop(struct app_progress **progress);

#endif
