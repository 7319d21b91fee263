/* A few rows of an image, each with a margin on both sides, addressed by their row number.
 *
 * Row y has slot y % slots. A step that looks at `slots` neighbouring rows finds all of them in the ring at once: rows next to
 * each other have different slots, and where a border rule folds rows back into a low image there are no more than its height.
 */
#ifndef EC_EDGE_RING_H
#define EC_EDGE_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "edgecam/edge.h"

/* That many bytes past a row's last element can be read, whatever stands there. */
#define EC_RING_SLACK_BYTES 256

struct ec_ring {
    unsigned char *memory; /* all zero at first */
    int *held; /* row number in each slot, -1: none */
    int slots, width;
    int left, right; /* elements of margin that extend fills */
    size_t element_bytes, margin_bytes, stride_bytes;
};

/* False if there is no memory; *ring can be closed in any case. */
bool ec_ring_open(struct ec_ring *ring, int slots, int width, size_t element_bytes, int left, int right);

/* Sets every byte, of margins and of what can be read past them too. */
void ec_ring_fill(struct ec_ring *ring, unsigned char byte);

/* Forgets every row. */
void ec_ring_clear(struct ec_ring *ring);

/* The slot of row y. *fresh tells whether it holds that row already; if not, the caller fills it now. */
void *ec_ring_row(struct ec_ring *ring, int y, bool *fresh);

/* Fills the margins of a row of this ring by the border rule. Zero margins are never written, so they stay zero. */
void ec_ring_extend(const struct ec_ring *ring, void *row, enum ec_border border);

/* Also for a ring that was never opened, if it is all zero. */
void ec_ring_close(struct ec_ring *ring);

#endif
