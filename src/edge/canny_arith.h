/* The arithmetic of Canny, once, for host and device; include/edgecam/edge.h is the contract. */
#ifndef EC_EDGE_CANNY_ARITH_H
#define EC_EDGE_CANNY_ARITH_H

#include "edge/arith.h"

/* tan(22.5 degrees) in units of 2^-15, as cv2 rounds it; tan(67.5 degrees) is 2 more. */
#define EC_CANNY_TANGENT 13573
#define EC_CANNY_TANGENT_BITS 15

/* Along which line of neighbours a magnitude must be the largest. */
enum ec_direction {
    EC_DIRECTION_HORIZONTAL = 0, /* left and right */
    EC_DIRECTION_VERTICAL, /* up and down */
    EC_DIRECTION_FALLING, /* up-left and down-right: gx and gy have the same sign */
    EC_DIRECTION_RISING /* up-right and down-left */
};

/* g / 16, rounded half to even: 7, or 8 where the quotient is odd, lifts exactly the remainders that round up over the next
 * multiple of 16. */
EC_HD int32_t ec_sixteenth(int32_t g)
{
    return (g + 7 + ((g >> 4) & 1)) >> 4;
}

/* The gradient of a window of plan->gradient.size squared values, row-major. */
EC_HD void ec_canny_gradient(const int32_t *window, const struct ec_gradient_taps *taps, int32_t *gx, int32_t *gy)
{
    ec_gradient(window, taps, gx, gy);
    if (taps->size == 7) {
        *gx = ec_sixteenth(*gx);
        *gy = ec_sixteenth(*gy);
    }
}

EC_HD int64_t ec_canny_magnitude(int32_t gx, int32_t gy, enum ec_norm norm)
{
    if (norm == EC_NORM_L1)
        return (int64_t)ec_abs_i32(gx) + ec_abs_i32(gy);
    return (int64_t)gx * gx + (int64_t)gy * gy;
}

EC_HD enum ec_direction ec_canny_direction(int32_t gx, int32_t gy)
{
    const int64_t x = ec_abs_i32(gx), y = (int64_t)ec_abs_i32(gy) << EC_CANNY_TANGENT_BITS;
    const int64_t flat = x * EC_CANNY_TANGENT;
    if (y < flat)
        return EC_DIRECTION_HORIZONTAL;
    if (y > flat + (x << (EC_CANNY_TANGENT_BITS + 1)))
        return EC_DIRECTION_VERTICAL;
    return (gx ^ gy) < 0 ? EC_DIRECTION_RISING : EC_DIRECTION_FALLING;
}

/* `before` is the neighbour on the left or above, `after` the opposite one. */
EC_HD bool ec_canny_is_maximum(int64_t m, int64_t before, int64_t after, enum ec_direction direction)
{
    return m > before && (direction <= EC_DIRECTION_VERTICAL ? m >= after : m > after);
}

#endif
