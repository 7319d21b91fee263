/* Canny's automatic thresholds, once, for host and device; include/edgecam/edge.h is the contract. Integers, and doubles of
 * which each operation is rounded by itself. */
#ifndef EC_EDGE_AUTO_ARITH_H
#define EC_EDGE_AUTO_ARITH_H

#include "edge/arith.h"

/* Every so many rows and columns of the operator's input, from the first on, a pixel is counted. */
#define EC_AUTO_ROW_STEP 8
#define EC_AUTO_COLUMN_STEP 4

#define EC_AUTO_GRAYS 256
#define EC_AUTO_MAGNITUDES 1024

/* What is counted in a frame: less than 2^30 pixels. */
struct ec_auto_counts {
    uint32_t grays[EC_AUTO_GRAYS]; /* in 8-bit units, of every channel */
    uint32_t magnitudes[EC_AUTO_MAGNITUDES]; /* for the percentile only */
};

/* What is kept from frame to frame, all zero before the first one. Thresholds in 8-bit units times EC_AUTO_ONE. */
struct ec_auto_state {
    uint32_t is_set;
    int32_t low, high;
    uint32_t grays[EC_AUTO_GRAYS]; /* of the frame before */
};

#define EC_AUTO_ONE 256

/* A frame's thresholds: as the maxima compare them, and in 8-bit units times EC_AUTO_STEPS, which is all that they are made
 * from. */
struct ec_auto_choice {
    struct ec_canny_thresholds thresholds;
    int32_t low_steps, high_steps;
};

#define EC_AUTO_STEPS 16

/* Below this, at aperture 3, is what cameras add by themselves. */
#define EC_AUTO_LOW_LEAST 8
#define EC_AUTO_HIGH_LEAST 16

/* A scene begins where grays have moved by more than this on average. */
#define EC_AUTO_CUT_GRAYS 16

/* Weights are parts of this. */
#define EC_AUTO_WHOLE 65536

EC_HD int32_t ec_auto_gray_bin(int32_t value, int32_t depth_bits)
{
    return value >> (depth_bits - 8);
}

/* `length`: a magnitude of norm l1, or the rounded root of one of l2. */
EC_HD int32_t ec_auto_length_bin(int32_t length, const struct ec_plan *plan)
{
    return ec_min_i32(length >> (plan->automatic.magnitude_shift + plan->depth_bits - 8), EC_AUTO_MAGNITUDES - 1);
}

/* `magnitude` as ec_canny_magnitude gives it. */
EC_HD int32_t ec_auto_magnitude_bin(int64_t magnitude, const struct ec_plan *plan)
{
    return ec_auto_length_bin(plan->norm == EC_NORM_L1  ? (int32_t)magnitude
                              : magnitude <= UINT32_MAX ? (int32_t)ec_root_round_u32((uint32_t)magnitude)
                                                        : (int32_t)ec_root_round_u64((uint64_t)magnitude),
                              plan);
}

EC_HD uint64_t ec_auto_total(const uint32_t *counts, int32_t bins)
{
    uint64_t total = 0;
    for (int32_t i = 0; i < bins; i++)
        total += counts[i];
    return total;
}

/* The first bin with which at least numerator/denominator of `total` are counted. */
EC_HD int32_t ec_auto_quantile(const uint32_t *counts, int32_t bins, uint64_t total, uint32_t numerator, uint32_t denominator)
{
    uint64_t sum = 0;
    int32_t below = 0;
    for (int32_t i = 0; i < bins; i++) {
        sum += counts[i];
        below += sum * denominator < total * numerator;
    }
    return below < bins ? below : bins - 1;
}

/* The gray up to which the darker of Otsu's two classes goes, the first of equals. The variance between the classes is
 * (moment*count - part*total)^2 / (count * rest) but for a factor; fractions are compared as products. */
EC_HD int32_t ec_auto_otsu(const uint32_t *grays, uint64_t total)
{
    uint64_t moment = 0, count = 0, part = 0;
    for (int32_t i = 0; i < EC_AUTO_GRAYS; i++)
        moment += (uint64_t)i * grays[i];
    double best = 0, best_weight = 1;
    int32_t found = 0;
    for (int32_t i = 0; i < EC_AUTO_GRAYS; i++) {
        count += grays[i];
        part += (uint64_t)i * grays[i];
        const double all = (double)moment * (double)count, own = (double)part * (double)total;
        const double distance = all - own, weight = (double)count * (double)(total - count), square = distance * distance;
        const double left = square * best_weight, right = best * weight;
        if (weight > 0 && left > right) {
            best = square;
            best_weight = weight;
            found = i;
        }
    }
    return found;
}

