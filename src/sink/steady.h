/* Frames of any times onto a constant rate, as `ffmpeg -vsync cfr` does it. */
#ifndef EC_SINK_STEADY_H
#define EC_SINK_STEADY_H

#include <libavutil/rational.h>
#include <stdbool.h>
#include <stdint.h>

struct ec_steady {
    AVRational time_base, frame_rate; /* of the frames that come, of those that go */
    int64_t first_pts, given; /* private */
    bool any;
};

/* How often the frame before this one has to be shown once more, so that this one is in its place to within a frame or so;
 * negative: this one comes too early, and is left out. */
int64_t ec_steady_repeats(struct ec_steady *steady, int64_t pts);

#endif
