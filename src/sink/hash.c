/* The hash sink: one line a frame on standard output, "INDEX SECONDS MD5". The MD5 is that of the plane's rows without padding,
 * two bytes a pixel (low byte first) above 8 bits; of a styled picture RGB, or RGBA, bytes. Every line is flushed, so that a
 * reader sees frames as they come. */
#include <errno.h>
#include <inttypes.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/md5.h>
#include <libavutil/mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/style.h"
#include "sink/sink.h"

struct ec_sink {
    AVRational time_base;
    struct AVMD5 *md5;
    uint8_t *row; /* one row, low byte first */
    int width_px, pixel_bytes; /* of a styled picture */
};

static void hash_close(struct ec_sink **sink)
{
    struct ec_sink *s = *sink;
    if (!s)
        return;
    av_free(s->md5);
    free(s->row);
    free(s);
    *sink = NULL;
}

static enum ec_status hash_open(struct ec_sink **out, const struct ec_pipeline_params *params,
                                const struct ec_stream_info *info, const struct ec_results *results, struct ec_error *error)
{
    *out = NULL;
    struct ec_sink *s = calloc(1, sizeof *s);
    if (!s)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    s->time_base = info->time_base;
    s->width_px = info->width_px;
    s->pixel_bytes = ec_style_has_alpha(params->style.style) ? 4 : 3;
    s->md5 = av_md5_alloc();
    s->row = results->depth_bits > 8 ? malloc((size_t)info->width_px * 2) : NULL;
    if (!s->md5 || (results->depth_bits > 8 && !s->row)) {
        hash_close(&s);
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    }
    *out = s;
    return EC_OK;
}

static void add_row(struct ec_sink *s, const struct ec_image *image, const uint8_t *row)
{
    if (image->depth_bits == 8) {
        av_md5_update(s->md5, row, (size_t)image->width_px);
        return;
    }
    const uint16_t *values = (const void *)row;
    for (int x = 0; x < image->width_px; x++)
        AV_WL16(s->row + 2 * (size_t)x, values[x]);
    av_md5_update(s->md5, s->row, (size_t)image->width_px * 2);
}

/* A reader that has gone is no error: it has seen enough. */
static enum ec_status write_failed(struct ec_error *error)
{
    return errno == EPIPE ? EC_STOPPED
                          : ec_fail(error, EC_ERROR_OUTPUT, "cannot write the hashes to standard output: %s", strerror(errno));
}

static enum ec_status hash_frame(struct ec_sink *s, const struct ec_frame *frame, struct ec_error *error)
{
    const uint8_t *row = frame->image.data;
    const AVFrame *look = frame->look;
    uint8_t digest[16];
    char text[33];
    av_md5_init(s->md5);
    const size_t look_bytes = (size_t)s->width_px * (size_t)s->pixel_bytes;
    for (int y = 0; y < frame->image.height_px; y++, row += frame->image.pitch_bytes) {
        if (look)
            av_md5_update(s->md5, look->data[0] + (ptrdiff_t)y * look->linesize[0], look_bytes);
        else
            add_row(s, &frame->image, row);
    }
    av_md5_final(s->md5, digest);
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    const double seconds = (double)frame->pts * av_q2d(s->time_base);
    if (printf("%" PRId64 " %.6f %s\n", frame->index, seconds, text) < 0 || fflush(stdout))
        return write_failed(error);
    return EC_OK;
}

static enum ec_status hash_finish(struct ec_sink *s, int64_t deadline_ns, int64_t *given_up, struct ec_error *error)
{
    (void)deadline_ns;
    (void)given_up;
    (void)s;
    return fflush(stdout) ? write_failed(error) : EC_OK;
}

static const char *hash_advice(const struct ec_sink *s)
{
    (void)s;
    return "Hashing is the slowest part: it takes one core and every byte; --null looks at none.";
}

const struct ec_sink_ops ec_sink_hash = {
    .name = "hash", .open = hash_open, .frame = hash_frame, .finish = hash_finish, .advice = hash_advice, .close = hash_close};
