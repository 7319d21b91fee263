/* Hysteresis in time, once, for host and device; include/edgecam/edge.h is the contract. */
#ifndef EC_EDGE_STABLE_ARITH_H
#define EC_EDGE_STABLE_ARITH_H

#include "edge/arith.h"

/* Motion is looked for in squares of EC_STABLE_BLOCK pixels, on the sums of every EC_STABLE_RUN pixels next to each other in
 * every EC_STABLE_ROW_STEP-th row. */
#define EC_STABLE_BLOCK 16
#define EC_STABLE_RUN 4
#define EC_STABLE_ROW_STEP 4
#define EC_STABLE_RUNS (EC_STABLE_BLOCK / EC_STABLE_RUN)
#define EC_STABLE_ROWS (EC_STABLE_BLOCK / EC_STABLE_ROW_STEP)

/* A square has moved where sums differ by more than this on average, for each channel: noise of a standard deviation of 7 does
 * not reach it. */
#define EC_STABLE_TOLERANCE 16

/* Units of a boost. */
#define EC_STABLE_ONE 256

/* What a stored value adds to a sum. */
EC_HD int32_t ec_stable_value(int32_t stored, const struct ec_plan *plan)
{
    return ec_min_i32(stored, plan->luma.max) >> (plan->depth_bits - 8);
}

/* `difference` adds up over `sums` sums. */
EC_HD bool ec_stable_has_moved(uint32_t difference, int32_t sums, int32_t channels)
{
    return difference > (uint32_t)(EC_STABLE_TOLERANCE * sums * channels);
}

/* m + floor(m * boost / EC_STABLE_ONE), in the width of m. At most four times m. */
EC_HD int32_t ec_stable_raise_i32(int32_t m, int32_t boost)
{
    return m + m / EC_STABLE_ONE * boost + m % EC_STABLE_ONE * boost / EC_STABLE_ONE;
}

EC_HD int64_t ec_stable_raise_i64(int64_t m, int32_t boost)
{
    return m + m / EC_STABLE_ONE * boost + m % EC_STABLE_ONE * boost / EC_STABLE_ONE;
}

/* No magnitude up to this is above `limit` when it is raised. */
EC_HD int64_t ec_stable_lowered(int64_t limit, int32_t boost)
{
    const int64_t raised = EC_STABLE_ONE + boost;
    return limit / raised * EC_STABLE_ONE + limit % raised * EC_STABLE_ONE / raised;
}

#endif
