/* How the rows of a frame are shared out to threads: in bands that get smaller, so that threads end at about the same time
 * though one of them was held up, and few rows are computed by two neighbours. */
#ifndef EC_EDGE_BANDS_H
#define EC_EDGE_BANDS_H

#include "edge/plan.h"

/* Bands begin at multiples of so many rows. */
#define EC_BAND_STEP 8

/* Returns the number of bands for a frame of so many rows; `ends`, where it is not NULL, gets the row after each. */
int ec_bands_make(int *ends, const struct ec_plan *plan, int height_px, int threads);

#endif
