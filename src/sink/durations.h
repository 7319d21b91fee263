/* How long frames last, by their times, while they are inside an encoder. */
#ifndef EC_SINK_DURATIONS_H
#define EC_SINK_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>

struct ec_duration;

/* Zero-initialised: empty. Grows to the number of frames that are inside at once. */
struct ec_durations {
    struct ec_duration *list;
    int count, size;
};

/* False: memory ran out. */
bool ec_durations_put(struct ec_durations *durations, int64_t pts, int64_t duration);
/* The duration of the frame with that time, which leaves; 0 if there is none. */
int64_t ec_durations_take(struct ec_durations *durations, int64_t pts);
void ec_durations_free(struct ec_durations *durations);

#endif
