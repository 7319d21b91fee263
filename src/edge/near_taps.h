/* The weights of a convolution as 16-bit integers close to them, and how far that is from it. */
#ifndef EC_EDGE_NEAR_TAPS_H
#define EC_EDGE_NEAR_TAPS_H

#include "edge/plan.h"
#include "edge/rows.h"

/* False if the weights are too large or too small for floats around their sums; *out does not count then. */
bool ec_near_taps_make(struct ec_near_taps *out, const struct ec_convolution_taps *taps);

#endif
