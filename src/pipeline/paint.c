#include "pipeline/paint.h"

#include <stdlib.h>
#include <string.h>

enum {
    HALO = 4,
    SIDE = 384,
    SIXTH = 256
}; /* the halo's reach; hue steps on a side of the diamond and on a sixth of the circle */

struct ec_paint {
    enum ec_style style;
    uint8_t line[3], paper[3];
    uint32_t *columns; /* glow: weighted sums down the columns, HALO more on either side */
    uint8_t *gray; /* direction: three rows of luma, one pixel more on either side */
    int width_px;
};

static void set_colour(uint8_t out[3], uint32_t rgb)
{
    out[0] = (uint8_t)(rgb >> 16);
    out[1] = (uint8_t)(rgb >> 8);
    out[2] = (uint8_t)rgb;
}

enum ec_status ec_paint_open(struct ec_paint **out, const struct ec_style_params *params, int width_px, struct ec_error *error)
{
    struct ec_paint *p = calloc(1, sizeof *p);
    const size_t width = (size_t)width_px;
    *out = p;
    if (p) {
        p->style = params->style;
        p->width_px = width_px;
        set_colour(p->line, ec_style_line(params));
        set_colour(p->paper, ec_style_paper(params));
        p->columns = p->style == EC_STYLE_GLOW ? calloc(width + 2 * HALO, sizeof *p->columns) : NULL;
        p->gray = p->style == EC_STYLE_DIRECTION ? calloc(width + 2, 3) : NULL;
    }
    if (p && (p->columns || p->style != EC_STYLE_GLOW) && (p->gray || p->style != EC_STYLE_DIRECTION))
        return EC_OK;
    ec_paint_close(out);
    return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the style");
}

void ec_paint_close(struct ec_paint **paint)
{
    if (!*paint)
        return;
    free((*paint)->columns);
    free((*paint)->gray);
    free(*paint);
    *paint = NULL;
}

static const uint8_t *video_row(const struct ec_canvas *canvas, int y)
{
    return canvas->video + y * canvas->video_pitch;
}

static uint8_t mix(unsigned a, unsigned b, unsigned m)
{
    return (uint8_t)((a * (255 - m) + b * m + 127) / 255);
}

/* Pixels from x on; `base` is three bytes a pixel when step is 3, one colour for all of them when it is 0. */
static void mix_row(const struct ec_paint *p, const uint8_t *m, const uint8_t *base, int step, int x, uint8_t *out)
{
    for (; x < p->width_px; x++)
        for (int c = 0; c < 3; c++)
            out[3 * x + c] = mix(base[(ptrdiff_t)step * x + c], p->line[c], m[x]);
}

static void glow_row(struct ec_paint *p, const struct ec_canvas *canvas, int y, const uint8_t *video, uint8_t *out)
{
    uint32_t *columns = p->columns + HALO;
    const uint8_t *m = canvas->result + y * canvas->result_pitch;
    for (int x = 0; x < p->width_px; x++)
        columns[x] = 0;
    for (int dy = -HALO; dy <= HALO; dy++) {
        if (y + dy < 0 || y + dy >= canvas->height_px)
            continue;
        const uint8_t *row = m + dy * canvas->result_pitch;
        const uint32_t weight = (uint32_t)(HALO + 1 - abs(dy));
        for (int x = 0; x < p->width_px; x++)
            columns[x] += weight * row[x];
    }
    for (int x = 0; x < p->width_px; x++) {
        uint32_t sum = 0;
        for (int dx = -HALO; dx <= HALO; dx++)
            sum += (uint32_t)(HALO + 1 - abs(dx)) * columns[x + dx];
        const uint32_t light = m[x] + (3 * sum + 312) / 625;
        for (int c = 0; c < 3; c++) {
            const unsigned v = (video[3 * x + c] + 2u) / 4 + mix(0, p->line[c], light < 255 ? light : 255);
            out[3 * x + c] = (uint8_t)(v < 255 ? v : 255);
        }
    }
}

