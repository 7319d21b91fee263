/* Canny pixel by pixel: what every backend's bytes must equal. */
#ifndef EC_EDGE_CANNY_REFERENCE_H
#define EC_EDGE_CANNY_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "edge/plan.h"
#include "edgecam/image.h"

/* `pixels`: the operator's input, plan->channels planes as large as `out`, row-major without gaps. False if there is no memory.
 */
bool ec_canny_reference(const struct ec_plan *plan, const int32_t *const *pixels, struct ec_image *out);

#endif
