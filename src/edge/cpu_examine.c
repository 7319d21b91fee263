#include "edge/cpu_examine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "edge/cpu_probe.h"
#include "edge/rows.h"
#include "edge/workers.h"

static const char group[] = "CPU";

#ifdef __x86_64__
#define ADD_IF(set)                                                                                                            \
    if (__builtin_cpu_supports(set))                                                                                           \
    strncat(out, " " set, size - strlen(out) - 1)

static void list_instruction_sets(char *out, size_t size)
{
    ADD_IF("sse4.2");
    ADD_IF("avx");
    ADD_IF("avx2");
    ADD_IF("fma");
    ADD_IF("avx512f");
    ADD_IF("avx512bw");
    ADD_IF("avx512dq");
    ADD_IF("avx512vl");
    ADD_IF("avx512vnni");
}
#else
static void list_instruction_sets(char *out, size_t size)
{
    strncat(out, " those that every processor of this kind has", size - 1);
}
#endif

static void report_rows(const struct ec_examiner *examiner)
{
    char compiled[128] = "";
    for (int i = 0; ec_rows_name(i); i++) {
        strncat(compiled, " ", sizeof compiled - strlen(compiled) - 1);
        strncat(compiled, ec_rows_name(i), sizeof compiled - strlen(compiled) - 1);
    }
    ec_finding(examiner, group, EC_VERDICT_OK, "detectors run with the %s row functions (built in:%s)",
               ec_rows_select(NULL)->name, compiled);
}

/* A processor's share of time that a control group grants, in cores; 0: no limit. */
static double granted_cores(void)
{
    double quota = 0, period = 0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (!file)
        return 0;
    const int read = fscanf(file, "%lf %lf", &quota, &period); /* "max 100000" without a limit */
    fclose(file);
    return read == 2 && period > 0 ? quota / period : 0;
}

void ec_cpu_examine(const struct ec_device_params *params, const struct ec_examiner *examiner)
{
    char brand[64], sets[160] = "";
    const int cores = ec_workers_cores();
    const long online = sysconf(_SC_NPROCESSORS_ONLN), cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const double granted = granted_cores();
    ec_cpu_brand(brand, sizeof brand);
    list_instruction_sets(sets, sizeof sets);
    if (cache > 0)
        ec_finding(examiner, group, EC_VERDICT_OK, "%s, last cache %.1f MB", brand, (double)cache / 1e6);
    else
        ec_finding(examiner, group, EC_VERDICT_OK, "%s", brand);
    ec_finding(examiner, group, EC_VERDICT_OK, "instruction sets:%s", sets);
    report_rows(examiner);
    ec_finding(examiner, group, cores < online ? EC_VERDICT_NOTE : EC_VERDICT_OK,
               "%d of %ld processors may be used; the CPU backend takes %d thread%s (--threads)", cores, online,
               params->threads ? params->threads : cores, (params->threads ? params->threads : cores) == 1 ? "" : "s");
    if (granted > 0 && granted < cores)
        ec_finding(examiner, group, EC_VERDICT_NOTE,
                   "a control group grants %.1f processors' worth of time: more threads than that wait for each other",
                   granted);
}