/* The luma of the video's row, the nearest one inside, with its ends repeated. */
static void read_gray(const struct ec_paint *p, const struct ec_canvas *canvas, int y, uint8_t *to)
{
    const int inside = y < 0 ? 0 : y < canvas->height_px ? y : canvas->height_px - 1;
    const uint8_t *rgb = video_row(canvas, inside);
    for (int x = 0; x < p->width_px; x++)
        to[x + 1] = (uint8_t)((9798u * rgb[3 * x] + 19235u * rgb[3 * x + 1] + 3735u * rgb[3 * x + 2] + (1u << 14)) >> 15);
    to[0] = to[1];
    to[p->width_px + 1] = to[p->width_px];
}

/* Where (gx, gy) lies on the diamond, 0 to 4 * SIDE - 1; a quarter turn further on, x and y have exchanged their parts. */
static int hue_of(int gx, int gy)
{
    const int ax = abs(gx), ay = abs(gy);
    if (ax + ay == 0)
        return 0;
    if (gx > 0 && gy >= 0)
        return SIDE * ay / (ax + ay);
    if (gx <= 0 && gy > 0)
        return SIDE + SIDE * ax / (ax + ay);
    if (gx < 0)
        return 2 * SIDE + SIDE * ay / (ax + ay);
    return 3 * SIDE + SIDE * ax / (ax + ay);
}

static void colour_of_hue(int hue, uint8_t out[3])
{
    const int sixth = hue / SIXTH;
    const uint8_t up = (uint8_t)(hue % SIXTH), down = (uint8_t)(255 - up);
    const uint8_t table[6][3] = {{255, up, 0}, {down, 255, 0}, {0, 255, up}, {0, down, 255}, {up, 0, 255}, {255, 0, down}};
    for (int c = 0; c < 3; c++)
        out[c] = table[sixth][c];
}

static void direction_row(struct ec_paint *p, const struct ec_canvas *canvas, int y, const uint8_t *m, uint8_t *out)
{
    const uint8_t *rows[3];
    for (int i = 0; i < 3; i++) {
        uint8_t *row = p->gray + (size_t)i * ((size_t)p->width_px + 2);
        read_gray(p, canvas, y - 1 + i, row);
        rows[i] = row + 1;
    }
    for (int x = 0; x < p->width_px; x++) {
        uint8_t colour[3];
        const int gx =
            rows[0][x + 1] - rows[0][x - 1] + 2 * (rows[1][x + 1] - rows[1][x - 1]) + rows[2][x + 1] - rows[2][x - 1];
        const int gy = rows[2][x - 1] - rows[0][x - 1] + 2 * (rows[2][x] - rows[0][x]) + rows[2][x + 1] - rows[0][x + 1];
        colour_of_hue(hue_of(gx, gy), colour);
        for (int c = 0; c < 3; c++)
            out[3 * x + c] = mix(0, colour[c], m[x]);
    }
}

static void alpha_row(const struct ec_paint *p, const uint8_t *m, uint8_t *out)
{
    for (int x = 0; x < p->width_px; x++) {
        for (int c = 0; c < 3; c++)
            out[4 * x + c] = p->line[c];
        out[4 * x + 3] = m[x];
    }
}

void ec_paint_row(struct ec_paint *p, const struct ec_canvas *canvas, int y, uint8_t *out)
{
    const uint8_t *m = canvas->result + y * canvas->result_pitch;
    const int middle = (p->width_px + 1) / 2;
    switch (p->style) {
    case EC_STYLE_OVERLAY:
        mix_row(p, m, video_row(canvas, y), 3, 0, out);
        break;
    case EC_STYLE_GLOW:
        glow_row(p, canvas, y, video_row(canvas, y), out);
        break;
    case EC_STYLE_DIRECTION:
        direction_row(p, canvas, y, m, out);
        break;
    case EC_STYLE_ALPHA:
        alpha_row(p, m, out);
        break;
    case EC_STYLE_SPLIT:
        memcpy(out, video_row(canvas, y), 3 * (size_t)middle);
        mix_row(p, m, p->paper, 0, middle, out);
        break;
    default:
        mix_row(p, m, p->paper, 0, 0, out);
    }
}
