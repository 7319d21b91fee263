#include "pipeline/gpu_watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "cuda/nvml.h"
#include "pipeline/frame.h"

#define PERIOD_NS 100000000 /* NVML's own reading changes no faster than six times a second */

struct ec_gpu_watch {
    struct ec_nvml *gpus[EC_GPUS_MAX];
    int count;
    bool running;
    struct ec_meters *meters;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool ending; /* guarded by lock */
};

static void read_counters(const struct ec_gpu_watch *w)
{
    struct ec_gpu_reading sum = {0};
    for (int i = 0; i < w->count; i++) {
        struct ec_nvml_sample one;
        ec_nvml_sample(w->gpus[i], &one);
        sum.utilization_percent += one.utilization_percent / w->count;
        sum.decode_percent += one.decode_percent / w->count;
        sum.encode_percent += one.encode_percent / w->count;
        sum.power_w += one.power_w;
        sum.memory_bytes = one.memory_used_bytes < 0 || sum.memory_bytes < 0 ? -1 : sum.memory_bytes + one.memory_used_bytes;
    }
    ec_meters_reading(w->meters, &sum);
}

static void *watch_main(void *opaque)
{
    struct ec_gpu_watch *w = opaque;
    int64_t next = ec_now_ns();
    pthread_mutex_lock(&w->lock);
    while (!w->ending) {
        pthread_mutex_unlock(&w->lock);
        read_counters(w);
        next += PERIOD_NS;
        const struct timespec until = {next / 1000000000, next % 1000000000};
        pthread_mutex_lock(&w->lock);
        while (!w->ending && pthread_cond_timedwait(&w->wake, &w->lock, &until) == 0)
            continue;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct ec_gpu_watch *ec_gpu_watch_open(const struct ec_device_info *device, struct ec_meters *meters)
{
    struct ec_gpu_watch *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->meters = meters;
    for (int i = 0; i < device->gpu_count; i++) {
        w->gpus[w->count] = device->bus_ids[i][0] ? ec_nvml_open(device->bus_ids[i]) : NULL;
        w->count += w->gpus[w->count] != NULL;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    w->running = w->count > 0 && pthread_create(&w->thread, NULL, watch_main, w) == 0;
    if (w->running)
        return w;
    ec_gpu_watch_close(&w);
    return NULL;
}

void ec_gpu_watch_close(struct ec_gpu_watch **watch)
{
    struct ec_gpu_watch *w = *watch;
    if (!w)
        return;
    if (w->running) {
        pthread_mutex_lock(&w->lock);
        w->ending = true;
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    for (int i = 0; i < w->count; i++)
        ec_nvml_close(&w->gpus[i]);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
    *watch = NULL;
}
