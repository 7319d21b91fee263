/* Intervals of the GPU's engines, for streams.cu: how much they overlap, and a file that Perfetto draws (Trace Event Format).
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdio.h>
#include <stdlib.h>

struct interval {
    double start_us, end_us;
    int engine, frame;
};

struct edge {
    double at_us;
    int step; /* +1: an interval begins, -1: one ends */
};

static inline int timeline_compare(const void *a, const void *b)
{
    const struct edge *x = (const struct edge *)a, *y = (const struct edge *)b;
    if (x->at_us != y->at_us)
        return x->at_us < y->at_us ? -1 : 1;
    return x->step - y->step;
}

/* Percent of the time in which anything runs that two or more intervals run; `edges` has room for 2 * count. */
static inline double timeline_overlap(const struct interval *intervals, int count, struct edge *edges)
{
    double busy = 0, overlapped = 0;
    int running = 0;
    for (int i = 0; i < count; i++) {
        edges[2 * i].at_us = intervals[i].start_us;
        edges[2 * i].step = 1;
        edges[2 * i + 1].at_us = intervals[i].end_us;
        edges[2 * i + 1].step = -1;
    }
    qsort(edges, (size_t)count * 2, sizeof *edges, timeline_compare);
    for (int i = 0; i < 2 * count; i++) {
        if (i > 0 && running >= 1)
            busy += edges[i].at_us - edges[i - 1].at_us;
        if (i > 0 && running >= 2)
            overlapped += edges[i].at_us - edges[i - 1].at_us;
        running += edges[i].step;
    }
    return busy > 0 ? 100 * overlapped / busy : 0;
}

static inline void timeline_open(FILE *f)
{
    fputs("{\"traceEvents\":[{}", f);
}

/* A run is a process of the trace, an engine a thread of it. */
static inline void timeline_write(FILE *f, int run, const char *name, const struct interval *intervals, int count,
                                  const char *const *engines, int engine_count)
{
    fprintf(f, ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"%s\"}}", run, name);
    for (int e = 0; e < engine_count; e++)
        fprintf(f, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}", run, e,
                engines[e]);
    for (int i = 0; i < count; i++)
        fprintf(f, ",\n{\"ph\":\"X\",\"name\":\"frame %d\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f}", intervals[i].frame,
                run, intervals[i].engine, intervals[i].start_us, intervals[i].end_us - intervals[i].start_us);
}

static inline void timeline_close(FILE *f)
{
    fputs("]}\n", f);
}

#endif
