#include "edge/edge_map.h"

#include <stdlib.h>

#include "edge/arith.h"

#define LOOKED_AT 32 /* words at once */

bool ec_edge_map_open(struct ec_edge_map *map, const struct ec_rows *rows, int width, int height, bool keeps)
{
    *map = (struct ec_edge_map){.rows = rows, .width = width, .height = height, .words = (width + 63) / 64};
    map->stride = map->words + 2;
    const size_t padded = (size_t)map->stride * ((size_t)height + 2), count = (size_t)map->words * (size_t)height;
    map->candidate_block = calloc(padded, sizeof *map->candidate_block);
    map->edge_block = calloc(padded, sizeof *map->edge_block);
    map->kept_block = keeps ? calloc(padded, sizeof *map->kept_block) : NULL;
    map->waiting = calloc(count, sizeof *map->waiting);
    map->is_waiting = calloc(count, 1);
    if (!map->candidate_block || !map->edge_block || (keeps && !map->kept_block) || !map->waiting || !map->is_waiting)
        return false;
    map->candidates = map->candidate_block + map->stride + 1;
    map->edges = map->edge_block + map->stride + 1;
    map->kept = keeps ? map->kept_block + map->stride + 1 : NULL;
    return true;
}

void ec_edge_map_keep(struct ec_edge_map *map)
{
    uint64_t *block = map->edge_block, *edges = map->edges;
    map->edge_block = map->kept_block;
    map->edges = map->kept;
    map->kept_block = block;
    map->kept = edges;
}

void ec_edge_map_close(struct ec_edge_map *map)
{
    free(map->candidate_block);
    free(map->edge_block);
    free(map->kept_block);
    free(map->waiting);
    free(map->is_waiting);
    *map = (struct ec_edge_map){0};
}

/* Rows `first` to `end` - 1 of a map, and the words in them that wait to be looked at. Rows after `last` will be looked along
 * later, and so their words need not wait. */
struct band {
    struct ec_edge_map *map;
    int first, end, last;
    uint32_t *waiting;
    size_t count;
};

/* Pixels that are still to become edges, if anything reaches them. */
static uint64_t open_pixels(const struct ec_edge_map *map, ptrdiff_t at)
{
    return map->candidates[at] & ~map->edges[at];
}

/* Runs of ones in `runs` that hold a seed (seeds are a part of runs). Upwards, adding a seed to its run carries through all
 * ones above it; further seeds of the run stay ones. Downwards, where anything is left below one, by doubling steps. */
static uint64_t fill(uint64_t runs, uint64_t seeds)
{
    uint64_t filled = (((runs + seeds) ^ runs) | seeds) & runs;
    if (!(runs & ~filled & filled >> 1))
        return filled;
    for (int step = 1; step < 64; step *= 2) {
        filled |= runs & (filled >> step);
        runs &= runs >> step;
    }
    return filled;
}

static void wait_for(struct band *band, int y, int word)
{
    const size_t index = (size_t)y * (size_t)band->map->words + (size_t)word;
    if (band->map->is_waiting[index])
        return;
    band->map->is_waiting[index] = 1;
    band->waiting[band->count++] = (uint32_t)index;
}

/* Puts on the stack what new edges in `word` of row y reach in row `neighbour`. */
static inline void reach(struct band *band, int neighbour, int word, uint64_t edges)
{
    const struct ec_edge_map *map = band->map;
    const ptrdiff_t at = neighbour * map->stride + word;
    if ((edges | edges << 1 | edges >> 1) & open_pixels(map, at))
        wait_for(band, neighbour, word);
    if (edges & open_pixels(map, at - 1) >> 63)
        wait_for(band, neighbour, word - 1);
    if (edges >> 63 & open_pixels(map, at + 1))
        wait_for(band, neighbour, word + 1);
}

/* `reached` pixels of a word become edges, unless they are by now, and so do the runs of candidates they are in. */
static void gain(struct band *band, int y, int word, uint64_t reached)
{
    struct ec_edge_map *map = band->map;
    const ptrdiff_t at = y * map->stride + word;
    const uint64_t open = open_pixels(map, at);
    if (!(open & reached))
        return;
    const uint64_t gained = fill(open, open & reached);
    map->edges[at] |= gained;
    if (y > band->first)
        reach(band, y - 1, word, gained);
    reach(band, y, word, gained);
    if (y < band->last)
        reach(band, y + 1, word, gained);
}

static void find_reached(const struct band *band, uint64_t *reached, int y, int word, int words)
{
    const struct ec_edge_map *map = band->map;
    const ptrdiff_t at = y * map->stride + word, above = y > band->first ? -map->stride : 0;
    const ptrdiff_t below = y + 1 < band->end ? map->stride : 0;
    map->rows->find_reached(reached, map->candidates + at, map->edges + at, above, below, words);
}

/* The same of one word; what is no candidate counts as well. */
static uint64_t next_to_edges(const struct band *band, int y, int word)
{
    const struct ec_edge_map *map = band->map;
    const uint64_t *edges = map->edges + y * map->stride + word;
    const ptrdiff_t above = y > band->first ? -map->stride : 0, below = y + 1 < band->end ? map->stride : 0;
    const uint64_t middle = edges[0] | edges[above] | edges[below], left = edges[-1] | edges[above - 1] | edges[below - 1];
    const uint64_t right = edges[1] | edges[above + 1] | edges[below + 1];
    return middle << 1 | middle | middle >> 1 | left >> 63 | right << 63;
}

static void settle(struct band *band)
{
    while (band->count > 0) {
        const uint32_t index = band->waiting[--band->count];
        band->map->is_waiting[index] = 0;
        const int y = (int)(index / (uint32_t)band->map->words), word = (int)(index % (uint32_t)band->map->words);
        gain(band, y, word, next_to_edges(band, y, word));
    }
}

static bool any_open(const struct ec_edge_map *map, ptrdiff_t at, int words)
{
    uint64_t any = 0;
    for (int i = 0; i < words; i++)
        any |= open_pixels(map, at + i);
    return any != 0;
}

/* What is reached is found before any of it is gained: all that a gain reaches itself goes to the stack. */
static void look_along(struct band *band, int y)
{
    const struct ec_edge_map *map = band->map;
    uint64_t reached[LOOKED_AT];
    for (int start = 0; start < map->words; start += LOOKED_AT) {
        const int words = ec_min_i32(LOOKED_AT, map->words - start);
        if (!any_open(map, y * map->stride + start, words))
            continue;
        find_reached(band, reached, y, start, words);
        for (int i = 0; i < words; i++) {
            if (!reached[i])
                continue;
            gain(band, y, start + i, reached[i]);
            settle(band);
        }
    }
}

void ec_edge_map_spread(struct ec_edge_map *map, int first, int end)
{
    struct band band = {map, first, end, first, map->waiting + (size_t)first * (size_t)map->words, 0};
    for (; band.last < end; band.last++)
        look_along(&band, band.last);
}

void ec_edge_map_join(struct ec_edge_map *map, int y)
{
    struct band band = {map, 0, map->height, map->height - 1, map->waiting, 0};
    look_along(&band, y - 1);
    look_along(&band, y);
}
