/* Canny up to its bitmaps: gradients, magnitudes, maxima, row by row. */
#include "edge/canny_arith.h"
#include "edge/strip.h"
#include "edge/strip_state.h"

/* Columns whose gradients stay in the first-level cache until their magnitudes are taken; a multiple of 64. */
#define BLOCK 512

static void measure_row(struct ec_strip *s, int y, const struct ec_canny_row *row)
{
    const void *smooth, *derive;
    const size_t bytes = s->plan->gradient.size > 3 ? sizeof(int32_t) : s->kind->gradient_bytes;
    bool fresh;
    void *gx = ec_ring_row(&s->gx, 0, &fresh), *gy = ec_ring_row(&s->gy, 0, &fresh);
    ec_strip_gradient_down(s, y, EC_BORDER_REPLICATE, &smooth, &derive);
    for (int x = 0; x < s->width; x += BLOCK) {
        const int columns = ec_min_i32(BLOCK, s->width - x);
        const size_t offset = (size_t)x * bytes;
        s->kind->canny_gradient(gx, gy, (const char *)smooth + offset, (const char *)derive + offset, columns, s->plan);
        s->canny->measure(row, x, gx, gy, columns, s->plan->canny.low);
    }
}

/* Row y of magnitudes, which are 0 above and below the image. */
static struct ec_canny_row canny_row(struct ec_strip *s, int y)
{
    bool fresh;
    struct ec_canny_row row = {0};
    if (y < 0 || y >= s->height) {
        row.magnitudes = ec_ring_row(&s->zeros, 0, &fresh);
        return row;
    }
    row.directions = ec_ring_row(&s->directions, y, &fresh);
    row.active = ec_ring_row(&s->active, y, &fresh);
    row.magnitudes = ec_ring_row(&s->magnitudes, y, &fresh);
    if (!fresh)
        measure_row(s, y, &row);
    return row;
}

void ec_strip_run_canny(struct ec_strip *strip, const struct ec_image *in, bool limited_range, struct ec_edge_map *map,
                        int first, int end)
{
    const struct ec_canny_thresholds *thresholds = &strip->plan->canny;
    ec_strip_begin(strip, in, limited_range);
    for (int y = first; y < end; y++) {
        const struct ec_canny_row rows[3] = {canny_row(strip, y - 1), canny_row(strip, y), canny_row(strip, y + 1)};
        strip->canny->maxima(map->candidates + y * map->stride, map->edges + y * map->stride, rows, strip->width,
                             thresholds->low, thresholds->high);
    }
}
