/* Pictures that need no file: the moving demo, and a cycle of frames rendered beforehand for measurements. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/style.h"
#include "source/gray.h"
#include "source/source.h"

#define CYCLE_BYTES (192 << 20) /* more than the last cache of a CPU or GPU holds */
enum { CYCLE_MIN = 4, CYCLE_MAX = 4096 };

struct ec_source {
    struct ec_source_env env;
    struct ec_stream_info info;
    char name[64];
    int64_t next, end; /* frame numbers; end < 0: for ever */
    size_t pitch;
    int planes; /* of a frame: 3 where colours are asked for, in noise alone, since the demo is gray */
    bool shown; /* the style needs the pictures themselves */
    uint8_t *background;
    AVBufferRef **ring; /* of the cycle */
    int ring_frames;
};

static void generated_close(struct ec_source **source)
{
    struct ec_source *s = *source;
    if (!s)
        return;
    for (int i = 0; i < s->ring_frames; i++)
        av_buffer_unref(&s->ring[i]);
    free(s->ring);
    free(s->background);
    free(s);
    *source = NULL;
}

static const struct ec_stream_info *generated_info(const struct ec_source *s)
{
    return &s->info;
}

static int64_t generated_damaged(const struct ec_source *s)
{
    (void)s;
    return 0;
}

/* "WIDTHxHEIGHT@FPS[:DEPTH]" behind the colon; all of it may be left out. */
static enum ec_status open_common(struct ec_source **out, const struct ec_pipeline_params *params,
                                  const struct ec_source_env *env, struct ec_error *error)
{
    int width = 3840, height = 2160, fps = 60, depth = 8;
    const char *colon = strchr(params->input, ':');
    const char *spec = colon ? colon + 1 : "";
    int used = 0;
    const int n = *spec ? sscanf(spec, "%5dx%5d%n@%4d%n:%2d%n", &width, &height, &used, &fps, &used, &depth, &used) : 0;
    if ((*spec && (n < 2 || spec[used])) || width < 1 || height < 1 || width > EC_IMAGE_MAX_SIDE_PX ||
        height > EC_IMAGE_MAX_SIDE_PX || (int64_t)width * height > INT32_MAX / 4 || fps < 1 || depth < 8 || depth > 16)
        return ec_fail(error, EC_ERROR_INPUT, "%s: expected a picture like demo:3840x2160@60", params->input);
    struct ec_source *s = calloc(1, sizeof *s);
    *out = s;
    if (!s)
        return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", params->input);
    s->env = *env;
    s->planes = 1;
    s->shown = ec_style_needs_video(params->style.style);
    snprintf(s->name, sizeof s->name, "%s", params->input);
    s->pitch = ((size_t)width * (depth > 8 ? 2 : 1) + 63) & ~(size_t)63;
    s->info = (struct ec_stream_info){.name = s->name,
                                      .width_px = width,
                                      .height_px = height,
                                      .depth_bits = depth,
                                      .pixel_aspect = {1, 1},
                                      .time_base = {1, fps},
                                      .frame_rate = {fps, 1},
                                      .duration_s = NAN,
                                      .frames = -1,
                                      .primaries = AVCOL_PRI_UNSPECIFIED,
                                      .transfer = AVCOL_TRC_UNSPECIFIED,
                                      .video_stream = -1,
                                      .end_s = NAN};
    s->end = params->max_frames > 0 ? params->max_frames : -1;
    if (params->duration_s > 0 && (s->end < 0 || params->duration_s * fps < (double)s->end))
        s->end = (int64_t)ceil(params->duration_s * fps);
    if (s->end >= 0) {
        s->info.frames = s->end;
        s->info.duration_s = s->info.end_s = (double)s->end / fps;
    }
    return EC_OK;
}

static size_t plane_bytes(const struct ec_source *s)
{
    return s->pitch * (size_t)s->info.height_px;
}

