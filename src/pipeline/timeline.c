#include "pipeline/timeline.h"

#include <string.h>

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Sweeps everything before `until` once: at each moment the next boundary of any engine ends a stretch with a constant number
 * of busy engines. Leaves what lies behind. */
static void settle(struct ec_timeline *t, int64_t until)
{
    int next[EC_TIMELINE_ENGINES] = {0};
    int64_t now = INT64_MIN;
    for (;;) {
        int64_t boundary = until;
        int busy = 0;
        bool is_busy[EC_TIMELINE_ENGINES] = {false};
        for (int e = 0; e < EC_TIMELINE_ENGINES; e++) {
            while (next[e] < t->count[e] && t->pending[e][next[e]].end_ns <= now)
                next[e]++;
            if (next[e] == t->count[e])
                continue;
            const struct ec_interval *i = &t->pending[e][next[e]];
            is_busy[e] = i->start_ns <= now;
            busy += is_busy[e];
            boundary = min64(boundary, is_busy[e] ? i->end_ns : i->start_ns);
        }
        if (busy > 0) {
            const int64_t length = boundary - now;
            for (int e = 0; e < EC_TIMELINE_ENGINES; e++)
                t->busy_ns[e] += is_busy[e] ? length : 0;
            t->any_ns += length;
            t->overlap_ns += busy > 1 ? length : 0;
        }
        if (boundary >= until)
            break;
        now = boundary;
    }
    for (int e = 0; e < EC_TIMELINE_ENGINES; e++) {
        int keep = 0;
        for (int i = next[e]; i < t->count[e]; i++) {
            struct ec_interval rest = t->pending[e][i];
            rest.start_ns = max64(rest.start_ns, until);
            if (rest.end_ns > rest.start_ns)
                t->pending[e][keep++] = rest;
        }
        t->count[e] = keep;
    }
    t->settled_ns = until;
}

/* No later interval of an engine starts before the last start seen of it; engines that never spoke do not hold the others up.
 */
static void make_room(struct ec_timeline *t)
{
    int64_t safe = INT64_MAX;
    for (int e = 0; e < EC_TIMELINE_ENGINES; e++)
        if (t->count[e] > 0)
            safe = min64(safe, t->pending[e][t->count[e] - 1].start_ns);
    settle(t, safe);
    /* An engine that fell silent would hold the others: settle up to the fullest engine's newest interval. */
    for (int e = 0; e < EC_TIMELINE_ENGINES; e++)
        if (t->count[e] == EC_TIMELINE_CAPACITY)
            settle(t, t->pending[e][EC_TIMELINE_CAPACITY - 1].start_ns);
}

void ec_timeline_add(struct ec_timeline *t, int engine, int64_t start_ns, int64_t end_ns)
{
    if (t->started)
        start_ns = max64(start_ns, t->settled_ns);
    else
        t->settled_ns = INT64_MIN;
    end_ns = max64(end_ns, start_ns);
    if (!t->started || start_ns < t->first_ns)
        t->first_ns = start_ns;
    t->last_ns = t->started ? max64(t->last_ns, end_ns) : end_ns;
    t->started = true;
    if (end_ns == start_ns)
        return;
    int *count = &t->count[engine];
    struct ec_interval *last = *count ? &t->pending[engine][*count - 1] : NULL;
    if (last && start_ns <= last->end_ns) {
        last->end_ns = max64(last->end_ns, end_ns);
        return;
    }
    if (*count == EC_TIMELINE_CAPACITY)
        make_room(t);
    t->pending[engine][(*count)++] = (struct ec_interval){start_ns, end_ns};
}

void ec_timeline_read(const struct ec_timeline *timeline, struct ec_timeline_result *out)
{
    struct ec_timeline t;
    memcpy(&t, timeline, sizeof t);
    settle(&t, INT64_MAX);
    *out = (struct ec_timeline_result){.span_ns = t.last_ns - t.first_ns, .any_ns = t.any_ns, .overlap_ns = t.overlap_ns};
    memcpy(out->busy_ns, t.busy_ns, sizeof t.busy_ns);
}
