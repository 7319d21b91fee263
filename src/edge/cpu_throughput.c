#include "edge/cpu_throughput.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "edge/cpu_probe.h"

#define REPETITIONS 15
#define BUFFERS_MAX 64
/* A repetition lasts about this long. */
#define REPETITION_NS 20000000
#define FRAMES_MAX 2000

struct setting {
    struct ec_engine *engine;
    int buffers;
    size_t in_bytes, out_bytes, copy_bytes;
    struct ec_image in[BUFFERS_MAX], out[BUFFERS_MAX];
};

static void copy_plane(char *out, size_t row, const struct ec_image *content, int channel)
{
    const char *in = (const char *)content->data + channel * content->plane_bytes;
    for (int y = 0; y < content->height_px; y++)
        memcpy(out + (size_t)y * row, in + y * content->pitch_bytes, row);
}

static bool open_buffers(struct setting *s, struct ec_device *device, const struct ec_plan *plan,
                         const struct ec_image *content)
{
    const size_t in_row = (size_t)content->width_px * (plan->depth_bits > 8 ? 2 : 1);
    const size_t out_row = (size_t)content->width_px * (plan->output_depth_bits > 8 ? 2 : 1);
    const size_t in_plane = in_row * (size_t)content->height_px;
    s->in_bytes = in_plane * (size_t)plan->channels;
    s->out_bytes = out_row * (size_t)content->height_px;
    s->copy_bytes = (s->in_bytes + s->out_bytes) / 2;
    const size_t wanted = ec_cpu_rotation_bytes() / s->copy_bytes + 1;
    const int buffers = wanted < 2 ? 2 : wanted > BUFFERS_MAX ? BUFFERS_MAX : (int)wanted;
    for (int i = 0; i < buffers; i++) {
        s->in[i] = s->out[i] = *content;
        s->in[i].pitch_bytes = (ptrdiff_t)in_row;
        s->in[i].plane_bytes = plan->channels > 1 ? (ptrdiff_t)in_plane : 0;
        s->out[i].plane_bytes = 0;
        s->out[i].pitch_bytes = (ptrdiff_t)out_row;
        s->out[i].depth_bits = plan->output_depth_bits;
        s->in[i].data = ec_backend_cpu.host_alloc(device, s->in_bytes > s->copy_bytes ? s->in_bytes : s->copy_bytes);
        s->out[i].data = ec_backend_cpu.host_alloc(device, s->out_bytes > s->copy_bytes ? s->out_bytes : s->copy_bytes);
        s->buffers = i + 1;
        if (!s->in[i].data || !s->out[i].data)
            return false;
        for (int c = 0; c < plan->channels; c++)
            copy_plane((char *)s->in[i].data + (size_t)c * in_plane, in_row, content, c);
        memset(s->out[i].data, 0, s->out_bytes);
    }
    return true;
}

static void close_buffers(struct setting *s, struct ec_device *device)
{
    for (int i = 0; i < s->buffers; i++) {
        ec_backend_cpu.host_free(device, s->in[i].data, s->in_bytes);
        ec_backend_cpu.host_free(device, s->out[i].data, s->out_bytes);
    }
}

static enum ec_status run_frame(struct setting *s, int i, struct ec_error *error)
{
    const enum ec_status status = ec_backend_cpu.submit(s->engine, &s->in[i], false, &s->out[i], error);
    return status != EC_OK ? status : ec_backend_cpu.collect(s->engine, NULL, error);
}

static enum ec_status run_copy(struct setting *s, int i, struct ec_error *error)
{
    (void)error;
    memcpy(s->out[i].data, s->in[i].data, s->copy_bytes);
    return EC_OK;
}

typedef enum ec_status work(struct setting *s, int i, struct ec_error *error);

static enum ec_status time_frames(struct setting *s, work *run, int buffers, int frames, struct ec_spread *out_us,
                                  struct ec_error *error)
{
    double us[REPETITIONS];
    enum ec_status status = EC_OK;
    for (int n = -1; n < REPETITIONS; n++) { /* the first round only warms up */
        const int64_t start_ns = ec_cpu_clock_ns();
        for (int i = 0; i < frames && status == EC_OK; i++)
            status = run(s, i % buffers, error);
        if (status != EC_OK)
            return status;
        if (n >= 0)
            us[n] = (double)(ec_cpu_clock_ns() - start_ns) * 1e-3 / frames;
    }
    *out_us = ec_spread_of(us, REPETITIONS);
    return EC_OK;
}

/* So many frames as last REPETITION_NS. */
static enum ec_status count_frames(struct setting *s, int *frames, struct ec_error *error)
{
    enum ec_status status = run_frame(s, 0, error);
    const int64_t start_ns = ec_cpu_clock_ns();
    if (status == EC_OK)
        status = run_frame(s, 1, error);
    const int64_t one_ns = ec_cpu_clock_ns() - start_ns;
    const int64_t wanted = REPETITION_NS / (one_ns > 0 ? one_ns : 1) + 1;
    *frames = wanted > FRAMES_MAX ? FRAMES_MAX : (int)wanted;
    return status;
}

enum ec_status ec_cpu_throughput(struct ec_device *device, const struct ec_plan *plan, const struct ec_image *content,
                                 struct ec_throughput *out, struct ec_error *error)
{
    static const struct ec_spread none = {NAN, NAN, NAN};
    struct setting *s = calloc(1, sizeof *s);
    *out = (struct ec_throughput){.parallel = {none, none}, .repetitions = REPETITIONS};
    enum ec_status status = EC_ERROR_MEMORY;
    if (!s || !open_buffers(s, device, plan, content))
        goto fail;
    status = ec_backend_cpu.engine_open(&s->engine, device, plan, content->width_px, content->height_px, 1, error);
    if (status == EC_OK)
        status = count_frames(s, &out->frames, error);
    if (status == EC_OK)
        status = time_frames(s, run_frame, s->buffers, out->frames, &out->serial.frame_us, error);
    if (status == EC_OK)
        status = time_frames(s, run_copy, s->buffers, out->frames, &out->serial.copy_us, error);
    if (status == EC_OK)
        status = time_frames(s, run_frame, 1, out->frames, &out->cached.frame_us, error);
    if (status == EC_OK)
        status = time_frames(s, run_copy, 1, out->frames, &out->cached.copy_us, error);
    out->frame_bytes = (int64_t)(s->in_bytes + s->out_bytes);
    out->in_bytes = (int64_t)s->in_bytes;
    out->buffers = s->buffers;
fail:
    if (s) {
        ec_backend_cpu.engine_close(&s->engine);
        close_buffers(s, device);
    }
    free(s);
    return status == EC_OK
               ? EC_OK
               : ec_fail(error, status, "there is no memory to measure frames of %dx%d", content->width_px, content->height_px);
}