/* The gray picture as a style takes it; NULL when memory ran out. */
static AVFrame *show(const struct ec_stream_info *i, AVBufferRef *owner, size_t pitch)
{
    AVFrame *picture = av_frame_alloc();
    if (!picture)
        return NULL;
    picture->format = ec_gray_format(i->depth_bits);
    picture->width = i->width_px;
    picture->height = i->height_px;
    picture->color_range = AVCOL_RANGE_JPEG;
    picture->data[0] = owner->data;
    picture->linesize[0] = (int)pitch;
    picture->buf[0] = av_buffer_ref(owner);
    if (!picture->buf[0])
        av_frame_free(&picture);
    return picture;
}

/* Takes `owner`; false: memory ran out. */
static bool next_frame(struct ec_source *s, AVBufferRef *owner, struct ec_item *out)
{
    const struct ec_stream_info *i = &s->info;
    AVFrame *picture = s->shown ? show(i, owner, s->pitch) : NULL;
    if (s->shown && !picture) {
        av_buffer_unref(&owner);
        return false;
    }
    const struct ec_frame frame = {
        .image = {.data = owner->data,
                  .width_px = i->width_px,
                  .height_px = i->height_px,
                  .pitch_bytes = (ptrdiff_t)s->pitch,
                  .depth_bits = i->depth_bits,
                  .plane_bytes = s->planes > 1 ? (ptrdiff_t)plane_bytes(s) : 0},
        .pts = s->next++,
        .duration = 1,
        .decoded_ns = ec_now_ns(),
        .owner = owner,
        .picture = picture,
    };
    *out = (struct ec_item){.kind = EC_ITEM_FRAME, .frame = frame};
    return true;
}

static enum ec_read_result out_of_memory(const struct ec_source *s, struct ec_error *error)
{
    ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory for a picture of %dx%d", s->name, s->info.width_px, s->info.height_px);
    return EC_READ_ERROR;
}

/* A wall of soft tiles, darker towards the bottom. */
static void paint_background(struct ec_source *s)
{
    for (int y = 0; y < s->info.height_px; y++)
        for (int x = 0; x < s->info.width_px; x++) {
            const int shade = 40 + 120 * (s->info.height_px - y) / s->info.height_px;
            const int tile = ((x / 96) ^ (y / 96)) & 1 ? 24 : 0;
            s->background[(size_t)y * s->pitch + (size_t)x] = (uint8_t)(shade + tile);
        }
}

/* Sets the pixels of row y that lie within `radius` of (cx, cy), row by row by their half width. */
static void paint_disc(const struct ec_source *s, uint8_t *data, int cx, int cy, int radius, uint8_t value)
{
    for (int dy = -radius; dy <= radius; dy++) {
        const int y = cy + dy;
        if (y < 0 || y >= s->info.height_px)
            continue;
        const int half = (int)sqrt((double)radius * radius - (double)dy * dy);
        const int from = cx - half > 0 ? cx - half : 0;
        const int to = cx + half < s->info.width_px - 1 ? cx + half : s->info.width_px - 1;
        if (to >= from)
            memset(data + (size_t)y * s->pitch + (size_t)from, value, (size_t)(to - from + 1));
    }
}

/* Bounces between 0 and span with `step` pixels a frame. */
static int bounce(int64_t frame, int step, int span)
{
    if (span <= 0)
        return 0;
    const int64_t at = frame * step % (2 * (int64_t)span);
    return (int)(at < span ? at : 2 * (int64_t)span - at);
}

static enum ec_status demo_open(struct ec_source **out, const struct ec_pipeline_params *params,
                                const struct ec_source_env *env, struct ec_error *error)
{
    enum ec_status status = open_common(out, params, env, error);
    struct ec_source *s = *out;
    if (status == EC_OK && s->info.depth_bits != 8)
        status = ec_fail(error, EC_ERROR_INPUT, "%s: the demo picture has 8 bits", params->input);
    if (status == EC_OK && !(s->background = malloc(s->pitch * (size_t)s->info.height_px)))
        status = ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", params->input);
    if (status == EC_OK)
        paint_background(s);
    else
        generated_close(out);
    return status;
}

