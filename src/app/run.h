/* One input through a pipeline, with everything around it: signals, progress, summary, statistics. */
#ifndef EC_APP_RUN_H
#define EC_APP_RUN_H

#include "app/json_file.h"
#include "app/log.h"
#include "app/options.h"
#include "app/progress.h"
#include "app/signals.h"

/* What every task of the program works with; owned by main. */
struct app_context {
    const struct app_options *options;
    struct app_log *log;
    struct ec_logger logger;
    struct app_signals *signals;
    struct app_json_file *stats, *report; /* NULL: not wanted */
};

/* A run that is one of many. */
struct app_run_share {
    struct app_progress *progress; /* of all of them; NULL: none is shown */
    double weight; /* of this one in it */
};

/* Blocks until the run is over; call on the main thread if it may open a window. What went wrong was logged. `share` NULL: it
 * is the only run. *stats (may be NULL) is the last snapshot, app_stats_unknown when the pipeline did not open. */
enum ec_status app_run(const struct app_context *context, const struct ec_pipeline_params *params,
                       const struct app_run_share *share, struct ec_stats *stats);

/* The program's exit status for a status and the signal that was caught (0: none). */
int app_exit_status(enum ec_status status, int signal_number);

#endif
