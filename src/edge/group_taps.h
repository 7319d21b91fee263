/* The weights of a convolution or a Gaussian in the order in which several rows of output take them. */
#ifndef EC_EDGE_GROUP_TAPS_H
#define EC_EDGE_GROUP_TAPS_H

#include "edge/plan.h"
#include "edge/rows.h"

/* For integer weights up to EC_DOT_MAX in size. */
void ec_dot_taps_make(struct ec_dot_taps *out, const struct ec_convolution_taps *taps);

/* For integer weights. */
void ec_split_taps_make(struct ec_split_taps *out, const struct ec_convolution_taps *taps);

/* For any weights, of which all integers are floats. */
void ec_fused_taps_make(struct ec_fused_taps *out, const struct ec_convolution_taps *taps);

/* For a Gaussian as struct ec_blur_pair_taps says. */
void ec_blur_pair_taps_make(struct ec_blur_pair_taps *out, const struct ec_blur_taps *taps);

#endif
