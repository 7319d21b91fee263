/* Canny's pixels as bits, and hysteresis on them: edges spread through candidates until nothing changes.
 *
 * Bit x % 64 of word x / 64 of a row is pixel x; bits past the width are 0, and so are a word on either side of each row and a
 * row above and below. Which pixels become edges depends on the bits alone, not on the order of work, and the work is bounded:
 * a word is looked at once, and again only for a pixel that it gains. */
#ifndef EC_EDGE_EDGE_MAP_H
#define EC_EDGE_EDGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "edge/rows.h"

struct ec_edge_map {
    const struct ec_rows *rows;
    int width, height, words; /* words that hold a row's pixels */
    ptrdiff_t stride; /* words from row to row */
    uint64_t *candidate_block, *edge_block, *kept_block;
    uint64_t *candidates, *edges; /* word 0 of row 0; an edge is a candidate too */
    uint64_t *kept; /* the edges that were handed over by ec_edge_map_keep; NULL: none are */
    uint32_t *waiting; /* stacks of words; that of rows from y on begins at y * words */
    uint8_t *is_waiting;
};

/* False if there is no memory; *map can be closed in any case. */
bool ec_edge_map_open(struct ec_edge_map *map, const struct ec_rows *rows, int width, int height, bool keeps);
void ec_edge_map_close(struct ec_edge_map *map); /* all zero is fine */

/* Makes the edges `kept`; of those of the next frame nothing is known then. Only for a map that keeps. */
void ec_edge_map_keep(struct ec_edge_map *map);

/* Spreads within rows first to end - 1, from the edges in them. Bands that share no row may run at the same time. */
void ec_edge_map_spread(struct ec_edge_map *map, int first, int end);

/* After every band was spread: spreads over the boundary between rows y - 1 and y, and on from there through the whole image.
 */
void ec_edge_map_join(struct ec_edge_map *map, int y);

#endif
