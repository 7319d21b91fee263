#include "edge/workers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct member {
    struct ec_workers *workers;
    pthread_t thread;
    int number;
};

struct ec_workers {
    int count; /* with the caller */
    int started; /* threads that run, of members[1..count-1] */
    struct member *members;
    bool has_lock, has_start, has_done;
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    /* Under `lock`. */
    ec_workers_task *task;
    void *opaque;
    int next, pieces, unfinished;
    bool closing;
};

/* Takes pieces until none is left; called and returns with the lock held. */
static void work(struct ec_workers *workers, int number)
{
    while (workers->next < workers->pieces) {
        const int piece = workers->next++;
        ec_workers_task *task = workers->task;
        void *opaque = workers->opaque;
        pthread_mutex_unlock(&workers->lock);
        task(opaque, number, piece);
        pthread_mutex_lock(&workers->lock);
        if (--workers->unfinished == 0)
            pthread_cond_signal(&workers->done);
    }
}

static void *member_main(void *opaque)
{
    const struct member *member = opaque;
    struct ec_workers *workers = member->workers;
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        work(workers, member->number);
        if (workers->closing)
            break;
        pthread_cond_wait(&workers->start, &workers->lock);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/* Signals are for the program's own threads: the members block them all. */
static int start_members(struct ec_workers *workers)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = 0;
    for (int number = 1; number < workers->count && !failure; number++) {
        struct member *member = &workers->members[number];
        *member = (struct member){.workers = workers, .number = number};
        failure = pthread_create(&member->thread, NULL, member_main, member);
        if (!failure)
            workers->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

enum ec_status ec_workers_open(struct ec_workers **out, int count, struct ec_error *error)
{
    *out = NULL;
    struct ec_workers *workers = calloc(1, sizeof *workers);
    int failure = ENOMEM;
    if (!workers)
        goto fail;
    workers->count = count;
    workers->members = calloc((size_t)count, sizeof *workers->members);
    if (!workers->members)
        goto fail;
    failure = pthread_mutex_init(&workers->lock, NULL);
    if (failure)
        goto fail;
    workers->has_lock = true;
    failure = pthread_cond_init(&workers->start, NULL);
    if (failure)
        goto fail;
    workers->has_start = true;
    failure = pthread_cond_init(&workers->done, NULL);
    if (failure)
        goto fail;
    workers->has_done = true;
    failure = start_members(workers);
    if (failure)
        goto fail;
    *out = workers;
    return EC_OK;
fail:
    ec_workers_close(&workers);
    return ec_fail(error, EC_ERROR_MEMORY, "%d threads cannot be started: %s", count, strerror(failure));
}

void ec_workers_run(struct ec_workers *workers, ec_workers_task *task, void *opaque, int pieces)
{
    if (workers->count == 1 || pieces == 1) {
        for (int piece = 0; piece < pieces; piece++)
            task(opaque, 0, piece);
        return;
    }
    pthread_mutex_lock(&workers->lock);
    workers->task = task;
    workers->opaque = opaque;
    workers->next = 0;
    workers->pieces = workers->unfinished = pieces;
    pthread_cond_broadcast(&workers->start);
    work(workers, 0);
    while (workers->unfinished)
        pthread_cond_wait(&workers->done, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}

void ec_workers_close(struct ec_workers **workers)
{
    struct ec_workers *w = *workers;
    if (!w)
        return;
    if (w->started) {
        pthread_mutex_lock(&w->lock);
        w->closing = true;
        pthread_cond_broadcast(&w->start);
        pthread_mutex_unlock(&w->lock);
        for (int number = 1; number <= w->started; number++)
            pthread_join(w->members[number].thread, NULL);
    }
    if (w->has_done)
        pthread_cond_destroy(&w->done);
    if (w->has_start)
        pthread_cond_destroy(&w->start);
    if (w->has_lock)
        pthread_mutex_destroy(&w->lock);
    free(w->members);
    free(w);
    *workers = NULL;
}

int ec_workers_cores(void)
{
    /* The kernel refuses a set smaller than its own; 2^20 processors is far above its largest. */
    for (int limit = 1024; limit <= 1 << 20; limit *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)limit);
        if (!set)
            return 1;
        const size_t bytes = CPU_ALLOC_SIZE((size_t)limit);
        const int failure = sched_getaffinity(0, bytes, set) ? errno : 0;
        const int count = failure ? 0 : CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (!failure)
            return count > 0 ? count : 1;
        if (failure != EINVAL)
            return 1;
    }
    return 1;
}
