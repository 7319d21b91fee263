/* The topology, in one place:
 *
 *   source thread --> queue_in --> stage thread --> queue_out --> the calling thread: the style, then every sink in turn
 *
 * Ending runs down the same line: the source closes queue_in, the stage drains it and closes queue_out, the caller drains that
 * and completes the sinks. An error closes the ends the other way round too, so that nobody waits for a partner that is gone.
 */
#include "edgecam/pipeline.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edge/backend.h"
#include "pipeline/delivery.h"
#include "pipeline/feeder.h"
#include "pipeline/gpu_watch.h"
#include "pipeline/meters.h"
#include "pipeline/stage.h"
#include "pipeline/style.h"
#include "pipeline/surfaces.h"
#include "source/source.h"

#define DEFAULT_LANES 3
#define LIMIT_BLOCK_BYTES (3840 * 2160) /* a 4K frame */
#define DEFAULT_QUEUE_FRAMES 4
#define THREADS_MAX 1024
#define QUEUE_PACKET_BYTES (8 << 20)

struct ec_pipeline {
    struct ec_pipeline_params p;
    int gpus, lanes; /* lanes: of all GPUs */
    atomic_bool stop; /* the caller's wish */
    atomic_bool halt; /* stop, or an error somewhere: the source ends */

    const struct ec_backend *backend;
    struct ec_device *device;
    struct ec_pool *frames, *results, *pixels;
    AVBufferRef *decode_device; /* FFmpeg's view of the GPU, NULL without */
    AVBufferRef *surfaces; /* where results stay on the GPU, NULL: they come to the host */
    const struct ec_source_ops *source_ops;
    struct ec_source *source;
    struct ec_stage *stage;
    struct ec_delivery delivery;
    struct ec_queue *queue_in, *queue_out;
    struct ec_meters *meters;
    struct ec_gpu_watch *watch;
    struct ec_trace *trace;
    int depth_bits;

    struct ec_error source_error, stage_error, sink_error; /* each written by its thread, read after it was joined */
};

static enum ec_status check_params(const struct ec_pipeline_params *p, struct ec_error *error)
{
    if (!p->input || !*p->input)
        return ec_fail(error, EC_ERROR_ARGUMENT, "no input was named");
    if (!p->output && !p->display && !p->hash && !p->null_sink)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s: no output was named", p->input);
    if (p->lanes < 0 || p->lanes > EC_LANES_MAX)
        return ec_fail(error, EC_ERROR_ARGUMENT, "lanes must be 1 to %d, got %d", EC_LANES_MAX, p->lanes);
    if (p->queue_frames < 0 || p->queue_frames > EC_QUEUE_MAX)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the queue must hold 1 to %d frames, got %d", EC_QUEUE_MAX, p->queue_frames);
    if (!(p->start_s >= 0) || !(p->duration_s >= 0) || p->start_s > 1e9 || p->duration_s > 1e9)
        return ec_fail(error, EC_ERROR_ARGUMENT, "start and duration must be 0 to 1e9 seconds");
    if ((unsigned)p->decoder > EC_DECODER_NVDEC)
        return ec_fail(error, EC_ERROR_ARGUMENT, "decoder must be 0 to %d", EC_DECODER_NVDEC);
    if (p->decoder_threads < 0 || p->decoder_threads > THREADS_MAX || p->encoder_threads < 0 ||
        p->encoder_threads > THREADS_MAX)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the threads of decoder and encoder must be 0 to %d", THREADS_MAX);
    if (p->native_depth && ec_style_is_coloured(p->style.style))
        return ec_fail(error, EC_ERROR_ARGUMENT, "the style %s has 8 bits; only mask has the native depth",
                       ec_style_name(p->style.style));
    if (p->max_frames < 0 || (p->has_stream && p->stream < 0))
        return ec_fail(error, EC_ERROR_ARGUMENT, "frame count and stream index must not be negative");
    return EC_OK;
}

static int queue_frames(const struct ec_pipeline *l)
{
    return l->p.queue_frames ? l->p.queue_frames : l->p.device.low_latency ? 1 : DEFAULT_QUEUE_FRAMES;
}

/* One in each lane, one in the source's hand, one in the stage's. */
static int frames_outside_queue(const struct ec_pipeline *l)
{
    return l->lanes + 2;
}

