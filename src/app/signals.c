#include "app/signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 2 /* with a reader of standard output, after the first signal */

struct app_signals {
    sigset_t set;
    volatile sig_atomic_t cancel;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    struct ec_pipeline *pipeline;
    bool writes_file; /* the pipeline does */
    int caught;
    bool closing;
};

/* Ends the process as the signal's default action does, so that the parent sees it. */
static void end_process(int signal_number)
{
    sigset_t only;
    signal(signal_number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, signal_number);
    raise(signal_number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
}

/* True when a pipeline was stopped, or the program is about to end anyway. */
static bool stop_pipeline(struct app_signals *s, int signal_number)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&s->lock);
    s->caught = signal_number;
    if (!s->pipeline)
        __atomic_store_n(&s->cancel, 1, __ATOMIC_RELAXED);
    while (!s->pipeline && !s->closing) {
        if (pthread_cond_timedwait(&s->changed, &s->lock, &until) == ETIMEDOUT)
            break;
    }
    const bool stopped = s->pipeline || s->closing;
    if (s->pipeline)
        ec_pipeline_stop(s->pipeline);
    pthread_mutex_unlock(&s->lock);
    return stopped;
}

static bool is_closing(struct app_signals *s)
{
    pthread_mutex_lock(&s->lock);
    const bool closing = s->closing;
    pthread_mutex_unlock(&s->lock);
    return closing;
}

/* Whether the pipeline stands still because nobody reads its standard output, and there is no file that it could finish. */
static bool waits_for_reader(struct app_signals *s)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    pthread_mutex_lock(&s->lock);
    const bool expendable = s->pipeline && !s->writes_file;
    pthread_mutex_unlock(&s->lock);
    return expendable && poll(&output, 1, 0) == 0;
}

static void *wait_for_signals(void *opaque)
{
    static const struct timespec patience = {.tv_sec = PATIENCE_S};
    struct app_signals *s = opaque;
    for (;;) {
        const int caught = app_signals_caught(s);
        const int signal_number = caught ? sigtimedwait(&s->set, NULL, &patience) : sigwaitinfo(&s->set, NULL);
        if (is_closing(s))
            return NULL;
        if (signal_number > 0 && (caught || !stop_pipeline(s, signal_number)))
            end_process(signal_number);
        else if (signal_number < 0 && errno == EAGAIN && waits_for_reader(s))
            end_process(caught);
    }
}

struct app_signals *app_signals_open(void)
{
    static const int handled[] = {SIGINT, SIGTERM, SIGHUP};
    struct app_signals *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&s->set);
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++) {
        /* nohup's wish counts; a shell's "&" also ignores SIGINT, but whoever sends one to it means it. */
        struct sigaction action;
        if (handled[i] == SIGHUP && sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            continue;
        signal(handled[i], SIG_DFL);
        sigaddset(&s->set, handled[i]);
    }
    pthread_sigmask(SIG_BLOCK, &s->set, NULL);

    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&s->thread, NULL, wait_for_signals, s) != 0) {
        pthread_cond_destroy(&s->changed);
        pthread_mutex_destroy(&s->lock);
        free(s);
        return NULL;
    }
    return s;
}

void app_signals_close(struct app_signals **signals)
{
    struct app_signals *s = *signals;
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_kill(s->thread, SIGTERM); /* wakes sigwait */
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
    *signals = NULL;
}

void app_signals_watch(struct app_signals *s, struct ec_pipeline *pipeline, bool writes_file)
{
    pthread_mutex_lock(&s->lock);
    s->pipeline = pipeline;
    s->writes_file = writes_file;
    if (pipeline && s->caught)
        ec_pipeline_stop(pipeline);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

int app_signals_caught(struct app_signals *s)
{
    pthread_mutex_lock(&s->lock);
    const int caught = s->caught;
    pthread_mutex_unlock(&s->lock);
    return caught;
}

const volatile sig_atomic_t *app_signals_cancel(struct app_signals *s)
{
    return &s->cancel;
}
