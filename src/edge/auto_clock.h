/* From the times of frames to the weights with which automatic thresholds follow them. */
#ifndef EC_EDGE_AUTO_CLOCK_H
#define EC_EDGE_AUTO_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* All zero before the first frame. */
struct ec_auto_clock {
    bool started;
    int64_t time_ns; /* of the last frame */
};

/* The weight of a frame taken at time_ns, in parts of EC_AUTO_WHOLE. */
uint32_t ec_auto_clock_weight(struct ec_auto_clock *clock, int64_t constant_ns, int64_t time_ns);

#endif
