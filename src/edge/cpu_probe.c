#include "edge/cpu_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "edge/spread.h"

#define REPETITIONS 21
#define ROTATION_BYTES ((size_t)128 << 20)
#define CACHE_BYTES_MAX ((long)256 << 20)

int64_t ec_cpu_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef __x86_64__
/* The brand string stands in three leaves of 16 bytes, padded with blanks on either side. */
static void read_brand(char brand[49])
{
    unsigned words[12] = {0};
    for (unsigned leaf = 0; leaf < 3; leaf++) {
        unsigned *w = words + 4 * leaf;
        if (!__get_cpuid(0x80000002u + leaf, &w[0], &w[1], &w[2], &w[3])) {
            snprintf(brand, 49, "x86-64 processor");
            return;
        }
    }
    char text[49] = {0};
    memcpy(text, words, sizeof words);
    const char *start = text + strspn(text, " ");
    size_t length = strlen(start);
    while (length && start[length - 1] == ' ')
        length--;
    snprintf(brand, 49, "%.*s", (int)length, start);
}
#else
static void read_brand(char brand[49])
{
#ifdef __aarch64__
    snprintf(brand, 49, "64-bit ARM processor");
#else
    snprintf(brand, 49, "CPU");
#endif
}
#endif

void ec_cpu_brand(char *out, size_t size)
{
    char brand[49];
    read_brand(brand);
    snprintf(out, size, "%s", brand);
}

void ec_cpu_name(char *out, size_t size, int threads, const char *rows_name)
{
    char brand[49];
    read_brand(brand);
    snprintf(out, size, "%s, %d thread%s, %s", brand, threads, threads == 1 ? "" : "s", rows_name);
}

size_t ec_cpu_rotation_bytes(void)
{
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return cache > 0 && cache < CACHE_BYTES_MAX ? 2 * (size_t)cache : ROTATION_BYTES;
}

enum ec_status ec_cpu_measure_copy(size_t bytes, double *gb_per_s, struct ec_error *error)
{
    const size_t wanted = ec_cpu_rotation_bytes();
    const size_t blocks = bytes && bytes < wanted ? wanted / bytes + 1 : 2;
    unsigned char *memory = bytes && bytes <= SIZE_MAX / 2 / blocks ? malloc(2 * blocks * bytes) : NULL;
    if (!memory)
        return ec_fail(error, EC_ERROR_MEMORY, "there is no memory to measure copies of %zu bytes", bytes);
    memset(memory, 1, 2 * blocks * bytes);

    double times[REPETITIONS];
    for (size_t i = 0; i < REPETITIONS; i++) {
        unsigned char *from = memory + 2 * (i % blocks) * bytes;
        const int64_t start = ec_cpu_clock_ns();
        memcpy(from + bytes, from, bytes);
        times[i] = (double)(ec_cpu_clock_ns() - start);
    }
    free(memory);
    const double median = ec_spread_of(times, REPETITIONS).median;
    *gb_per_s = (double)bytes / (median > 0 ? median : 1);
    return EC_OK;
}
