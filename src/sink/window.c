/* The window sink: SDL2, one streaming texture whose luma plane is the frame and whose chroma planes are constant, or which is
 * the styled picture; what is transparent there shows black.
 *
 * When the window is the only sink and the input is a recording, frames are shown at their timestamps; otherwise at once, so
 * that the screen never slows down a file or a camera. No call blocks for longer than HOLD_NS: a frame that is due later is
 * kept, and poll() asks for a pause until it has been shown. Esc, q or closing the window quits, space pauses, f is for full
 * screen. */
#include <SDL.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/style.h"
#include "sink/pace.h"
#include "sink/sink.h"

enum { MIN_WIDTH_PX = 160, MIN_HEIGHT_PX = 120 };
#define HOLD_NS INT64_C(50000000)

struct ec_sink {
    bool video; /* SDL's video part is up */
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    uint8_t *chroma; /* one neutral plane for both */
    uint8_t *narrow; /* 8-bit copy of deeper frames */
    int width_px, height_px;
    Uint32 pixels; /* the texture's format: gray as luma, or a styled picture's own */
    double pixel_aspect;
    AVRational time_base;
    bool paced, paused, full_screen, quit;
    bool filled; /* the texture holds a frame */
    bool waiting; /* it is not due yet */
    struct ec_pace pace;
    int64_t begin_ns, end_ns; /* its media time */
};

static void window_close(struct ec_sink **sink)
{
    struct ec_sink *s = *sink;
    if (!s)
        return;
    if (s->texture)
        SDL_DestroyTexture(s->texture);
    if (s->renderer)
        SDL_DestroyRenderer(s->renderer);
    if (s->window)
        SDL_DestroyWindow(s->window);
    if (s->video)
        SDL_QuitSubSystem(SDL_INIT_VIDEO);
    free(s->chroma);
    free(s->narrow);
    free(s);
    *sink = NULL;
}

/* The largest place for the picture inside width x height, in the middle, aspect kept. */
static SDL_Rect place(const struct ec_sink *s, int width, int height)
{
    const double aspect = s->width_px * s->pixel_aspect / s->height_px;
    SDL_Rect rect = {0, 0, width, height};
    if (width > height * aspect)
        rect.w = SDL_max(1, (int)lround(height * aspect));
    else
        rect.h = SDL_max(1, (int)lround(width / aspect));
    rect.x = (width - rect.w) / 2;
    rect.y = (height - rect.h) / 2;
    return rect;
}

static void paint(struct ec_sink *s)
{
    int width = 0, height = 0;
    SDL_SetRenderDrawColor(s->renderer, 0, 0, 0, 255);
    SDL_RenderClear(s->renderer);
    if (s->filled && SDL_GetRendererOutputSize(s->renderer, &width, &height) == 0 && width > 0 && height > 0) {
        const SDL_Rect rect = place(s, width, height);
        SDL_RenderCopy(s->renderer, s->texture, NULL, &rect);
    }
    SDL_RenderPresent(s->renderer);
}

/* Square pixels, shrunk to what the display has room for. */
static void first_size(const struct ec_sink *s, int *width, int *height)
{
    SDL_Rect room = {0, 0, INT_MAX, INT_MAX};
    double w = s->width_px * s->pixel_aspect, h = s->height_px;
    if (SDL_GetDisplayUsableBounds(0, &room) == 0 && room.w > 0 && room.h > 0) {
        const double fit = fmin(1, fmin(room.w / w, room.h / h));
        w *= fit;
        h *= fit;
    }
    *width = SDL_max(MIN_WIDTH_PX, (int)lround(w));
    *height = SDL_max(MIN_HEIGHT_PX, (int)lround(h));
}

static enum ec_status open_video(struct ec_sink *s, struct ec_error *error)
{
    static const char help[] = "set DISPLAY or WAYLAND_DISPLAY to a running one, or write a file with -o";
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    if (SDL_InitSubSystem(SDL_INIT_VIDEO))
        return ec_fail(error, EC_ERROR_DEVICE, "no display: %s; %s", SDL_GetError(), help);
    s->video = true;
    /* SDL ends its search with drivers that show nothing; only a person who names one wants that. */
    const char *driver = SDL_GetCurrentVideoDriver();
    if (!SDL_GetHint(SDL_HINT_VIDEODRIVER) && driver && (strcmp(driver, "offscreen") == 0 || strcmp(driver, "dummy") == 0))
        return ec_fail(error, EC_ERROR_DEVICE, "no display: neither an X nor a Wayland server answers; %s", help);
    SDL_SetYUVConversionMode(SDL_YUV_CONVERSION_JPEG); /* full range */
    return EC_OK;
}

