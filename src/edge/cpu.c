/* The CPU backend: the rows of a frame go out in bands to a pool of threads. */
#include "edge/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "edge/bands.h"
#include "edge/cpu_canny.h"
#include "edge/cpu_examine.h"
#include "edge/cpu_probe.h"
#include "edge/cpu_throughput.h"
#include "edge/strip.h"
#include "edge/workers.h"

#define PAGE_BYTES ((size_t)4096)
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* The least that a thread is worth. */
#define THREAD_MIN_ROWS 16

struct ec_device {
    int threads;
    const struct ec_rows *rows;
};

struct job {
    const struct ec_image *in;
    const struct ec_image *out;
    bool limited_range;
};

struct ec_engine {
    int thread_count, band_count;
    int *band_ends; /* the row after each band */
    struct ec_workers *workers;
    struct ec_strip **strips; /* one a thread */
    struct ec_cpu_canny *canny; /* NULL for the other operators */
    struct job job; /* the frame that is being run */
    struct ec_plan plan;
    int lanes, submitted, collected; /* lane numbers */
    struct ec_job_times *times; /* of the frames not yet collected */
};

static enum ec_status cpu_open(struct ec_device **out, const struct ec_device_params *params, const struct ec_logger *logger,
                               struct ec_error *error)
{
    (void)logger;
    const struct ec_rows *rows = ec_rows_select(params->cpu_features);
    if (!rows) {
        *out = NULL;
        return ec_fail(error, EC_ERROR_ARGUMENT, "'%s' is no instruction set that this program has and this processor runs",
                       params->cpu_features);
    }
    return ec_cpu_open_rows(out, params->threads, rows, error);
}

enum ec_status ec_cpu_open_rows(struct ec_device **out, int threads, const struct ec_rows *rows, struct ec_error *error)
{
    *out = NULL;
    if (threads < 0 || threads > EC_CPU_MAX_THREADS)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%d threads were asked for, expected 1 to %d, or 0 for one a core", threads,
                       EC_CPU_MAX_THREADS);
    struct ec_device *device = calloc(1, sizeof *device);
    if (!device)
        return ec_fail(error, EC_ERROR_MEMORY, "there is no memory for the CPU backend");
    const int cores = ec_workers_cores();
    device->threads = threads ? threads : cores < EC_CPU_MAX_THREADS ? cores : EC_CPU_MAX_THREADS;
    device->rows = rows;
    *out = device;
    return EC_OK;
}

static void cpu_close(struct ec_device **device)
{
    free(*device);
    *device = NULL;
}

static void cpu_describe(struct ec_device *device, struct ec_device_info *out)
{
    *out = (struct ec_device_info){.pinned_bytes = -1, .memory_bytes = -1};
    ec_cpu_name(out->name, sizeof out->name, device->threads, device->rows->name);
}

