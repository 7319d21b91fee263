#include "edge/auto_clock.h"

#include <math.h>

#include "edge/auto_arith.h"

/* Of frames whose times do not grow. */
#define FRAME_NS 40000000

uint32_t ec_auto_clock_weight(struct ec_auto_clock *clock, int64_t constant_ns, int64_t time_ns)
{
    double elapsed_ns = FRAME_NS;
    if (clock->started && time_ns > clock->time_ns)
        elapsed_ns = (double)time_ns - (double)clock->time_ns;
    clock->started = true;
    clock->time_ns = time_ns;
    if (constant_ns == 0)
        return EC_AUTO_WHOLE;
    return (uint32_t)lrint(-expm1(-elapsed_ns / (double)constant_ns) * EC_AUTO_WHOLE);
}
