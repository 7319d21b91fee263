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
    struct app_watched watched[APP_WATCHED_MAX];
    int count;
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

/* True when pipelines were stopped, or the program is about to end anyway. */
static bool stop_pipelines(struct app_signals *s, int signal_number)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&s->lock);
    s->caught = signal_number;
    __atomic_store_n(&s->cancel, 1, __ATOMIC_RELAXED);
    while (s->count == 0 && !s->closing) {
        if (pthread_cond_timedwait(&s->changed, &s->lock, &until) == ETIMEDOUT)
            break;
    }
    const bool stopped = s->count > 0 || s->closing;
    for (int i = 0; i < s->count; i++)
        ec_pipeline_stop(s->watched[i].pipeline);
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

/* With the lock held: whether a pipeline stands still because nobody reads its standard output, and there is no file that
 * could still be finished. */
static bool waits_for_reader(const struct app_signals *s)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    for (int i = 0; i < s->count; i++) {
        if (s->watched[i].writes_file)
            return false;
    }
    return s->count > 0 && poll(&output, 1, 0) == 0;
}

static void give_up_on_reader(struct app_signals *s, int signal_number)
{
    pthread_mutex_lock(&s->lock);
    if (waits_for_reader(s)) {
        for (int i = 0; i < s->count; i++) {
            if (s->watched[i].last_words)
                s->watched[i].last_words(s->watched[i].opaque);
        }
        end_process(signal_number);
    }
    pthread_mutex_unlock(&s->lock);
}

static void abandon_outputs(struct app_signals *s)
{
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->count; i++)
        ec_pipeline_abandon(s->watched[i].pipeline);
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
        if (signal_number > 0 && (caught || !stop_pipelines(s, signal_number))) {
            abandon_outputs(s);
            end_process(signal_number);
        } else if (signal_number < 0 && errno == EAGAIN) {
            give_up_on_reader(s, caught);
        }
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

void app_signals_watch(struct app_signals *s, const struct app_watched *watched)
{
    pthread_mutex_lock(&s->lock);
    if (s->count < APP_WATCHED_MAX)
        s->watched[s->count++] = *watched;
    if (s->caught)
        ec_pipeline_stop(watched->pipeline);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void app_signals_unwatch(struct app_signals *s, const struct ec_pipeline *pipeline)
{
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->count; i++) {
        if (s->watched[i].pipeline == pipeline)
            s->watched[i--] = s->watched[--s->count];
    }
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