static enum ec_status open_source(struct ec_pipeline *l, struct ec_error *error)
{
    struct ec_source_env env = {.pool = l->frames, .stop = &l->halt, .logger = l->p.logger};
    if (l->backend->decode_device && l->p.decoder != EC_DECODER_CPU) {
        struct ec_error why = {0};
        l->decode_device = l->backend->decode_device(l->device, &why);
        if (!l->decode_device && l->p.decoder == EC_DECODER_NVDEC)
            return ec_fail(error, EC_ERROR_DEVICE, "%s", why.text);
    }
    env.decode_device = l->decode_device;
    env.least_device_frames = frames_outside_queue(l) + 1;
    env.device_frames = frames_outside_queue(l) + queue_frames(l);
    l->source_ops = ec_source_find(l->p.input);
    return l->source_ops->open(&l->source, &l->p, &env, error);
}

static enum ec_status open_stage(struct ec_pipeline *l, const struct ec_stream_info *info, struct ec_error *error)
{
    struct ec_edge_params edge = l->p.edge;
    edge.output_depth_bits = l->p.native_depth ? 0 : 8;
    struct ec_plan *plan = malloc(sizeof *plan);
    if (!plan)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    enum ec_status status = ec_plan_make(plan, &edge, info->depth_bits, error);
    l->depth_bits = plan->output_depth_bits;
    if (status == EC_OK) {
        const struct ec_stage_params params = {
            .backend = l->backend,
            .device = l->device,
            .plan = plan,
            .width_px = info->width_px,
            .height_px = info->height_px,
            .time_base = info->time_base,
            .lanes = l->lanes,
            .luma_raw = l->p.luma_raw,
            .fall_back = l->p.device.backend == EC_BACKEND_AUTO && l->backend != &ec_backend_cpu,
            .threads = l->p.device.threads,
            .results = l->results,
            .meters = l->meters,
            .trace = l->trace,
            .halt = &l->halt,
            .logger = l->p.logger,
        };
        status = ec_stage_open(&l->stage, &params, error);
    }
    free(plan);
    return status;
}

/* Before the source has anything ready: a frame that waited meanwhile would look late. */
static enum ec_status measure_limits(struct ec_pipeline *l, struct ec_error *error)
{
    struct ec_limits limits;
    const enum ec_status status = l->backend->measure(l->device, LIMIT_BLOCK_BYTES, EC_MEASURE_ALL, &limits, error);
    if (status == EC_OK)
        ec_meters_limits(l->meters, &limits);
    return status;
}

/* With the places for the results: surfaces that the sinks take, or host memory. */
static enum ec_status open_delivery(struct ec_pipeline *l, const struct ec_stream_info *info, struct ec_error *error)
{
    const bool taken_over = strcmp(ec_stage_backend(l->stage), l->backend->name) != 0;
    const struct ec_surfaces_params params = {
        .run = &l->p,
        .info = info,
        .backend = taken_over ? &ec_backend_cpu : l->backend,
        .device = l->device,
        .gpus = l->gpus,
        .depth_bits = l->depth_bits,
        .count = queue_frames(l) + l->lanes + 2, /* one in the stage's hand, one in the sink's */
    };
    l->surfaces = ec_surfaces_open(&params);
    l->delivery =
        (struct ec_delivery){.params = &l->p, .meters = l->meters, .trace = l->trace, .pixels = l->pixels, .halt = &l->halt};
    const enum ec_status status = ec_delivery_open(&l->delivery, info, l->depth_bits, l->surfaces, error);
    if (status != EC_OK)
        return status;
    if (!ec_delivery_takes_surfaces(&l->delivery))
        av_buffer_unref(&l->surfaces);
    ec_stage_prepare(l->stage, l->surfaces);
    return EC_OK;
}

static void advise(struct ec_pipeline *l)
{
    const bool on_gpu = l->backend == &ec_backend_cuda;
    const struct ec_advice advice = {
        .source = l->source_ops->advice(l->source),
        .compute = on_gpu ? "The detector is the slowest part: a smaller kernel or a faster GPU would help."
                          : "The detector is the slowest part: a smaller kernel, more cores or a GPU would help.",
        .sink = ec_delivery_advice(&l->delivery),
    };
    ec_meters_advise(l->meters, &advice);
}

static enum ec_status open_parts(struct ec_pipeline *l, struct ec_error *error)
{
    enum ec_status status = ec_style_check(&l->p.style, error);
    if (status == EC_OK)
        status = check_params(&l->p, error);
    if (status == EC_OK)
        status = ec_backend_open(&l->backend, &l->device, &l->p.device, &l->p.logger, error);
    if (status != EC_OK)
        return status;

