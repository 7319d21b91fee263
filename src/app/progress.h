/* Tells how far the program is, from a thread of its own that looks at ec_pipeline_stats of what runs now and then. */
#ifndef EC_APP_PROGRESS_H
#define EC_APP_PROGRESS_H

#include "app/log.h"
#include "app/options.h"

struct app_progress;

struct app_progress_params {
    struct app_log *log;
    enum app_progress_kind kind; /* AUTO: a bar on a terminal at the usual level, else nothing */
    enum ec_log_level level;
    int files; /* of a batch; 0: one run */
    double weight; /* of all files together, see app_progress_join */
};

/* A bar on the terminal, or one JSON object a line on standard error: frame, expected, fps, speed, position_s, duration_s,
 * eta_s, gpu_percent, done; of a batch, whose numbers are those of all files so far, also files, files_done and files_failed
 * (null: not known). NULL when nothing is to be shown, or no thread could be had: a run needs no progress to be right. */
struct app_progress *app_progress_start(const struct app_progress_params *params);

/* A pipeline runs, until it is left; at most APP_JOBS_MAX at once. `weight`: its share of the work, in the unit of the whole
 * weight. Any thread; NULL progress is fine. */
void app_progress_join(struct app_progress *progress, struct ec_pipeline *pipeline, double weight);
void app_progress_leave(struct app_progress *progress, const struct ec_pipeline *pipeline);

/* A file of a batch is over. */
void app_progress_file(struct app_progress *progress, bool failed, double weight);

/* Shows the last state (JSON) or removes the bar. NULL is fine. */
void app_progress_stop(struct app_progress **progress);

#endif
