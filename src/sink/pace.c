#include "sink/pace.h"

int64_t ec_pace_due(struct ec_pace *pace, int64_t media_ns, int64_t now_ns)
{
    const int64_t due_ns = pace->wall_ns + (media_ns - pace->media_ns);
    if (pace->started && now_ns - due_ns <= EC_PACE_LATE_NS)
        return due_ns;
    *pace = (struct ec_pace){.started = true, .wall_ns = now_ns, .media_ns = media_ns};
    return now_ns;
}

void ec_pace_restart(struct ec_pace *pace)
{
    pace->started = false;
}
