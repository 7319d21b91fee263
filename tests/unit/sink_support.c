#include "sink_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libavcodec/avcodec.h>
#include <libavutil/md5.h>
#include <libavutil/mem.h>
#include <math.h>
#include <unistd.h>

static void take_message(void *opaque, enum ec_log_level level, const char *text)
{
    struct ground *g = opaque;
    const size_t used = strlen(g->log);
    if (level <= EC_LOG_NOTICE)
        snprintf(g->log + used, sizeof g->log - used, "%s\n", text);
}

int ground_setup(void **state)
{
    struct ground *g = calloc(1, sizeof *g);
    assert_non_null(g);
    snprintf(g->directory, sizeof g->directory, "/tmp/edgecam-sink-XXXXXX");
    assert_non_null(mkdtemp(g->directory));
    g->params.input = "pattern";
    g->params.logger = (struct ec_logger){take_message, g};
    g->info = (struct ec_stream_info){.name = "pattern",
                                      .width_px = 32,
                                      .height_px = 24,
                                      .depth_bits = 8,
                                      .pixel_aspect = {1, 1},
                                      .time_base = {1, 1000},
                                      .frame_rate = {25, 1},
                                      .duration_s = NAN,
                                      .frames = -1,
                                      .primaries = AVCOL_PRI_UNSPECIFIED,
                                      .transfer = AVCOL_TRC_UNSPECIFIED,
                                      .video_stream = -1,
                                      .end_s = NAN};
    g->depth_bits = 8;
    av_log_set_level(AV_LOG_QUIET);
    *state = g;
    return 0;
}

int ground_teardown(void **state)
{
    struct ground *g = *state;
    shell(g, "rm -rf '%s'", g->directory);
    avformat_close_input(&g->input);
    free(g);
    return 0;
}

void ground_output(struct ground *g, const char *name)
{
    snprintf(g->output, sizeof g->output, "%s/%s", g->directory, name);
    g->params.output = g->output;
}

void ground_input(struct ground *g, const char *name, const char *arguments)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", g->directory, name);
    assert_shell(g, "", "ffmpeg -v error -y %s '%s' 2>&1", arguments, path);
    assert_int_equal(0, avformat_open_input(&g->input, path, NULL, NULL));
    assert_true(avformat_find_stream_info(g->input, NULL) >= 0);
    g->info.container = g->input;
    g->info.video_stream = av_find_best_stream(g->input, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
}

static unsigned pattern(const struct ground *g, int64_t index, int x, int y)
{
    unsigned v = (unsigned)index * 2654435761u + (unsigned)y * 40503u + (unsigned)x * 9176u;
    v ^= v >> 13;
    return (v * 2246822519u) >> (32 - g->depth_bits);
}

struct ec_frame ground_frame(const struct ground *g, int64_t index, int64_t pts, int64_t duration)
{
    const int bytes = g->depth_bits > 8 ? 2 : 1;
    struct ec_frame frame = {.pts = pts, .duration = duration, .index = index};
    frame.image = (struct ec_image){.width_px = g->info.width_px,
                                    .height_px = g->info.height_px,
                                    .pitch_bytes = (g->info.width_px * bytes + 127) / 64 * 64,
                                    .depth_bits = g->depth_bits};
    frame.owner = av_buffer_alloc((size_t)frame.image.pitch_bytes * (size_t)frame.image.height_px + 64);
    assert_non_null(frame.owner);
    frame.image.data = frame.owner->data;
    memset(frame.owner->data, 0xA5, (size_t)frame.owner->size); /* padding that must not show */
    for (int y = 0; y < g->info.height_px; y++) {
        uint8_t *row = frame.owner->data + y * frame.image.pitch_bytes;
        uint16_t *row16 = (void *)row;
        for (int x = 0; x < g->info.width_px; x++) {
            if (bytes == 1)
                row[x] = (uint8_t)pattern(g, index, x, y);
            else
                row16[x] = (uint16_t)pattern(g, index, x, y);
        }
    }
    return frame;
}

static enum ec_status give_packets(struct ground *g, const struct ec_sink_ops *ops, struct ec_sink *sink)
{
    enum ec_status status = EC_OK;
    AVPacket *packet = av_packet_alloc();
    assert_non_null(packet);
    while (status == EC_OK && g->input && ops->packet && av_read_frame(g->input, packet) >= 0) {
        if (packet->stream_index != g->info.video_stream)
            status = ops->packet(sink, packet, &g->error);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return status;
}

enum ec_status ground_run(struct ground *g, const struct ec_sink_ops *ops, int count, const int64_t *pts)
{
    int64_t given_up = 0;
    struct ec_sink *sink = NULL;
    g->error = (struct ec_error){0};
    enum ec_status status =
        ops->open(&sink, &g->params, &g->info, &(struct ec_results){.depth_bits = g->depth_bits}, &g->error);
    assert_true((status == EC_OK) == (sink != NULL));
    if (status == EC_OK)
        status = give_packets(g, ops, sink);
    for (int i = 0; status == EC_OK && i < count; i++) {
        const int64_t time = pts ? pts[i] : 40 * (int64_t)i, next = pts && i + 1 < count ? pts[i + 1] : time + 40;
        struct ec_frame frame = ground_frame(g, i, time, next - time);
        status = ops->frame(sink, &frame, &g->error);
        av_buffer_unref(&frame.owner);
    }
    if (status == EC_OK)
        status = ops->finish(sink, 0, &given_up, &g->error);
    ops->close(&sink);
    assert_null(sink);
    if (status != EC_OK && status != EC_STOPPED) {
        assert_int_equal(status, g->error.status);
        assert_true(strlen(g->error.text) > 10);
    }
    return status;
}

const char *ground_md5(const struct ground *g, int count)
{
    static char text[33];
    uint8_t digest[16];
    struct AVMD5 *md5 = av_md5_alloc();
    assert_non_null(md5);
    av_md5_init(md5);
    for (int i = 0; i < count; i++) {
        for (int y = 0; y < g->info.height_px; y++) {
            for (int x = 0; x < g->info.width_px; x++) {
                const unsigned v = pattern(g, i, x, y);
                const uint8_t bytes[2] = {(uint8_t)v, (uint8_t)(v >> 8)};
                av_md5_update(md5, bytes, g->depth_bits > 8 ? 2 : 1);
            }
        }
    }
    av_md5_final(md5, digest);
    av_free(md5);
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

const char *shell(const struct ground *g, const char *format, ...)
{
    static char text[8192];
    char command[2048];
    int used = snprintf(command, sizeof command, "cd '%s' && ", g->directory);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command + used, sizeof command - (size_t)used, format, arguments);
    va_end(arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t bytes = fread(text, 1, sizeof text - 1, pipe);
    pclose(pipe);
    while (bytes > 0 && strchr("\n ", text[bytes - 1]))
        bytes--;
    text[bytes] = 0;
    return text;
}
