/* SIGINT, SIGTERM and SIGHUP end every run in good order; a second one ends the process at once.
 *
 * A thread of its own waits for them, so nothing runs in a signal handler. SIGPIPE and SIGXFSZ become ordinary write errors. */
#ifndef EC_APP_SIGNALS_H
#define EC_APP_SIGNALS_H

#include "edgecam/pipeline.h"

struct app_signals;

/* Call before any other thread starts (they inherit the mask). NULL when memory ran out. */
struct app_signals *app_signals_open(void);
void app_signals_close(struct app_signals **signals);

struct app_watched {
    struct ec_pipeline *pipeline;
    /* Ending the process would lose a file that the pipeline writes. Where it does not, the pipeline's standard output is all
     * there is: if nobody reads that two seconds after the signal, last_words is called and the process ended. */
    bool writes_file;
    void (*last_words)(void *opaque); /* on the thread that waits for signals; NULL: none */
    void *opaque;
};

enum { APP_WATCHED_MAX = 64 };

/* A pipeline that the first signal stops: at once if it came already. A second signal makes it abandon its outputs, then ends
 * the process. At most APP_WATCHED_MAX at once. A signal that finds none cancels what is being opened, waits a moment, then
 * ends the process. Any thread. */
void app_signals_watch(struct app_signals *signals, const struct app_watched *watched);
/* Before the pipeline is closed. */
void app_signals_unwatch(struct app_signals *signals, const struct ec_pipeline *pipeline);

/* For ec_pipeline_params.cancel: becomes true when a signal comes. */
const volatile sig_atomic_t *app_signals_cancel(struct app_signals *signals);

/* The signal that came, 0: none. */
int app_signals_caught(struct app_signals *signals);

#endif
