/* Operators that take several rows of output at a time. */
#include <string.h>

#include "edge/arith.h"
#include "edge/strip.h"
#include "edge/strip_state.h"

#define INPUT_ROWS (EC_TALL_ROWS + 2)

/* Where a group of output rows comes from and goes to; rows past the band's end go to scratch memory. */
struct group {
    const void *rows[INPUT_ROWS];
    void *out[EC_TALL_ROWS];
};

/* Of `count` rows of output from y on. The window of a 2x2 operator has no row above, and what stands there changes nothing. */
static void gather(struct ec_strip *s, const struct ec_image *out, struct group *group, int y, int count)
{
    if (s->blur_pairs[0].slots)
        ec_strip_blur(s, ec_max_i32(y - 1, 0), ec_min_i32(y + count, s->height - 1));
    for (int j = 0; j < INPUT_ROWS; j++) {
        const int row = ec_border_index(y - 1 + ec_min_i32(j, count + 1), s->height, s->plan->border);
        group->rows[j] = row < 0 ? ec_strip_scratch(&s->zeros) : ec_strip_row(s, row);
    }
    for (int i = 0; i < EC_TALL_ROWS; i++)
        group->out[i] =
            i < count ? (uint8_t *)out->data + (y + i) * out->pitch_bytes : (uint8_t *)ec_strip_scratch(&s->response);
}

static void run_columns(struct ec_strip *s, const struct group *group, int start, int n)
{
    const ptrdiff_t offset = start * (ptrdiff_t)s->kind->pixel_bytes;
    const void *rows[INPUT_ROWS];
    void *out[EC_TALL_ROWS];
    for (int j = 0; j < INPUT_ROWS; j++)
        rows[j] = (const uint8_t *)group->rows[j] + offset;
    for (int i = 0; i < EC_TALL_ROWS; i++)
        out[i] = (uint8_t *)group->out[i] + offset;
    s->tall(out, rows, n, s->plan);
}

/* Columns start - 1 to start + n of a row, by the border rule where the image ends, to row[-1] and so on. */
static void extend_columns(const struct ec_strip *s, uint8_t *row, const uint8_t *pixels, int start, int n)
{
    const ptrdiff_t bytes = (ptrdiff_t)s->kind->pixel_bytes;
    memcpy(row, pixels + start * bytes, (size_t)(n * bytes));
    const int beside[2] = {-1, n};
    for (int i = 0; i < 2; i++) {
        const int x = ec_border_index(start + beside[i], s->width, s->plan->border);
        if (x < 0)
            memset(row + beside[i] * bytes, 0, (size_t)bytes);
        else
            memcpy(row + beside[i] * bytes, pixels + x * bytes, (size_t)bytes);
    }
}

/* Up to EC_TALL_COLUMNS columns of which some neighbours may lie outside the image. */
static void run_side(struct ec_strip *s, const struct group *group, int start, int n)
{
    const ptrdiff_t bytes = (ptrdiff_t)s->kind->pixel_bytes;
    struct group side;
    bool fresh;
    for (int j = 0; j < INPUT_ROWS; j++) {
        uint8_t *row = ec_ring_row(&s->side_rows, j, &fresh);
        extend_columns(s, row, group->rows[j], start, n);
        side.rows[j] = row;
    }
    for (int i = 0; i < EC_TALL_ROWS; i++)
        side.out[i] = ec_ring_row(&s->side_results, i, &fresh);
    s->tall(side.out, side.rows, EC_TALL_COLUMNS, s->plan);
    for (int i = 0; i < EC_TALL_ROWS; i++)
        memcpy((uint8_t *)group->out[i] + start * bytes, side.out[i], (size_t)(n * bytes));
}

void ec_strip_run_tall(struct ec_strip *strip, const struct ec_image *out, int first, int end)
{
    /* The last column in the middle has a neighbour inside. */
    const int width = strip->width, sides = EC_TALL_COLUMNS;
    const int middle = width > 2 * sides ? (width - 1 - sides) / sides * sides : 0;
    for (int y = first; y < end; y += EC_TALL_ROWS) {
        struct group group;
        const int count = ec_min_i32(EC_TALL_ROWS, end - y);
        gather(strip, out, &group, y, count);
        run_side(strip, &group, 0, ec_min_i32(sides, width));
        if (middle)
            run_columns(strip, &group, sides, middle);
        for (int x = sides + middle; x < width; x += sides)
            run_side(strip, &group, x, ec_min_i32(sides, width - x));
        for (int i = 0; strip->plan->finish.has_threshold && i < count; i++)
            strip->kind->compare(group.out[i], width, &strip->plan->finish);
    }
}
