/* When a frame is due on the wall clock. */
#ifndef EC_SINK_PACE_H
#define EC_SINK_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised: not started, the next frame starts it. All times in ns; media times count from anywhere. */
struct ec_pace {
    bool started;
    int64_t wall_ns, media_ns; /* one moment on both axes */
};

/* When media_ns is due. Starts the clock at now_ns. A frame more than EC_PACE_LATE_NS late moves the clock, so that a slow
 * machine shows frames as they come rather than hurrying after a lost start. */
int64_t ec_pace_due(struct ec_pace *pace, int64_t media_ns, int64_t now_ns);

#define EC_PACE_LATE_NS 250000000

/* The clock stood still: the next frame starts it again. */
void ec_pace_restart(struct ec_pace *pace);

#endif
