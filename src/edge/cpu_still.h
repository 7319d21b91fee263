/* Where the picture stands still: what hysteresis in time needs from one frame for the next. */
#ifndef EC_EDGE_CPU_STILL_H
#define EC_EDGE_CPU_STILL_H

#include "edge/edge_map.h"
#include "edge/plan.h"
#include "edgecam/image.h"

struct ec_cpu_still {
    const struct ec_rows *rows;
    int width, height, blocks, sums; /* in a row */
    uint16_t *cells; /* sums of the last frame: `sums` for each row that is looked at */
};

/* False if there is no memory; *still can be closed in any case. */
bool ec_cpu_still_open(struct ec_cpu_still *still, const struct ec_rows *table, int width, int height);
void ec_cpu_still_close(struct ec_cpu_still *still); /* all zero is fine */

/* Rows of squares. */
int ec_cpu_still_rows(const struct ec_cpu_still *still);

/* Remembers rows of squares `first` to end - 1 of a frame, and clears the bits of `map`'s earlier edges in those squares that
 * have moved since the frame before. Rows that differ may be worked on at the same time. */
void ec_cpu_still_run(struct ec_cpu_still *still, const struct ec_plan *plan, const struct ec_image *in,
                      const struct ec_edge_map *map, int first, int end);

#endif