static enum ec_read_result demo_read(struct ec_source *s, struct ec_item *out, struct ec_error *error)
{
    if (s->end >= 0 && s->next >= s->end)
        return EC_READ_END;
    const int w = s->info.width_px, h = s->info.height_px, small = w < h ? w : h;
    AVBufferRef *owner = ec_pool_get(s->env.pool, s->pitch * (size_t)h);
    if (!owner)
        return out_of_memory(s, error);
    memcpy(owner->data, s->background, s->pitch * (size_t)h);
    for (int i = 0; i < 9; i++) {
        const int radius = small / 24 + i * small / 120;
        paint_disc(s, owner->data, bounce(s->next + 37 * i, 5 + 2 * i, w), bounce(s->next + 91 * i, 4 + (i * 5) % 7, h), radius,
                   (uint8_t)(250 - 25 * i));
    }
    return next_frame(s, owner, out) ? EC_READ_ITEM : out_of_memory(s, error);
}

/* Marsaglia's xorshift64*: the frames are the same everywhere. */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Dull;
}

static void paint_noise(const struct ec_source *s, uint8_t *data, uint64_t seed)
{
    const uint64_t keep = s->info.depth_bits > 8 ? ((1ull << s->info.depth_bits) - 1) * 0x0001000100010001ull : ~0ull;
    uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
    for (size_t i = 0; i + 8 <= (size_t)s->planes * plane_bytes(s); i += 8) {
        const uint64_t v = random_next(&state) & keep;
        memcpy(data + i, &v, sizeof v);
    }
}

static enum ec_status cycle_open(struct ec_source **out, const struct ec_pipeline_params *params,
                                 const struct ec_source_env *env, struct ec_error *error)
{
    enum ec_status status = open_common(out, params, env, error);
    if (status != EC_OK)
        return status;
    struct ec_source *s = *out;
    s->planes = params->edge.channels == EC_CHANNELS_RGB ? 3 : 1;
    const size_t bytes = (size_t)s->planes * plane_bytes(s);
    size_t wanted = CYCLE_BYTES / bytes;
    wanted = wanted < CYCLE_MIN ? CYCLE_MIN : wanted > CYCLE_MAX ? CYCLE_MAX : wanted;
    s->ring = calloc(wanted, sizeof *s->ring);
    while (s->ring && (size_t)s->ring_frames < wanted) {
        AVBufferRef *frame = ec_pool_get(env->pool, bytes);
        if (!frame)
            break;
        paint_noise(s, frame->data, (uint64_t)s->ring_frames + 1);
        s->ring[s->ring_frames++] = frame;
    }
    if ((size_t)s->ring_frames == wanted)
        return EC_OK;
    generated_close(out);
    return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory for %zu frames", params->input, wanted);
}

static enum ec_read_result cycle_read(struct ec_source *s, struct ec_item *out, struct ec_error *error)
{
    if (s->end >= 0 && s->next >= s->end)
        return EC_READ_END;
    AVBufferRef *owner = av_buffer_ref(s->ring[s->next % s->ring_frames]);
    return owner && next_frame(s, owner, out) ? EC_READ_ITEM : out_of_memory(s, error);
}

static const char *generated_advice(const struct ec_source *s)
{
    (void)s;
    return "Drawing the built-in picture is the slowest part: a smaller one, --demo=WxH, would help.";
}

const struct ec_source_ops ec_source_demo = {.name = "demo",
                                             .open = demo_open,
                                             .info = generated_info,
                                             .read = demo_read,
                                             .damaged = generated_damaged,
                                             .advice = generated_advice,
                                             .close = generated_close};

const struct ec_source_ops ec_source_cycle = {.name = "cycle",
                                              .open = cycle_open,
                                              .info = generated_info,
                                              .read = cycle_read,
                                              .damaged = generated_damaged,
                                              .advice = generated_advice,
                                              .close = generated_close};
