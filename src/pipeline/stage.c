#include "pipeline/stage.h"

#include <libavcodec/avcodec.h>
#include <libavutil/hwcontext.h>
#include <stdlib.h>

#include "edge/packed.h"
#include "edgecam/pipeline.h"
#include "pipeline/range.h"

/* A frame in flight: the source it reads and the result it writes. */
struct job {
    struct ec_frame in;
    struct ec_frame out;
};

struct ec_stage {
    struct ec_stage_params p;
    struct ec_plan plan;
    _Atomic(const char *) backend_name;
    struct ec_device *own_device; /* the CPU that took over, else NULL */
    struct ec_engine *engine;
    AVBufferRef *surfaces; /* not owned; NULL: results go into host memory */
    struct job jobs[EC_IN_FLIGHT_MAX]; /* a ring in submission order */
    int first, count;
    int64_t begin_ns, wait_ns;
};

static size_t result_pitch(const struct ec_stage *s)
{
    if (s->plan.packed)
        return (size_t)ec_packed_row_bytes(s->p.width_px);
    const size_t row = (size_t)s->p.width_px * (s->plan.output_depth_bits > 8 ? 2 : 1);
    return (row + 63) & ~(size_t)63;
}

static void job_release(struct job *job)
{
    av_buffer_unref(&job->in.owner);
    av_buffer_unref(&job->out.owner);
    av_frame_free(&job->out.picture);
    av_frame_free(&job->out.surface);
}

static struct job *job_at(struct ec_stage *s, int i)
{
    return &s->jobs[(s->first + i) % EC_IN_FLIGHT_MAX];
}

static enum ec_status submit_job(struct ec_stage *s, struct job *job, struct ec_error *error)
{
    return s->p.backend->submit(s->engine, &job->in.image, job->in.limited_range && !s->p.luma_raw, &job->out.image, error);
}

static enum ec_status collect_job(struct ec_stage *s, struct ec_job_times *times, struct ec_error *error)
{
    ec_range_begin("collect");
    const enum ec_status status = s->p.backend->collect(s->engine, times, error);
    ec_range_end();
    return status;
}

static enum ec_status give_surface(const struct ec_stage *s, struct job *job, struct ec_error *error)
{
    AVFrame *surface = job->out.surface = av_frame_alloc();
    if (!surface || av_hwframe_get_buffer(s->surfaces, surface, 0) < 0)
        return ec_fail(error, EC_ERROR_DEVICE, "the GPU has no memory for another result of %dx%d", s->p.width_px,
                       s->p.height_px);
    job->out.image = (struct ec_image){.data = surface->data[0],
                                       .width_px = s->p.width_px,
                                       .height_px = s->p.height_px,
                                       .pitch_bytes = surface->linesize[0],
                                       .depth_bits = 8,
                                       .memory = EC_MEMORY_DEVICE};
    return EC_OK;
}

/* A new place for the job's result. */
static enum ec_status give_result(const struct ec_stage *s, struct job *job, struct ec_error *error)
{
    if (s->surfaces)
        return give_surface(s, job, error);
    const size_t pitch = result_pitch(s);
    av_buffer_unref(&job->out.owner);
    job->out.owner = ec_pool_get(s->p.results, pitch * (size_t)s->p.height_px);
    if (!job->out.owner)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for a result of %dx%d", s->p.width_px, s->p.height_px);
    job->out.image = (struct ec_image){.data = job->out.owner->data,
                                       .width_px = s->p.width_px,
                                       .height_px = s->p.height_px,
                                       .pitch_bytes = (ptrdiff_t)pitch,
                                       .depth_bits = s->plan.packed ? 1 : s->plan.output_depth_bits};
    return EC_OK;
}

/* The device failed: every frame in flight is run again, in order, by the CPU. Results are whole frames, so what the device may
 * have left in them is overwritten. */