    struct ec_device_info device;
    l->backend->describe(l->device, &device);
    l->gpus = device.gpu_count > 1 ? device.gpu_count : 1;
    l->lanes = l->gpus * (l->p.lanes ? l->p.lanes : l->p.device.low_latency ? 1 : DEFAULT_LANES);
    if (l->p.trace)
        status = ec_trace_open(&l->trace, l->p.trace, l->p.input, l->lanes, l->gpus, error);
    if (status != EC_OK)
        return status;
    l->meters = ec_meters_open();
    l->frames = ec_pool_open(l->backend, l->device);
    l->results = ec_pool_open(l->backend, l->device);
    l->pixels = ec_pool_open(&ec_backend_cpu, NULL);
    if (!l->meters || !l->frames || !l->results || !l->pixels)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    /* The engines that the limits are for are the GPU's. */
    if (l->p.measure_limits && l->backend == &ec_backend_cuda)
        status = measure_limits(l, error);
    if (status == EC_OK)
        status = open_source(l, error);
    if (status != EC_OK)
        return status;

    const struct ec_stream_info *info = l->source_ops->info(l->source);
    const int frames = info->live ? 1 : queue_frames(l);
    const int lent = info->device_frames > 0 ? info->device_frames - frames_outside_queue(l) : frames;
    l->queue_in = ec_queue_open(lent < frames ? lent : frames, QUEUE_PACKET_BYTES, info->live);
    l->queue_out = ec_queue_open(frames, QUEUE_PACKET_BYTES, false);
    if (!l->queue_in || !l->queue_out)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    status = open_stage(l, info, error);
    if (status == EC_OK)
        status = open_delivery(l, info, error);
    if (status == EC_OK)
        advise(l);
    if (status == EC_OK && l->backend == &ec_backend_cuda)
        l->watch = ec_gpu_watch_open(&device, l->meters);
    return status;
}

enum ec_status ec_pipeline_open(struct ec_pipeline **out, const struct ec_pipeline_params *params)
{
    *out = NULL;
    struct ec_error error = {0};
    struct ec_pipeline *l = calloc(1, sizeof *l);
    enum ec_status status = EC_ERROR_MEMORY;
    if (l) {
        l->p = *params;
        status = open_parts(l, &error);
    }
    if (status != EC_OK) {
        ec_log(&params->logger, EC_LOG_ERROR, "%s", error.text[0] ? error.text : ec_status_text(status));
        ec_pipeline_close(&l);
    }
    *out = l;
    return status;
}

void ec_pipeline_close(struct ec_pipeline **pipeline)
{
    struct ec_pipeline *l = *pipeline;
    if (!l)
        return;
    ec_gpu_watch_close(&l->watch);
    ec_trace_close(&l->trace, NULL);
    ec_delivery_close(&l->delivery);
    ec_stage_close(&l->stage);
    ec_queue_free(&l->queue_in);
    ec_queue_free(&l->queue_out);
    av_buffer_unref(&l->surfaces);
    if (l->source)
        l->source_ops->close(&l->source);
    av_buffer_unref(&l->decode_device);
    ec_pool_close(&l->frames);
    ec_pool_close(&l->results);
    ec_pool_close(&l->pixels);
    ec_meters_free(&l->meters);
    if (l->device)
        l->backend->close(&l->device);
    free(l);
    *pipeline = NULL;
}

void ec_pipeline_stop(struct ec_pipeline *l)
{
    atomic_store(&l->stop, true);
    atomic_store(&l->halt, true);
}

void ec_pipeline_abandon(struct ec_pipeline *l)
{
    ec_delivery_abandon(&l->delivery);
}

static void *source_main(void *opaque)
{
    struct ec_pipeline *l = opaque;
    const struct ec_feeder_params params = {
        .ops = l->source_ops,
        .source = l->source,
        .max_frames = l->source_ops->info(l->source)->live ? 0 : l->p.max_frames, /* see ec_delivery */
        .realtime = l->p.realtime,
        .meters = l->meters,
        .trace = l->trace,
        .halt = &l->halt,
    };
    ec_feeder_run(&params, l->queue_in, &l->source_error);
    return NULL;
}

static void *stage_main(void *opaque)
{
    struct ec_pipeline *l = opaque;
    if (ec_stage_run(l->stage, l->queue_in, l->queue_out, &l->stage_error) != EC_OK)
        atomic_store(&l->halt, true);
    return NULL;
}

