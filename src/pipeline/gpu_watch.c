#include "pipeline/gpu_watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "cuda/nvml.h"
#include "pipeline/frame.h"

#define PERIOD_NS 100000000 /* NVML's own reading changes no faster than six times a second */

struct ec_gpu_watch {
    struct ec_nvml *nvml;
    struct ec_meters *meters;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool ending; /* guarded by lock */
};

static void *watch_main(void *opaque)
{
    struct ec_gpu_watch *w = opaque;
    int64_t next = ec_now_ns();
    pthread_mutex_lock(&w->lock);
    while (!w->ending) {
        pthread_mutex_unlock(&w->lock);
        struct ec_nvml_sample sample;
        ec_nvml_sample(w->nvml, &sample);
        ec_meters_utilization(w->meters, sample.utilization_percent, sample.power_w, sample.memory_used_bytes);
        next += PERIOD_NS;
        const struct timespec until = {next / 1000000000, next % 1000000000};
        pthread_mutex_lock(&w->lock);
        while (!w->ending && pthread_cond_timedwait(&w->wake, &w->lock, &until) == 0)
            continue;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct ec_gpu_watch *ec_gpu_watch_open(const char *bus_id, struct ec_meters *meters)
{
    struct ec_gpu_watch *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->meters = meters;
    w->nvml = bus_id[0] ? ec_nvml_open(bus_id) : NULL;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (w->nvml && pthread_create(&w->thread, NULL, watch_main, w) == 0)
        return w;
    ec_nvml_close(&w->nvml);
    ec_gpu_watch_close(&w);
    return NULL;
}

void ec_gpu_watch_close(struct ec_gpu_watch **watch)
{
    struct ec_gpu_watch *w = *watch;
    if (!w)
        return;
    if (w->nvml) {
        pthread_mutex_lock(&w->lock);
        w->ending = true;
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    ec_nvml_close(&w->nvml);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
    *watch = NULL;
}
