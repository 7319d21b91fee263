/* Weights of cv2.GaussianBlur in its fixed-point form. */
#ifndef EC_EDGE_BLUR_TAPS_H
#define EC_EDGE_BLUR_TAPS_H

#include "edge/plan.h"

/* The weights cv2.GaussianBlur(image, (0, 0), sigma) uses for pixels of depth_bits: 8 fraction bits and about 3 sigma on each
 * side for 8-bit pixels, 16 fraction bits and about 4 sigma for deeper ones. sigma > 0 and at most 1.6 * EC_BLUR_MAX_SIGMA. */
void ec_blur_taps_make(struct ec_blur_taps *taps, double sigma, int depth_bits);

#endif