static void *cpu_host_alloc(struct ec_device *device, size_t bytes)
{
    (void)device;
    if (bytes > PTRDIFF_MAX - PAGE_BYTES)
        return NULL;
    const size_t rounded = bytes ? (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES : PAGE_BYTES;
    const size_t huge = rounded / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    void *memory;
    if (posix_memalign(&memory, huge ? HUGE_PAGE_BYTES : PAGE_BYTES, rounded))
        return NULL;
    if (huge)
        madvise(memory, huge, MADV_HUGEPAGE); /* a wish: where it is not granted, small pages do, as they do for the rest */
    return memory;
}

static void cpu_host_free(struct ec_device *device, void *memory, size_t bytes)
{
    (void)device;
    (void)bytes;
    free(memory);
}

static void cpu_engine_close(struct ec_engine **engine)
{
    struct ec_engine *e = *engine;
    if (!e)
        return;
    ec_workers_close(&e->workers);
    for (int i = 0; e->strips && i < e->thread_count; i++)
        ec_strip_close(&e->strips[i]);
    free(e->strips);
    free(e->band_ends);
    ec_cpu_canny_close(&e->canny);
    free(e->times);
    free(e);
    *engine = NULL;
}

static enum ec_status cpu_engine_open(struct ec_engine **out, struct ec_device *device, const struct ec_plan *plan,
                                      int width_px, int height_px, int lanes, struct ec_error *error)
{
    *out = NULL;
    enum ec_status status = EC_ERROR_MEMORY;
    struct ec_engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        goto fail;
    const int most = (height_px + THREAD_MIN_ROWS - 1) / THREAD_MIN_ROWS;
    engine->thread_count = device->threads < most ? device->threads : most;
    engine->plan = *plan;
    engine->lanes = lanes;
    engine->times = calloc((size_t)lanes, sizeof *engine->times);
    engine->strips = calloc((size_t)engine->thread_count, sizeof(struct ec_strip *));
    engine->band_count = ec_bands_make(NULL, plan, height_px, engine->thread_count);
    engine->band_ends = calloc((size_t)engine->band_count, sizeof *engine->band_ends);
    if (!engine->times || !engine->strips || !engine->band_ends)
        goto fail;
    ec_bands_make(engine->band_ends, plan, height_px, engine->thread_count);
    if (plan->op == EC_OPERATOR_CANNY && !ec_cpu_canny_open(&engine->canny, &engine->plan, device->rows, width_px, height_px,
                                                            engine->band_ends, engine->band_count))
        goto fail;
    for (int i = 0; i < engine->thread_count; i++) {
        status = ec_strip_open(&engine->strips[i], &engine->plan, device->rows, width_px, height_px, error);
        if (status != EC_OK)
            goto fail;
    }
    status = ec_workers_open(&engine->workers, engine->thread_count, error);
    if (status != EC_OK)
        goto fail;
    *out = engine;
    return EC_OK;
fail:
    cpu_engine_close(&engine);
    return ec_fail(error, status, "there is no memory to detect edges in a %dx%d image on the CPU", width_px, height_px);
}

static void run_band(void *opaque, int worker, int band)
{
    const struct ec_engine *engine = opaque;
    const int first = band ? engine->band_ends[band - 1] : 0, end = engine->band_ends[band];
    ec_strip_run(engine->strips[worker], engine->job.in, engine->job.limited_range, engine->job.out, first, end);
}

static enum ec_status cpu_submit(struct ec_engine *engine, const struct ec_image *in, bool limited_range, struct ec_image *out,
                                 struct ec_error *error)
{
    (void)error;
    const int lane = engine->submitted;
    struct ec_job_times *times = &engine->times[lane];
    *times = (struct ec_job_times){.lane = lane};
    engine->job = (struct job){in, out, limited_range};
    times->start_ns[EC_ENGINE_COMPUTE] = ec_cpu_clock_ns();
    if (engine->canny) {
        struct ec_auto_choice choice;
        ec_cpu_canny_run(engine->canny, engine->workers, engine->strips, in, limited_range, out, &choice);
        if (engine->plan.automatic.kind != EC_AUTO_OFF)
            ec_job_tell_thresholds(times, &choice);
    } else {
        ec_workers_run(engine->workers, run_band, engine, engine->band_count);
    }
    times->end_ns[EC_ENGINE_COMPUTE] = ec_cpu_clock_ns();
    engine->submitted = (lane + 1) % engine->lanes;
    return EC_OK;
}

static enum ec_status cpu_collect(struct ec_engine *engine, struct ec_job_times *times, struct ec_error *error)
{
    (void)error;
    if (times)
        *times = engine->times[engine->collected];
    engine->collected = (engine->collected + 1) % engine->lanes;
    return EC_OK;
}

static enum ec_status cpu_measure(struct ec_device *device, size_t bytes, enum ec_measure what, struct ec_limits *out,
                                  struct ec_error *error)
{
    (void)device;
    *out = (struct ec_limits){
        .memcpy_gb_per_s = NAN, .device_copy_gb_per_s = NAN, .h2d_gb_per_s = NAN, .d2h_gb_per_s = NAN, .both_gb_per_s = NAN};
    if (what == EC_MEASURE_LINK)
        return EC_OK;
    return ec_cpu_measure_copy(bytes, &out->memcpy_gb_per_s, error);
}

const struct ec_backend ec_backend_cpu = {
    .name = "cpu",
    .examine = ec_cpu_examine,
    .open = cpu_open,
    .close = cpu_close,
    .describe = cpu_describe,
    .host_alloc = cpu_host_alloc,
    .host_free = cpu_host_free,
    .engine_open = cpu_engine_open,
    .engine_close = cpu_engine_close,
    .submit = cpu_submit,
    .collect = cpu_collect,
    .measure = cpu_measure,
    .throughput = ec_cpu_throughput,
};
