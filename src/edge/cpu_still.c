#include "edge/cpu_still.h"

#include <stdlib.h>
#include <string.h>

#include "edge/stable_arith.h"

bool ec_cpu_still_open(struct ec_cpu_still *still, const struct ec_rows *table, int width, int height)
{
    *still = (struct ec_cpu_still){.rows = table, .width = width, .height = height};
    still->blocks = (width + EC_STABLE_BLOCK - 1) / EC_STABLE_BLOCK;
    still->sums = still->blocks * EC_STABLE_RUNS;
    const size_t rows = (size_t)(height + EC_STABLE_ROW_STEP - 1) / EC_STABLE_ROW_STEP;
    still->cells = calloc(rows * (size_t)still->sums, sizeof *still->cells);
    return still->cells;
}

void ec_cpu_still_close(struct ec_cpu_still *still)
{
    free(still->cells);
    *still = (struct ec_cpu_still){0};
}

int ec_cpu_still_rows(const struct ec_cpu_still *still)
{
    return (still->height + EC_STABLE_BLOCK - 1) / EC_STABLE_BLOCK;
}

static int32_t value_at(const struct ec_plan *plan, const void *row, int x)
{
    return ec_stable_value(plan->depth_bits == 8 ? ((const uint8_t *)row)[x] : ((const uint16_t *)row)[x], plan);
}

/* Adds a channel's row to its sums. */
static void add_row(uint16_t *sums, const struct ec_plan *plan, const void *row, int from, int width)
{
    for (int x = from; x < width; x++)
        sums[x / EC_STABLE_RUN] = (uint16_t)(sums[x / EC_STABLE_RUN] + value_at(plan, row, x));
}

/* Takes the sums of row y in the place of the last frame's, and adds the squares' differences. */
static void compare_row(struct ec_cpu_still *still, uint32_t *differences, const struct ec_plan *plan,
                        const struct ec_image *in, int y)
{
    uint16_t now[EC_IMAGE_MAX_SIDE_PX / EC_STABLE_RUN];
    const int channels = in->plane_bytes ? plan->channels : 1;
    const char *row = (const char *)in->data + y * in->pitch_bytes;
    const int whole = channels == 1 && plan->depth_bits == 8 ? still->width / EC_STABLE_RUN : 0;
    still->rows->sum_fours(now, (const uint8_t *)row, whole);
    memset(now + whole, 0, (size_t)(still->sums - whole) * sizeof *now);
    for (int c = 0; c < channels; c++)
        add_row(now, plan, row + c * in->plane_bytes, whole * EC_STABLE_RUN, still->width);
    still->rows->compare_fours(differences, still->cells + (size_t)(y / EC_STABLE_ROW_STEP) * (size_t)still->sums, now,
                               still->blocks);
}

/* Clears the square's bits in the rows from y on. */
static void forget(const struct ec_edge_map *map, int block, int y, int rows)
{
    const int at = block * EC_STABLE_BLOCK;
    const uint64_t bits = (((uint64_t)1 << EC_STABLE_BLOCK) - 1) << at % 64;
    for (int i = y; i < y + rows; i++)
        map->kept[i * map->stride + at / 64] &= ~bits;
}

void ec_cpu_still_run(struct ec_cpu_still *still, const struct ec_plan *plan, const struct ec_image *in,
                      const struct ec_edge_map *map, int first, int end)
{
    const int channels = in->plane_bytes ? plan->channels : 1;
    for (int row = first; row < end; row++) {
        uint32_t differences[EC_IMAGE_MAX_SIDE_PX / EC_STABLE_BLOCK];
        memset(differences, 0, (size_t)still->blocks * sizeof *differences);
        const int top = row * EC_STABLE_BLOCK, rows = ec_min_i32(EC_STABLE_BLOCK, still->height - top);
        int looked_at = 0;
        for (int y = top; y < top + rows; y += EC_STABLE_ROW_STEP, looked_at++)
            compare_row(still, differences, plan, in, y);
        for (int block = 0; block < still->blocks; block++) {
            const int width = ec_min_i32(EC_STABLE_BLOCK, still->width - block * EC_STABLE_BLOCK);
            const int sums = (width + EC_STABLE_RUN - 1) / EC_STABLE_RUN * looked_at;
            if (ec_stable_has_moved(differences[block], sums, channels))
                forget(map, block, top, rows);
        }
    }
}
