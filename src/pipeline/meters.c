#include "pipeline/meters.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edgecam/pipeline.h"
#include "pipeline/latency.h"
#include "pipeline/timeline.h"

#define ENGINES EC_TIMELINE_ENGINES

struct running_mean {
    double sum;
    int64_t count;
};

struct ec_meters {
    struct ec_advice advice; /* set before any thread starts */
    pthread_mutex_t lock;
    /* guarded by lock */
    int64_t start_ns, end_ns;
    int64_t frames_in, frames_out;
    double position_s;
    struct ec_stage_stats stages[EC_STAGE_COUNT];
    struct ec_latency latency;
    struct ec_timeline timelines[EC_GPUS_MAX]; /* the first gpu_count have something */
    int gpu_count;
    struct ec_job_times recent[EC_IN_FLIGHT_MAX]; /* not counted yet: they may be the last of the run */
    int64_t jobs;
    int64_t bytes[ENGINES], steady_bytes[ENGINES];
    struct running_mean utilization, decode, encode; /* percent */
    double utilization_min, power_w;
    int64_t memory_bytes;
    struct ec_limits limits;
    struct ec_range_stats low, high; /* `mean` holds the sum */
    int64_t thresholds; /* frames in those sums */
};

struct ec_meters *ec_meters_open(void)
{
    struct ec_meters *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    pthread_mutex_init(&m->lock, NULL);
    m->limits = (struct ec_limits){NAN, NAN, NAN, NAN, NAN};
    m->power_w = m->utilization_min = NAN;
    m->memory_bytes = -1;
    return m;
}

void ec_meters_free(struct ec_meters **meters)
{
    if (!*meters)
        return;
    pthread_mutex_destroy(&(*meters)->lock);
    free(*meters);
    *meters = NULL;
}

void ec_meters_start(struct ec_meters *m)
{
    pthread_mutex_lock(&m->lock);
    m->start_ns = ec_now_ns();
    pthread_mutex_unlock(&m->lock);
}

void ec_meters_end(struct ec_meters *m)
{
    pthread_mutex_lock(&m->lock);
    m->end_ns = ec_now_ns();
    pthread_mutex_unlock(&m->lock);
}

void ec_meters_stage(struct ec_meters *m, enum ec_stage_kind kind, int64_t busy_ns, int64_t wait_ns)
{
    pthread_mutex_lock(&m->lock);
    m->stages[kind] = (struct ec_stage_stats){(double)busy_ns / 1e9, (double)wait_ns / 1e9};
    pthread_mutex_unlock(&m->lock);
}

void ec_meters_frame_in(struct ec_meters *m)
{
    pthread_mutex_lock(&m->lock);
    m->frames_in++;
    pthread_mutex_unlock(&m->lock);
}

void ec_meters_frame_out(struct ec_meters *m, int64_t latency_ns, double end_s)
{
    pthread_mutex_lock(&m->lock);
    m->frames_out++;
    m->position_s = end_s;
    ec_latency_add(&m->latency, latency_ns);
    pthread_mutex_unlock(&m->lock);
}

void ec_meters_given_up(struct ec_meters *m, int64_t frames)
{
    pthread_mutex_lock(&m->lock);
    m->frames_out -= frames;
    pthread_mutex_unlock(&m->lock);
}

static void count_job(struct ec_meters *m, const struct ec_job_times *job)
{
    for (int e = 0; e < ENGINES; e++)
        if (job->start_ns[e] || job->end_ns[e])
            ec_timeline_add(&m->timelines[job->gpu], e, job->start_ns[e], job->end_ns[e]);
    if (job->gpu >= m->gpu_count)
        m->gpu_count = job->gpu + 1;
    m->steady_bytes[EC_ENGINE_H2D] += job->h2d_bytes;
    m->steady_bytes[EC_ENGINE_D2H] += job->d2h_bytes;
}

static void add_to_range(struct ec_range_stats *range, double value, bool first)
{
    range->min = first ? value : fmin(range->min, value);
    range->max = first ? value : fmax(range->max, value);
    range->mean = first ? value : range->mean + value;
}

static struct ec_range_stats read_range(const struct ec_range_stats *range, int64_t count)
{
    if (count == 0)
        return (struct ec_range_stats){NAN, NAN, NAN};
    return (struct ec_range_stats){range->min, range->mean / (double)count, range->max};
}

