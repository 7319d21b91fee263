/* SIGINT, SIGTERM and SIGHUP end a run in good order; a second one ends the process at once.
 *
 * A thread of its own waits for them, so nothing runs in a signal handler. SIGPIPE and SIGXFSZ become ordinary write errors. */
#ifndef EC_APP_SIGNALS_H
#define EC_APP_SIGNALS_H

#include "edgecam/pipeline.h"

struct app_signals;

/* Call before any other thread starts (they inherit the mask). NULL when memory ran out. */
struct app_signals *app_signals_open(void);
void app_signals_close(struct app_signals **signals);

/* The pipeline that the first signal stops: at once if it came already. NULL before that pipeline is closed. A signal that
 * finds none cancels what is being opened, waits a moment, then ends the process. A pipeline that writes no file, and has not
 * ended two seconds after the signal while nobody reads its standard output, loses nothing: the process is ended. */
void app_signals_watch(struct app_signals *signals, struct ec_pipeline *pipeline, bool writes_file);

/* For ec_pipeline_params.cancel: becomes true when a signal comes while no pipeline is watched. */
const volatile sig_atomic_t *app_signals_cancel(struct app_signals *signals);

/* The signal that came, 0: none. */
int app_signals_caught(struct app_signals *signals);

#endif