static enum ec_status open_window(struct ec_sink *s, const char *name, struct ec_error *error)
{
    char title[256];
    int width = 0, height = 0;
    const char *slash = strrchr(name, '/');
    snprintf(title, sizeof title, "edgecam - %s", slash && slash[1] ? slash + 1 : name);
    first_size(s, &width, &height);
    s->window = SDL_CreateWindow(title, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, width, height,
                                 SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
    s->renderer = s->window ? SDL_CreateRenderer(s->window, -1, 0) : NULL;
    if (!s->renderer)
        return ec_fail(error, EC_ERROR_DEVICE, "cannot open a window: %s", SDL_GetError());
    s->texture = SDL_CreateTexture(s->renderer, s->pixels, SDL_TEXTUREACCESS_STREAMING, s->width_px, s->height_px);
    if (!s->texture)
        return ec_fail(error, EC_ERROR_DEVICE, "the display cannot show pictures of %dx%d: %s", s->width_px, s->height_px,
                       SDL_GetError());
    paint(s);
    return EC_OK;
}

static enum ec_status window_open(struct ec_sink **out, const struct ec_pipeline_params *params,
                                  const struct ec_stream_info *info, const struct ec_results *results, struct ec_error *error)
{
    *out = NULL;
    struct ec_sink *s = calloc(1, sizeof *s);
    if (!s)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    const size_t chroma_bytes = ((size_t)info->width_px + 1) / 2 * (((size_t)info->height_px + 1) / 2);
    const size_t bytes = (size_t)info->width_px * (size_t)info->height_px;
    enum ec_status status = EC_OK;
    s->width_px = info->width_px;
    s->height_px = info->height_px;
    s->pixel_aspect = info->pixel_aspect.num > 0 && info->pixel_aspect.den > 0 ? av_q2d(info->pixel_aspect) : 1;
    s->time_base = info->time_base;
    s->pixels = ec_style_has_alpha(params->style.style)     ? SDL_PIXELFORMAT_RGBA32
                : ec_style_is_coloured(params->style.style) ? SDL_PIXELFORMAT_RGB24
                                                            : SDL_PIXELFORMAT_IYUV;
    s->paced = !info->live && !params->output && !params->hash && !params->null_sink;
    s->chroma = malloc(chroma_bytes);
    s->narrow = results->depth_bits > 8 ? malloc(bytes) : NULL;
    if (!s->chroma || (results->depth_bits > 8 && !s->narrow)) {
        status = ec_fail(error, EC_ERROR_MEMORY, "out of memory for a picture of %dx%d", s->width_px, s->height_px);
        goto fail;
    }
    memset(s->chroma, 128, chroma_bytes);
    status = open_video(s, error);
    if (status == EC_OK)
        status = open_window(s, info->name, error);
    if (status != EC_OK)
        goto fail;
    *out = s;
    return EC_OK;
fail:
    window_close(&s);
    return status;
}

static void on_key(struct ec_sink *s, SDL_Keycode key)
{
    if (key == SDLK_ESCAPE || key == SDLK_q)
        s->quit = true;
    if (key == SDLK_SPACE) {
        s->paused = !s->paused;
        ec_pace_restart(&s->pace);
    }
    if (key == SDLK_f) {
        s->full_screen = !s->full_screen;
        SDL_SetWindowFullscreen(s->window, s->full_screen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);
    }
}

static void on_event(struct ec_sink *s, const SDL_Event *event)
{
    const bool ours = event->type != SDL_WINDOWEVENT || event->window.windowID == SDL_GetWindowID(s->window);
    if (event->type == SDL_QUIT || (event->type == SDL_WINDOWEVENT && ours && event->window.event == SDL_WINDOWEVENT_CLOSE))
        s->quit = true;
    else if (event->type == SDL_KEYDOWN && !event->key.repeat)
        on_key(s, event->key.keysym.sym);
    else if (event->type == SDL_RENDER_TARGETS_RESET ||
             (event->type == SDL_WINDOWEVENT && ours &&
              (event->window.event == SDL_WINDOWEVENT_EXPOSED || event->window.event == SDL_WINDOWEVENT_SIZE_CHANGED)))
        paint(s);
}

/* Keeps the window alive until then, for HOLD_NS at most; ends early when the person does something that stops the clock. */
static void wait_until(struct ec_sink *s, int64_t due_ns)
{
    const int64_t limit_ns = SDL_min(due_ns, ec_now_ns() + HOLD_NS);
    SDL_Event event;
    while (!s->quit && !s->paused) {
        const int64_t left_ns = limit_ns - ec_now_ns();
        if (left_ns <= 0)
            break;
        if (SDL_WaitEventTimeout(&event, (int)((left_ns + 999999) / 1000000)))
            on_event(s, &event);
    }
}

static void show_when_due(struct ec_sink *s)
{
    const int64_t now_ns = ec_now_ns();
    const int64_t due_ns = s->paced ? ec_pace_due(&s->pace, s->begin_ns, now_ns) : now_ns;
    if (due_ns - now_ns > HOLD_NS)
        return;
    wait_until(s, due_ns);
    s->waiting = false;
    paint(s);
}

static enum ec_sink_wish window_poll(struct ec_sink *s)
{
    SDL_Event event;
    while (SDL_PollEvent(&event))
        on_event(s, &event);
    if (s->waiting && !s->quit)
        show_when_due(s);
    if (s->quit)
        return EC_SINK_QUIT;
    return s->paused || s->waiting ? EC_SINK_PAUSE : EC_SINK_GO_ON;
}

/* The frame's rows as 8 bits; deeper ones are rounded as edge.h defines it. */
static const uint8_t *to_8_bits(struct ec_sink *s, const struct ec_image *image, int *pitch_bytes)
{
    if (image->depth_bits == 8) {
        *pitch_bytes = (int)image->pitch_bytes;
        return image->data;
    }
    const int shift = image->depth_bits - 8;
    const unsigned half = 1u << (shift - 1);
    for (int y = 0; y < s->height_px; y++) {
        const uint16_t *from = (const void *)((const uint8_t *)image->data + y * image->pitch_bytes);
        uint8_t *to = s->narrow + (size_t)y * (size_t)s->width_px;
        for (int x = 0; x < s->width_px; x++)
            to[x] = (uint8_t)SDL_min(255u, (from[x] + half) >> shift);
    }
    *pitch_bytes = s->width_px;
    return s->narrow;
}

static int64_t to_ns(const struct ec_sink *s, int64_t time)
{
    return av_rescale_q(time, s->time_base, (AVRational){1, 1000000000});
}

static int fill_texture(struct ec_sink *s, const struct ec_frame *frame)
{
    if (frame->look)
        return SDL_UpdateTexture(s->texture, NULL, frame->look->data[0], frame->look->linesize[0]);
    int pitch_bytes = 0;
    const int chroma_pitch_bytes = (s->width_px + 1) / 2;
    const uint8_t *luma = to_8_bits(s, &frame->image, &pitch_bytes);
    return SDL_UpdateYUVTexture(s->texture, NULL, luma, pitch_bytes, s->chroma, chroma_pitch_bytes, s->chroma,
                                chroma_pitch_bytes);
}

static enum ec_status window_frame(struct ec_sink *s, const struct ec_frame *frame, struct ec_error *error)
{
    if (fill_texture(s, frame))
        return ec_fail(error, EC_ERROR_DEVICE, "cannot show a picture of %dx%d: %s", s->width_px, s->height_px, SDL_GetError());
    s->begin_ns = to_ns(s, frame->pts);
    s->end_ns = to_ns(s, frame->pts + frame->duration);
    s->filled = s->waiting = true;
    show_when_due(s);
    return EC_OK;
}

static enum ec_status window_finish(struct ec_sink *s, int64_t deadline_ns, int64_t *given_up, struct ec_error *error)
{
    (void)deadline_ns;
    (void)given_up;
    (void)error;
    if (s->paced && s->pace.started)
        wait_until(s, ec_pace_due(&s->pace, s->end_ns, ec_now_ns())); /* the last frame has its time too */
    return EC_OK;
}

static const char *window_advice(const struct ec_sink *s)
{
    (void)s;
    return "The window is the slowest part: it shows each frame at its time, and none faster than the display.";
}

const struct ec_sink_ops ec_sink_window = {
    .name = "window",
    .open = window_open,
    .frame = window_frame,
    .poll = window_poll,
    .finish = window_finish,
    .advice = window_advice,
    .close = window_close,
};