void ec_meters_job(struct ec_meters *m, const struct ec_job_times *times, int lanes)
{
    pthread_mutex_lock(&m->lock);
    m->bytes[EC_ENGINE_H2D] += times->h2d_bytes;
    m->bytes[EC_ENGINE_D2H] += times->d2h_bytes;
    struct ec_job_times *slot = &m->recent[m->jobs % lanes];
    if (m->jobs >= 2 * (int64_t)lanes)
        count_job(m, slot);
    *slot = *times;
    m->jobs++;
    if (times->has_thresholds) {
        add_to_range(&m->low, times->low, m->thresholds == 0);
        add_to_range(&m->high, times->high, m->thresholds == 0);
        m->thresholds++;
    }
    pthread_mutex_unlock(&m->lock);
}

static void add(struct running_mean *mean, double value)
{
    if (isnan(value))
        return;
    mean->sum += value;
    mean->count++;
}

static double mean_of(const struct running_mean *mean)
{
    return mean->count ? mean->sum / (double)mean->count : NAN;
}

void ec_meters_reading(struct ec_meters *m, const struct ec_gpu_reading *reading)
{
    pthread_mutex_lock(&m->lock);
    add(&m->utilization, reading->utilization_percent);
    add(&m->decode, reading->decode_percent);
    add(&m->encode, reading->encode_percent);
    m->utilization_min = fmin(m->utilization_min, reading->utilization_percent); /* the other one where one is NaN */
    m->power_w = reading->power_w;
    m->memory_bytes = reading->memory_bytes;
    pthread_mutex_unlock(&m->lock);
}

void ec_meters_advise(struct ec_meters *m, const struct ec_advice *advice)
{
    m->advice = *advice;
}

void ec_meters_limits(struct ec_meters *m, const struct ec_limits *limits)
{
    pthread_mutex_lock(&m->lock);
    m->limits = *limits;
    pthread_mutex_unlock(&m->lock);
}

static void read_engines(const struct ec_meters *m, struct ec_gpu_stats *gpu)
{
    const double limits[ENGINES] = {m->limits.h2d_gb_per_s, NAN, m->limits.d2h_gb_per_s};
    struct ec_timeline_result r = {0}; /* of all GPUs together */
    for (int g = 0; g < m->gpu_count; g++) {
        struct ec_timeline_result one;
        ec_timeline_read(&m->timelines[g], &one);
        r.span_ns += one.span_ns;
        r.any_ns += one.any_ns;
        r.overlap_ns += one.overlap_ns;
        for (int e = 0; e < ENGINES; e++)
            r.busy_ns[e] += one.busy_ns[e];
    }
    for (int e = 0; e < EC_ENGINE_COUNT; e++)
        gpu->engines[e] = (struct ec_engine_stats){NAN, -1, NAN, NAN};
    for (int e = 0; e < ENGINES; e++) {
        struct ec_engine_stats *s = &gpu->engines[e];
        s->limit_gb_per_s = limits[e];
        if (e != EC_ENGINE_COMPUTE && m->jobs > 0)
            s->bytes = m->bytes[e];
        if (r.span_ns <= 0 || r.busy_ns[e] <= 0)
            continue;
        s->busy_percent = 100.0 * (double)r.busy_ns[e] / (double)r.span_ns;
        if (e != EC_ENGINE_COMPUTE)
            s->gb_per_s = (double)m->steady_bytes[e] / (double)r.busy_ns[e];
    }
    gpu->overlap_percent = r.any_ns > 0 ? 100.0 * (double)r.overlap_ns / (double)r.any_ns : NAN;
    gpu->engines[EC_ENGINE_DECODE].busy_percent = mean_of(&m->decode);
    gpu->engines[EC_ENGINE_ENCODE].busy_percent = mean_of(&m->encode);
    gpu->utilization_samples = m->utilization.count;
    gpu->utilization_mean_percent = mean_of(&m->utilization);
    gpu->utilization_min_percent = m->utilization_min;
    gpu->memory_bytes = m->memory_bytes;
    gpu->power_w = m->power_w;
}

static double share_percent(const struct ec_stage_stats *stage, double wall_s)
{
    return wall_s > 0 ? fmin(100.0, 100.0 * stage->busy_s / wall_s) : 0;
}