static enum ec_status take_over(struct ec_stage *s, struct ec_error *error)
{
    if (!s->p.fall_back || s->own_device || s->surfaces)
        return error->status;
    ec_log(&s->p.logger, EC_LOG_WARNING, "%s; the CPU takes over", error->text);
    *error = (struct ec_error){0};
    s->p.backend->engine_close(&s->engine);
    s->p.backend = &ec_backend_cpu;
    const bool other_results = s->plan.packed;
    s->plan.packed = false;
    atomic_store(&s->backend_name, s->p.backend->name);
    const struct ec_device_params params = {.backend = EC_BACKEND_CPU, .threads = s->p.threads};
    enum ec_status status = s->p.backend->open(&s->own_device, &params, &s->p.logger, error);
    if (status == EC_OK)
        status =
            s->p.backend->engine_open(&s->engine, s->own_device, &s->plan, s->p.width_px, s->p.height_px, s->p.lanes, error);
    for (int i = 0; status == EC_OK && i < s->count; i++) {
        if (other_results)
            status = give_result(s, job_at(s, i), error);
        if (status == EC_OK)
            status = submit_job(s, job_at(s, i), error);
    }
    return status;
}

/* Page-locking memory takes milliseconds: the results of as many frames as are in flight are there before the first one. */
static void fill_ring(const struct ec_stage *s)
{
    AVBufferRef *results[EC_IN_FLIGHT_MAX];
    for (int i = 0; i < s->p.lanes; i++)
        results[i] = ec_pool_get(s->p.results, result_pitch(s) * (size_t)s->p.height_px);
    for (int i = 0; i < s->p.lanes; i++)
        av_buffer_unref(&results[i]);
}

enum ec_status ec_stage_open(struct ec_stage **out, const struct ec_stage_params *params, struct ec_error *error)
{
    *out = NULL;
    struct ec_stage *s = calloc(1, sizeof *s);
    if (!s)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the detector stage");
    s->p = *params;
    s->plan = *params->plan;
    s->plan.packed = s->p.backend == &ec_backend_cuda && ec_plan_is_binary(&s->plan);
    atomic_store(&s->backend_name, s->p.backend->name);
    enum ec_status status =
        s->p.backend->engine_open(&s->engine, s->p.device, &s->plan, s->p.width_px, s->p.height_px, s->p.lanes, error);
    if (status != EC_OK && status != EC_ERROR_ARGUMENT)
        status = take_over(s, error);
    if (status != EC_OK)
        ec_stage_close(&s);
    *out = s;
    return status;
}

void ec_stage_prepare(struct ec_stage *s, AVBufferRef *surfaces)
{
    s->surfaces = surfaces;
    if (!surfaces)
        fill_ring(s);
}

const char *ec_stage_backend(const struct ec_stage *s)
{
    return atomic_load(&s->backend_name);
}

void ec_stage_close(struct ec_stage **stage)
{
    struct ec_stage *s = *stage;
    if (!s)
        return;
    if (s->engine)
        s->p.backend->engine_close(&s->engine);
    for (int i = 0; i < s->count; i++)
        job_release(job_at(s, i));
    if (s->own_device)
        ec_backend_cpu.close(&s->own_device);
    free(s);
    *stage = NULL;
}

static void tell(struct ec_stage *s)
{
    ec_meters_stage(s->p.meters, EC_STAGE_STAGE, ec_now_ns() - s->begin_ns - s->wait_ns, s->wait_ns);
}

/* Starts the frame and takes it over from *frame. */
static enum ec_status start(struct ec_stage *s, struct ec_frame *frame, struct ec_error *error)
{
    struct job *job = job_at(s, s->count);
    const int64_t from_ns = ec_now_ns(), index = frame->index;
    ec_trace_span(s->p.trace, EC_TRACK_QUEUE_IN, "waiting", index, frame->queued_ns, from_ns);
    job->in = *frame;
    job->in.image.time_ns = av_rescale_q(frame->pts, s->p.time_base, (AVRational){1, 1000000000});
    job->out = *frame;
    job->in.picture = NULL; /* it goes with the result */
    job->out.owner = NULL;
    job->out.limited_range = false;
    *frame = (struct ec_frame){0};
    s->count++;
    if (give_result(s, job, error))
        return error->status;
    const enum ec_status status = submit_job(s, job, error);
    ec_trace_span(s->p.trace, EC_TRACK_STAGE, "submit", index, from_ns, ec_now_ns());
    return status == EC_ERROR_DEVICE ? take_over(s, error) : status;
}

