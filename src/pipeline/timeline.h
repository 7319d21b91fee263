/* How long engines were busy, and how long two or more of them were busy at once, from the intervals of the work they did.
 *
 * Intervals of one engine come in the order of their start times and may overlap or touch; those of different engines may come
 * in any order. Memory is bounded: intervals are settled as soon as no later one can reach back before them. Not thread-safe.
 */
#ifndef EC_PIPELINE_TIMELINE_H
#define EC_PIPELINE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#define EC_TIMELINE_ENGINES 3
#define EC_TIMELINE_CAPACITY 1024

struct ec_interval {
    int64_t start_ns, end_ns;
};

struct ec_timeline {
    struct ec_interval pending[EC_TIMELINE_ENGINES][EC_TIMELINE_CAPACITY]; /* merged, disjoint, ascending */
    int count[EC_TIMELINE_ENGINES];
    int64_t busy_ns[EC_TIMELINE_ENGINES]; /* settled */
    int64_t any_ns, overlap_ns; /* settled: one or more engines busy; two or more */
    int64_t first_ns, last_ns; /* span of everything added; 0 without */
    int64_t settled_ns; /* what comes late counts from here on only */
    bool started;
};

/* end_ns < start_ns counts as an empty interval. */
void ec_timeline_add(struct ec_timeline *timeline, int engine, int64_t start_ns, int64_t end_ns);

struct ec_timeline_result {
    int64_t span_ns, busy_ns[EC_TIMELINE_ENGINES], any_ns, overlap_ns;
};

/* Everything added so far; the timeline itself is left as it was. */
void ec_timeline_read(const struct ec_timeline *timeline, struct ec_timeline_result *out);

#endif