/* The busiest part is what holds the others up. */
static void find_bottleneck(const struct ec_meters *m, struct ec_stats *s)
{
    const double compute = s->gpu.engines[EC_ENGINE_COMPUTE].busy_percent;
    struct {
        enum ec_bottleneck kind;
        double percent;
    } parts[] = {
        {EC_BOTTLENECK_SOURCE, share_percent(&s->stages[EC_STAGE_DECODE], s->wall_s)},
        {EC_BOTTLENECK_SINK, share_percent(&s->stages[EC_STAGE_SINK], s->wall_s)},
        {EC_BOTTLENECK_H2D, s->gpu.engines[EC_ENGINE_H2D].busy_percent},
        {EC_BOTTLENECK_COMPUTE, isnan(compute) ? share_percent(&s->stages[EC_STAGE_STAGE], s->wall_s) : compute},
        {EC_BOTTLENECK_D2H, s->gpu.engines[EC_ENGINE_D2H].busy_percent},
    };
    s->bottleneck = EC_BOTTLENECK_UNKNOWN;
    s->bottleneck_busy_percent = NAN;
    for (size_t i = 0; s->frames_out > 0 && i < sizeof parts / sizeof *parts; i++) {
        if (isnan(parts[i].percent) || parts[i].percent <= (isnan(s->bottleneck_busy_percent) ? 0 : s->bottleneck_busy_percent))
            continue;
        s->bottleneck = parts[i].kind;
        s->bottleneck_busy_percent = parts[i].percent;
    }
    const char *const advice[] = {
        [EC_BOTTLENECK_UNKNOWN] = NULL,
        [EC_BOTTLENECK_SOURCE] = m->advice.source,
        [EC_BOTTLENECK_H2D] = "Upload to the GPU is the slowest part: the PCIe link is the limit, as it should be.",
        [EC_BOTTLENECK_COMPUTE] = m->advice.compute,
        [EC_BOTTLENECK_D2H] = "Download from the GPU is the slowest part: the PCIe link is the limit, as it should be.",
        [EC_BOTTLENECK_SINK] = m->advice.sink,
    };
    snprintf(s->advice, sizeof s->advice, "%s", advice[s->bottleneck] ? advice[s->bottleneck] : "");
}

static void read_queue(struct ec_queue *queue, struct ec_stage_stats *out, int64_t *dropped)
{
    struct ec_queue_stats q;
    ec_queue_stats(queue, &q);
    *out = (struct ec_stage_stats){(double)q.held_ns / 1e9, (double)q.empty_ns / 1e9};
    *dropped += q.dropped;
}

void ec_meters_read(struct ec_meters *m, struct ec_queue *queue_in, struct ec_queue *queue_out, struct ec_stats *s)
{
    pthread_mutex_lock(&m->lock);
    const int64_t until = m->end_ns ? m->end_ns : ec_now_ns();
    s->wall_s = m->start_ns ? (double)(until - m->start_ns) / 1e9 : NAN;
    s->frames_in = m->frames_in;
    s->frames_out = m->frames_out;
    s->position_s = m->frames_out ? m->position_s : NAN;
    s->fps = s->wall_s > 0 ? (double)m->frames_out / s->wall_s : NAN;
    s->realtime_factor = s->wall_s > 0 && m->frames_out ? m->position_s / s->wall_s : NAN;
    s->latency_p50_ms = ec_latency_percentile_ms(&m->latency, 50);
    s->latency_p95_ms = ec_latency_percentile_ms(&m->latency, 95);
    s->latency_p99_ms = ec_latency_percentile_ms(&m->latency, 99);
    s->latency_max_ms = m->latency.total ? (double)m->latency.max_ns / 1e6 : NAN;
    memcpy(s->stages, m->stages, sizeof s->stages);
    s->low = read_range(&m->low, m->thresholds);
    s->high = read_range(&m->high, m->thresholds);
    read_engines(m, &s->gpu);
    pthread_mutex_unlock(&m->lock);

    s->frames_dropped = 0;
    read_queue(queue_in, &s->stages[EC_STAGE_QUEUE_IN], &s->frames_dropped);
    read_queue(queue_out, &s->stages[EC_STAGE_QUEUE_OUT], &s->frames_dropped);
    find_bottleneck(m, s);
}
