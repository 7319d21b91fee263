/* What became of each input of a batch, as a table and as JSON. */
#ifndef EC_APP_BATCH_REPORT_H
#define EC_APP_BATCH_REPORT_H

#include <jansson.h>

#include "app/job_list.h"
#include "edgecam/stats.h"

enum app_outcome_kind {
    APP_OUTCOME_NONE = 0, /* its turn did not come */
    APP_OUTCOME_DONE,
    APP_OUTCOME_SKIPPED, /* was finished already */
    APP_OUTCOME_DAMAGED, /* the output is there, but frames were lost */
    APP_OUTCOME_FAILED, /* there is no output */
    APP_OUTCOME_STOPPED, /* the output ends where a signal came */
};

struct app_outcome {
    enum app_outcome_kind kind;
    enum ec_status status;
    int64_t frames_in, frames_out, frames_damaged; /* -1: not known */
    double wall_s; /* NaN: not known */
    char *message; /* the first error or warning; NULL: none */
};

extern const struct app_outcome app_outcome_none;

/* DONE, DAMAGED, FAILED or STOPPED, by how a run ended. Takes `message`. */
struct app_outcome app_outcome_of_run(enum ec_status status, const struct ec_stats *stats, char *message);
bool app_outcome_is_failure(const struct app_outcome *outcome);

/* {schema "edgecam.report/1", input, output, result ("done", "skipped", "damaged", "failed", "stopped", "not started"), status
 * (as an exit status), message, frames {in, out, damaged}, wall_s}; null: not known, or there is none. The caller owns it. */
json_t *app_outcome_json(const struct app_job *job, const struct app_outcome *outcome);

struct app_log;
/* A line for each input and one for all of them, which took `wall_s` together. */
void app_batch_table(struct app_log *log, const struct app_job_list *list, const struct app_outcome *outcomes, double wall_s);

#endif
