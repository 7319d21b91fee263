#include "sink/durations.h"

#include <stdlib.h>

struct ec_duration {
    int64_t pts, duration;
};

bool ec_durations_put(struct ec_durations *d, int64_t pts, int64_t duration)
{
    if (d->count == d->size) {
        const int size = d->size ? 2 * d->size : 64;
        struct ec_duration *grown = realloc(d->list, (size_t)size * sizeof *grown);
        if (!grown)
            return false;
        d->list = grown;
        d->size = size;
    }
    d->list[d->count++] = (struct ec_duration){pts, duration};
    return true;
}

int64_t ec_durations_take(struct ec_durations *d, int64_t pts)
{
    for (int i = 0; i < d->count; i++) {
        if (d->list[i].pts == pts) {
            const int64_t duration = d->list[i].duration;
            d->list[i] = d->list[--d->count];
            return duration;
        }
    }
    return 0;
}

void ec_durations_free(struct ec_durations *d)
{
    free(d->list);
    *d = (struct ec_durations){0};
}
