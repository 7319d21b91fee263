#include "app/progress.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/progress_state.h"
#include "pipeline/frame.h"

#define INTERVAL_NS 250000000L

struct app_progress {
    struct app_progress_params p;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool stop;
    struct {
        struct ec_pipeline *pipeline;
        double weight;
    } running[APP_JOBS_MAX];
    int count;
    struct app_progress_state past; /* what is over */
    int64_t begin_ns;
};

/* With the lock held. */
static struct app_progress_state read_state(const struct app_progress *p)
{
    struct app_progress_state state = p->past;
    for (int i = 0; i < p->count; i++) {
        struct ec_stats stats;
        ec_pipeline_stats(p->running[i].pipeline, &stats);
        app_progress_state_add(&state, &stats, p->running[i].weight);
    }
    if (p->p.files > 0)
        app_progress_state_of_batch(&state, (double)(ec_now_ns() - p->begin_ns) / 1e9, p->p.weight);
    return state;
}

static void show(struct app_progress *p, bool done)
{
    pthread_mutex_lock(&p->lock);
    const struct app_progress_state state = read_state(p);
    pthread_mutex_unlock(&p->lock);
    if (p->p.kind == APP_PROGRESS_JSON) {
        char *text = app_progress_state_json(&state, p->p.files, done);
        if (text)
            app_log_raw(p->p.log, text);
        free(text);
    } else if (done) {
        app_log_bar(p->p.log, NULL);
    } else {
        char line[200];
        app_progress_state_line(&state, p->p.files, line, sizeof line);
        app_log_bar(p->p.log, line);
    }
}

static void *run(void *opaque)
{
    struct app_progress *p = opaque;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        next.tv_nsec += INTERVAL_NS;
        next.tv_sec += next.tv_nsec / 1000000000L;
        next.tv_nsec %= 1000000000L;
        while (!p->stop && pthread_cond_timedwait(&p->changed, &p->lock, &next) != ETIMEDOUT)
            ;
        if (p->stop)
            break;
        pthread_mutex_unlock(&p->lock);
        show(p, false);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct app_progress *app_progress_start(const struct app_progress_params *params)
{
    enum app_progress_kind kind = params->kind;
    if (kind == APP_PROGRESS_AUTO)
        kind = params->level >= EC_LOG_NOTICE && isatty(STDERR_FILENO) ? APP_PROGRESS_BAR : APP_PROGRESS_NONE;
    struct app_progress *p = kind == APP_PROGRESS_NONE ? NULL : calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->p = *params;
    p->p.kind = kind;
    p->past = app_progress_state_none;
    p->begin_ns = ec_now_ns();

    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&p->thread, NULL, run, p) != 0) {
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
        free(p);
        return NULL;
    }
    return p;
}

void app_progress_join(struct app_progress *p, struct ec_pipeline *pipeline, double weight)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    if (p->count < APP_JOBS_MAX) {
        p->running[p->count].pipeline = pipeline;
        p->running[p->count++].weight = weight;
    }
    pthread_mutex_unlock(&p->lock);
}

void app_progress_leave(struct app_progress *p, const struct ec_pipeline *pipeline)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < p->count; i++) {
        if (p->running[i].pipeline != pipeline)
            continue;
        struct ec_stats stats;
        ec_pipeline_stats(p->running[i].pipeline, &stats);
        app_progress_state_add(&p->past, &stats, 0);
        p->running[i--] = p->running[--p->count];
    }
    pthread_mutex_unlock(&p->lock);
}

void app_progress_file(struct app_progress *p, bool failed, double weight)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->past.files_done++;
    p->past.files_failed += failed;
    p->past.weight_done += weight;
    pthread_mutex_unlock(&p->lock);
}

void app_progress_stop(struct app_progress **progress)
{
    struct app_progress *p = *progress;
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    show(p, true);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
    *progress = NULL;
}