/* Whether the grays of two frames of equal size are far from each other: what would have to be moved, and how far. */
EC_HD bool ec_auto_is_cut(const uint32_t *before, const uint32_t *now, uint64_t total)
{
    int64_t surplus = 0;
    uint64_t moved = 0;
    for (int32_t i = 0; i < EC_AUTO_GRAYS; i++) {
        surplus += (int64_t)now[i] - before[i];
        moved += (uint64_t)(surplus < 0 ? -surplus : surplus);
    }
    return moved > EC_AUTO_CUT_GRAYS * total;
}

/* (to - from) * weight / EC_AUTO_WHOLE, rounded. */
EC_HD int32_t ec_auto_approach(int32_t from, int32_t to, uint32_t weight)
{
    return from + (int32_t)((((int64_t)to - from) * weight + EC_AUTO_WHOLE / 2) >> 16);
}

/* As canny_threshold() in plan.c does it: floor(scaled), floor(scaled^2). At most 2^30 steps of depth 16, so squares fit. */
EC_HD int64_t ec_auto_threshold(int32_t steps, const struct ec_plan *plan)
{
    const int32_t shift = plan->gradient.size == 7 ? 8 : 4;
    const uint64_t scaled = (uint64_t)(uint32_t)steps << (plan->depth_bits - 8);
    return (int64_t)(plan->norm == EC_NORM_L1 ? scaled >> shift : (scaled * scaled) >> (2 * shift));
}

/* One frame: from what was counted in it to its thresholds. `weight`: how far they follow what this frame alone asks for. */
EC_HD void ec_auto_choose(struct ec_auto_choice *choice, struct ec_auto_state *state, const struct ec_auto_counts *counts,
                          const struct ec_plan *plan, uint32_t weight)
{
    const int32_t gain = plan->automatic.gain;
    const uint64_t total = ec_auto_total(counts->grays, EC_AUTO_GRAYS);
    int32_t low, high;
    if (plan->automatic.kind == EC_AUTO_PERCENTILE) {
        const uint64_t pixels = ec_auto_total(counts->magnitudes, EC_AUTO_MAGNITUDES);
        const int32_t bin = ec_auto_quantile(counts->magnitudes, EC_AUTO_MAGNITUDES, pixels, 9, 10) + 1;
        high = (bin << plan->automatic.magnitude_shift) * EC_AUTO_ONE * (plan->gradient.size == 7 ? 16 : 1);
        low = (int32_t)((int64_t)high * 2 / 5);
    } else if (plan->automatic.kind == EC_AUTO_OTSU) {
        high = ec_auto_otsu(counts->grays, total) * gain * EC_AUTO_ONE;
        low = high / 2;
    } else {
        const int64_t median = (int64_t)ec_auto_quantile(counts->grays, EC_AUTO_GRAYS, total, 1, 2) * gain * EC_AUTO_ONE;
        low = (int32_t)(median * 67 / 100);
        high = (int32_t)(median * 133 / 100);
    }
    low = ec_max_i32(low, EC_AUTO_LOW_LEAST * gain * EC_AUTO_ONE);
    high = ec_max_i32(high, EC_AUTO_HIGH_LEAST * gain * EC_AUTO_ONE);
    const bool begins = !state->is_set || ec_auto_is_cut(state->grays, counts->grays, total);
    state->low = begins ? low : ec_auto_approach(state->low, low, weight);
    state->high = begins ? high : ec_auto_approach(state->high, high, weight);
    state->is_set = 1;
    for (int32_t i = 0; i < EC_AUTO_GRAYS; i++)
        state->grays[i] = counts->grays[i];
    const int32_t unit = EC_AUTO_ONE / EC_AUTO_STEPS;
    choice->low_steps = (state->low + unit / 2) / unit;
    choice->high_steps = (state->high + unit / 2) / unit;
    choice->thresholds.low = ec_auto_threshold(choice->low_steps, plan);
    choice->thresholds.high = ec_auto_threshold(choice->high_steps, plan);
}

#endif
