#include "pipeline/latency.h"

#include <math.h>

/* Below 64 ns a step is 1 ns; from there each octave [2^k, 2^(k+1)) has 64 steps of 2^(k-6). */
static int step_of(int64_t ns)
{
    if (ns < EC_LATENCY_STEPS)
        return ns < 0 ? 0 : (int)ns;
    const int octave = 63 - __builtin_clzll((unsigned long long)ns);
    return (octave - 5) * EC_LATENCY_STEPS + (int)((ns >> (octave - 6)) - EC_LATENCY_STEPS);
}

static int64_t step_end_ns(int step)
{
    if (step < EC_LATENCY_STEPS)
        return step;
    const int octave = step / EC_LATENCY_STEPS + 5;
    const int64_t within = step % EC_LATENCY_STEPS;
    return (int64_t)(((uint64_t)(within + EC_LATENCY_STEPS + 1) << (octave - 6)) - 1);
}

void ec_latency_add(struct ec_latency *latency, int64_t ns)
{
    latency->counts[step_of(ns)]++;
    latency->total++;
    if (ns > latency->max_ns)
        latency->max_ns = ns;
}

double ec_latency_percentile_ms(const struct ec_latency *latency, double percent)
{
    if (latency->total == 0)
        return NAN;
    const int64_t rank = (int64_t)ceil((double)latency->total * percent / 100.0);
    int64_t seen = 0;
    int step = 0;
    for (; step < EC_LATENCY_OCTAVES * EC_LATENCY_STEPS - 1; step++) {
        seen += latency->counts[step];
        if (seen >= rank && seen > 0)
            break;
    }
    const int64_t end = step_end_ns(step);
    return (double)(end < latency->max_ns ? end : latency->max_ns) / 1e6;
}