static void trace_job(struct ec_stage *s, int64_t frame, const struct ec_job_times *t)
{
    static const char *const names[] = {"upload", "compute", "download"};
    int64_t start = INT64_MAX, end = 0;
    for (int e = 0; e < 3; e++) {
        if (!t->start_ns[e] && !t->end_ns[e])
            continue;
        ec_trace_span(s->p.trace, ec_track_engine(t->gpu, e), names[e], frame, t->start_ns[e], t->end_ns[e]);
        start = t->start_ns[e] < start ? t->start_ns[e] : start;
        end = t->end_ns[e] > end ? t->end_ns[e] : end;
    }
    if (end > 0)
        ec_trace_span(s->p.trace, EC_TRACK_LANE + t->lane, "frame", frame, start, end);
    if (t->has_thresholds)
        ec_trace_thresholds(s->p.trace, t->low, t->high, end > 0 ? end : ec_now_ns());
}

/* A frame that left the device and waits to be handed on. */
struct done {
    bool pending;
    int64_t from_ns; /* when the thread began to wait for it */
    struct ec_frame out;
    struct ec_job_times times;
};

/* Waits for the oldest frame in flight. */
static enum ec_status finish(struct ec_stage *s, struct done *done, struct ec_error *error)
{
    *done = (struct done){.from_ns = ec_now_ns()};
    enum ec_status status = collect_job(s, &done->times, error);
    if (status == EC_ERROR_DEVICE) {
        status = take_over(s, error);
        if (status == EC_OK)
            status = collect_job(s, &done->times, error);
    }
    if (status != EC_OK)
        return status;
    struct job *job = job_at(s, 0);
    done->out = job->out;
    done->pending = true;
    job->out.owner = NULL;
    job->out.picture = job->out.surface = NULL;
    job_release(job);
    s->first = (s->first + 1) % EC_IN_FLIGHT_MAX;
    s->count--;
    return EC_OK;
}

/* False when the output queue takes no more. */
static bool hand_on(struct ec_stage *s, struct ec_queue *out, struct done *done)
{
    ec_meters_job(s->p.meters, &done->times, s->p.lanes);
    trace_job(s, done->out.index, &done->times);
    ec_trace_span(s->p.trace, EC_TRACK_STAGE, "collect", done->out.index, done->from_ns, ec_now_ns());
    struct ec_item item = {.kind = EC_ITEM_FRAME, .frame = done->out};
    *done = (struct done){0};
    const bool taken = ec_queue_push(out, &item, &s->wait_ns);
    ec_item_release(&item);
    tell(s);
    return taken;
}

/* A lane that became free gets its next frame first and the one that left it is handed on then: the device does not wait for
 * what the queue and its reader take. */
enum ec_status ec_stage_run(struct ec_stage *s, struct ec_queue *in, struct ec_queue *out, struct ec_error *error)
{
    enum ec_status status = EC_OK;
    bool taken = true, open = true;
    struct done done = {0};
    s->begin_ns = ec_now_ns();
    while (status == EC_OK && taken && (open || s->count > 0 || done.pending)) {
        struct ec_item item = {0};
        if (open && s->count < s->p.lanes) {
            /* With work at hand a look is enough: a waiting frame keeps the lanes full, otherwise the oldest is handed on. */
            const bool look = s->count > 0 || done.pending;
            const enum ec_queue_result r = ec_queue_pop(in, &item, look ? 0 : -1, &s->wait_ns);
            open = r != EC_QUEUE_CLOSED;
        }
        const enum ec_item_kind kind = item.kind;
        if (kind == EC_ITEM_PACKET)
            taken = ec_queue_push(out, &item, &s->wait_ns);
        else if (kind == EC_ITEM_FRAME && !atomic_load(s->p.halt))
            status = start(s, &item.frame, error);
        ec_item_release(&item);
        if (done.pending)
            taken = hand_on(s, out, &done) && taken;
        else if (kind == EC_ITEM_NONE && s->count > 0 && status == EC_OK)
            status = finish(s, &done, error);
    }
    struct ec_item left = {.kind = EC_ITEM_FRAME, .frame = done.out};
    ec_item_release(&left);
    tell(s);
    ec_queue_close_output(in);
    ec_queue_close_input(out);
    return status;
}
