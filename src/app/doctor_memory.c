#include "app/doctor_memory.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

/* A pipeline of 8K frames with every queue full needs about this much. */
#define ENOUGH_BYTES 2e9

static const char group[] = "Memory";

/* The number that starts the file; -1: no such file, or "max". */
static int64_t read_number(const char *path)
{
    int64_t value = -1;
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    if (fscanf(file, "%" SCNd64, &value) != 1)
        value = -1;
    fclose(file);
    return value;
}

static int64_t available_bytes(void)
{
    char line[128];
    int64_t kib = -1;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %" SCNd64, &kib) != 1)
            kib = -1;
    if (file)
        fclose(file);
    return kib < 0 ? -1 : kib * 1024;
}

void doctor_memory(const struct ec_examiner *examiner)
{
    const int64_t available = available_bytes();
    const int64_t limit = read_number("/sys/fs/cgroup/memory.max"), used = read_number("/sys/fs/cgroup/memory.current");
    if (available < 0)
        ec_finding(examiner, group, EC_VERDICT_NOTE, "how much is available is not known (no /proc/meminfo)");
    else if ((double)available < ENOUGH_BYTES)
        ec_finding(examiner, group, EC_VERDICT_NOTE,
                   "%.1f GB are available: for large videos, --queue 1 and --lanes 2 need less", (double)available / 1e9);
    else
        ec_finding(examiner, group, EC_VERDICT_OK, "%.1f GB are available", (double)available / 1e9);
    if (limit >= 0)
        ec_finding(examiner, group, (double)(limit - used) < ENOUGH_BYTES ? EC_VERDICT_NOTE : EC_VERDICT_OK,
                   "a control group limits this session to %.1f GB, %.1f of them in use; page-locked memory counts",
                   (double)limit / 1e9, used > 0 ? (double)used / 1e9 : 0.0);
}
