/* One input through a pipeline, with everything around it: signals, progress, summary, statistics. */
#ifndef EC_APP_RUN_H
#define EC_APP_RUN_H

#include "app/log.h"
#include "app/options.h"
#include "app/signals.h"
#include "app/stats_file.h"

/* What every task of the program works with; owned by main. */
struct app_context {
    const struct app_options *options;
    struct app_log *log;
    struct ec_logger logger;
    struct app_signals *signals;
    struct app_stats_file *stats; /* NULL: no statistics wanted */
};

/* Blocks until the run is over; call on the main thread. What went wrong was logged. *stats (may be NULL) is the last snapshot,
 * all zero when the pipeline did not open. */
enum ec_status app_run(const struct app_context *context, const struct ec_pipeline_params *params, struct ec_stats *stats);

/* The program's exit status for a status and the signal that was caught (0: none). */
int app_exit_status(enum ec_status status, int signal_number);

#endif
