#include "app/progress.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/stats_json.h"

#define INTERVAL_NS 250000000L

struct app_progress {
    struct ec_pipeline *pipeline;
    struct app_log *log;
    enum app_progress_kind kind;
    pthread_t thread;
    pthread_mutex_t lock; /* guards stop */
    pthread_cond_t changed;
    bool stop;
};

/* NaN when the end is not known, or nothing has come yet. */
static double eta_s(const struct ec_stats *s)
{
    if (s->frames_expected > 0 && s->fps > 0)
        return fmax(0, (double)(s->frames_expected - s->frames_out) / s->fps);
    if (s->duration_s > 0 && s->realtime_factor > 0)
        return fmax(0, (s->duration_s - s->position_s) / s->realtime_factor);
    return NAN;
}

static void append(char *line, size_t size, const char *format, double value)
{
    const size_t used = strlen(line);
    if (isfinite(value))
        snprintf(line + used, size - used, format, value);
}

static void append_clock(char *line, size_t size, const char *label, double seconds)
{
    const size_t used = strlen(line);
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e9)
        return;
    const long whole = lround(seconds);
    if (whole >= 3600)
        snprintf(line + used, size - used, "%s%ld:%02ld:%02ld", label, whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(line + used, size - used, "%s%ld:%02ld", label, whole / 60, whole % 60);
}

static void show_bar(struct app_progress *p, const struct ec_stats *s)
{
    char line[160] = "";
    if (s->frames_expected > 0)
        snprintf(line, sizeof line, "frame %lld of %lld", (long long)s->frames_out, (long long)s->frames_expected);
    else
        snprintf(line, sizeof line, "frame %lld", (long long)s->frames_out);
    append_clock(line, sizeof line, "  at ", s->position_s);
    append(line, sizeof line, "  %.1f fps", s->fps);
    append(line, sizeof line, "  %.2fx", s->realtime_factor);
    append_clock(line, sizeof line, "  ETA ", eta_s(s));
    if (strcmp(s->backend, "cuda") == 0)
        append(line, sizeof line, "  GPU %.0f %%", s->gpu.utilization_mean_percent);
    app_log_bar(p->log, line);
}

static void show_json(struct app_progress *p, const struct ec_stats *s, bool done)
{
    json_t *object = json_object();
    app_json_set_integer(object, "frame", s->frames_out);
    app_json_set_integer(object, "expected", s->frames_expected);
    app_json_set_number(object, "fps", s->fps);
    app_json_set_number(object, "speed", s->realtime_factor);
    app_json_set_number(object, "position_s", s->position_s);
    app_json_set_number(object, "duration_s", s->duration_s);
    app_json_set_number(object, "eta_s", done ? 0 : eta_s(s));
    app_json_set_number(object, "gpu_percent", strcmp(s->backend, "cuda") == 0 ? s->gpu.utilization_mean_percent : NAN);
    json_object_set_new(object, "done", json_boolean(done));
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6));
    if (text)
        app_log_raw(p->log, text);
    free(text);
    json_decref(object);
}

static void show(struct app_progress *p, bool done)
{
    struct ec_stats stats;
    ec_pipeline_stats(p->pipeline, &stats);
    if (p->kind == APP_PROGRESS_JSON)
        show_json(p, &stats, done);
    else if (done)
        app_log_bar(p->log, NULL);
    else
        show_bar(p, &stats);
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

struct app_progress *app_progress_start(struct ec_pipeline *pipeline, struct app_log *log, enum app_progress_kind kind,
                                        enum ec_log_level level)
{
    if (kind == APP_PROGRESS_AUTO)
        kind = level >= EC_LOG_NOTICE && isatty(STDERR_FILENO) ? APP_PROGRESS_BAR : APP_PROGRESS_NONE;
    struct app_progress *p = kind == APP_PROGRESS_NONE ? NULL : calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->pipeline = pipeline;
    p->log = log;
    p->kind = kind;

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
