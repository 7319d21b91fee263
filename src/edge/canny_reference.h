/* Canny pixel by pixel: what every backend's bytes must equal. */
#ifndef EC_EDGE_CANNY_REFERENCE_H
#define EC_EDGE_CANNY_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "edge/plan.h"
#include "edgecam/image.h"

/* `pixels`: the operator's input, so many planes as large as `out`, row-major without gaps. Automatic thresholds are those of a
 * first frame. False if there is no memory. */
bool ec_canny_reference(const struct ec_plan *plan, const int32_t *const *pixels, int channels, struct ec_image *out);

#endif
