/* Results of two values as one bit a pixel, which is how they leave a GPU: an eighth of the bytes or less. Inside the library
 * only; an ec_image of depth 1 is such a map.
 *
 * Pixel x of a row is bit x % 8 of its byte x / 8, 1 for every value but 0; rows are whole 32-bit words, the bits past the
 * width are 0. */
#ifndef EC_EDGE_PACKED_H
#define EC_EDGE_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "edge/plan.h"
#include "edgecam/image.h"

/* Whether every result is 0 or one other value. */
static inline bool ec_plan_is_binary(const struct ec_plan *plan)
{
    return plan->op == EC_OPERATOR_CANNY || plan->finish.has_threshold;
}

static inline int64_t ec_packed_row_bytes(int width_px)
{
    return ((int64_t)width_px + 31) / 32 * 4;
}

/* The pixels again, 2^depth - 1 for a 1, in an image of the map's size in host memory. */
void ec_packed_expand(const struct ec_image *map, const struct ec_image *out);

#endif