/* What the run comes to, once every thread has ended. */
static enum ec_status conclude(struct ec_pipeline *l, enum ec_status sinks)
{
    const struct ec_logger *log = &l->p.logger;
    const bool quit = l->delivery.quit;
    struct ec_stats s;
    ec_pipeline_stats(l, &s);
    if (sinks != EC_OK) {
        if (sinks != EC_STOPPED)
            ec_log(log, EC_LOG_ERROR, "%s", l->sink_error.text);
        return sinks;
    }
    if (l->stage_error.status != EC_OK) {
        ec_log(log, EC_LOG_ERROR, "%s: %s", l->p.input, l->stage_error.text);
        return l->stage_error.status;
    }
    if (l->source_error.status != EC_OK)
        ec_log(log, EC_LOG_ERROR, "%s", l->source_error.text);
    if (s.frames_out == 0) {
        const bool stopped = atomic_load(&l->stop) || quit;
        if (!stopped && l->source_error.status == EC_OK)
            ec_log(log, EC_LOG_ERROR, "%s: no frames came", l->p.input);
        return atomic_load(&l->stop) ? EC_STOPPED : quit ? EC_OK : EC_ERROR_FRAMES;
    }
    const enum ec_status finished = ec_delivery_finish(&l->delivery, &l->sink_error);
    if (finished != EC_OK) {
        if (finished != EC_STOPPED)
            ec_log(log, EC_LOG_ERROR, "%s", l->sink_error.text);
        return finished;
    }
    if (atomic_load(&l->stop))
        return EC_STOPPED;
    if (s.frames_damaged > 0)
        ec_log(log, EC_LOG_WARNING, "%s: %lld frame%s lost or damaged", l->p.input, (long long)s.frames_damaged,
               s.frames_damaged == 1 ? " was" : "s were");
    return s.frames_damaged > 0 || l->source_error.status != EC_OK ? EC_ERROR_FRAMES : EC_OK;
}

enum ec_status ec_pipeline_run(struct ec_pipeline *l)
{
    pthread_t source, stage;
    ec_meters_start(l->meters);
    if (pthread_create(&source, NULL, source_main, l) != 0) {
        ec_log(&l->p.logger, EC_LOG_ERROR, "%s: cannot start a thread", l->p.input);
        return EC_ERROR_MEMORY;
    }
    enum ec_status status = EC_OK;
    if (pthread_create(&stage, NULL, stage_main, l) == 0) {
        status = ec_delivery_run(&l->delivery, l->queue_out, &l->sink_error);
        if (status != EC_OK)
            atomic_store(&l->halt, true);
        ec_queue_close_output(l->queue_out);
        pthread_join(stage, NULL);
    } else {
        status = ec_fail(&l->sink_error, EC_ERROR_MEMORY, "%s: cannot start a thread", l->p.input);
        atomic_store(&l->halt, true);
        ec_queue_close_output(l->queue_in);
    }
    pthread_join(source, NULL);
    status = conclude(l, status);
    struct ec_error trace_error = {0};
    if (ec_trace_close(&l->trace, &trace_error) != EC_OK) {
        ec_log(&l->p.logger, EC_LOG_ERROR, "%s", trace_error.text);
        status = status == EC_OK ? trace_error.status : status;
    }
    ec_meters_end(l->meters);
    return status;
}

/* getrusage's peak is also that of the program that started this one, up to the moment it did. */
static int64_t peak_bytes(void)
{
    char line[128];
    long long kib = -1;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lld kB", &kib) != 1)
            kib = -1;
    if (file)
        fclose(file);
    return kib < 0 ? -1 : kib * 1024;
}

void ec_pipeline_stats(struct ec_pipeline *l, struct ec_stats *out)
{
    *out = (struct ec_stats){0};
    const struct ec_stream_info *info = l->source_ops->info(l->source);
    ec_meters_read(l->meters, l->queue_in, l->queue_out, out);
    struct ec_device_info device;
    l->backend->describe(l->device, &device);
    snprintf(out->backend, sizeof out->backend, "%s", ec_stage_backend(l->stage));
    /* After a take-over the device that was opened is not the one that works. */
    if (strcmp(out->backend, l->backend->name) == 0)
        snprintf(out->device, sizeof out->device, "%s", device.name);
    out->width_px = info->width_px;
    out->height_px = info->height_px;
    out->depth_bits = l->depth_bits;
    out->frames_damaged = l->source_ops->damaged(l->source);
    out->frames_expected = info->frames;
    out->duration_s = isnan(info->end_s) ? info->duration_s : info->end_s;
    memcpy(out->gpu.name, device.name, sizeof out->gpu.name);
    memcpy(out->gpu.driver, device.driver, sizeof out->gpu.driver);
    memcpy(out->gpu.pcie, device.pcie, sizeof out->gpu.pcie);
    out->gpu.count = device.gpu_count;
    out->gpu.lanes = l->lanes / l->gpus;
    out->pinned_bytes = device.pinned_bytes;
    out->rss_peak_bytes = peak_bytes();
}
