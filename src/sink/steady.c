#include "sink/steady.h"

#include <math.h>

/* Timestamps that were rounded are off by less than a frame; FFmpeg's own limit. */
#define TOLERANCE 1.1

int64_t ec_steady_repeats(struct ec_steady *s, int64_t pts)
{
    if (!s->any)
        s->first_pts = pts;
    s->any = true;
    const double place = (double)(pts - s->first_pts) * av_q2d(s->time_base) * av_q2d(s->frame_rate);
    const double late = place - (double)s->given;
    if (late < -TOLERANCE)
        return -1;
    const int64_t repeats = late > TOLERANCE ? llround(late) : 0;
    s->given += repeats + 1;
    return repeats;
}
