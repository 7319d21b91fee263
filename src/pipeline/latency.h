/* Percentiles of a stream of durations in constant memory: a histogram with 64 equal steps an octave, so a percentile is at
 * most 1/64 (1.6 %) above the true one; the maximum is exact. One thread, or the caller's lock. */
#ifndef EC_PIPELINE_LATENCY_H
#define EC_PIPELINE_LATENCY_H

#include <stdint.h>

#define EC_LATENCY_STEPS 64
#define EC_LATENCY_OCTAVES 58

struct ec_latency {
    int64_t counts[EC_LATENCY_OCTAVES * EC_LATENCY_STEPS];
    int64_t total, max_ns;
};

void ec_latency_add(struct ec_latency *latency, int64_t ns);

/* The smallest recorded duration (rounded up to its step) that `percent` of all durations do not exceed, in ms; NaN without
 * durations. */
double ec_latency_percentile_ms(const struct ec_latency *latency, double percent);

#endif
