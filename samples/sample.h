/* What the samples share: one check for every CUDA call, one clock, one table. Plain C; the second half is for CUDA sources.
 *
 * A sample is a program and ends itself at the first error: in fifty lines that is the clearest thing to do. The library must
 * not, and shows the other way in cuda/check.h. Exit status: 0, 1 if a check or a call failed, 77 if there is no GPU to use. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAMPLE_SKIPPED 77

/* A table in Markdown: it reads well on a terminal, and samples/README.md takes it as it is. */
struct sample_table {
    double roof; /* the measured limit, in giga-units a second; 0: not measured */
    double first_s; /* time of the first row */
    int failures;
};

/* `unit` is what a row's amount is counted in ("GB/s"), `roof_name` what the roof is, `note` the title of the free column. */
static inline void sample_begin(struct sample_table *t, const char *title, const char *unit, const char *roof_name, double roof,
                                const char *note)
{
    t->roof = roof;
    t->first_s = 0; /* failures add up over the tables of a program */
    printf("\n%s", title);
    if (roof > 0)
        printf(" (roof: %s, %.0f %s)", roof_name, roof, unit);
    printf("\n\n| variant | us | %s | %% of roof | x first | %s | check |\n|---|---|---|---|---|---|---|\n", unit, note);
}

/* A row: `amount` bytes or operations took `seconds`; `note` is a printf format. */
static inline void sample_row(struct sample_table *t, const char *variant, double seconds, double amount, bool passed,
                              const char *note, ...)
{
    const double rate = amount / seconds * 1e-9;
    va_list arguments;
    if (t->first_s == 0)
        t->first_s = seconds;
    printf("| %s | %.2f | %.1f | ", variant, seconds * 1e6, rate);
    if (t->roof > 0)
        printf("%.1f", 100 * rate / t->roof);
    printf(" | %.2f | ", t->first_s / seconds);
    va_start(arguments, note);
    vprintf(note, arguments);
    va_end(arguments);
    printf(" | %s |\n", passed ? "passed" : "FAILED");
    fflush(stdout);
    t->failures += !passed;
}

/* Ends the program well or, if a check failed, not. */
static inline int sample_end(const struct sample_table *t)
{
    if (t->failures)
        printf("\n%d checks failed\n", t->failures);
    return t->failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The number that argument `index` is, `usual` without one; ends the program unless it is low..high. */
static inline long sample_number(int argc, char **argv, int index, long usual, long low, long high)
{
    char *end = NULL;
    if (index >= argc)
        return usual;
    const long value = strtol(argv[index], &end, 10);
    if (end == argv[index] || *end || value < low || value > high) {
        fprintf(stderr, "%s: '%s' is not a number from %ld to %ld\n", argv[0], argv[index], low, high);
        exit(2);
    }
    return value;
}

static inline void *sample_allocate(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) {
        fprintf(stderr, "%zu bytes of memory could not be had\n", bytes);
        exit(EXIT_FAILURE);
    }
    return p;
}

/* The next number of a fixed sequence: the same data on every machine. */
static inline uint32_t sample_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Seconds of the wall clock. */
static inline double sample_now_s(void)
{
    struct timespec t;
    (void)timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline int sample_compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#ifdef __CUDACC__
#include <cuda_runtime.h>

#define CUDA(call) sample_check((call), #call, __FILE__, __LINE__)

static inline void sample_check(cudaError_t result, const char *call, const char *file, int line)
{
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, call, cudaGetErrorString(result), cudaGetErrorName(result));
    exit(EXIT_FAILURE);
}

/* Takes the first GPU and names it, or ends the program with SAMPLE_SKIPPED and one sentence. */
static inline void sample_open_gpu(const char *program)
{
    int count = 0, driver = 0;
    const cudaError_t found = cudaGetDeviceCount(&count);
    if (found != cudaSuccess || count == 0) {
        printf("%s: nothing was measured, because no GPU can be used here (%s).\n", program, cudaGetErrorString(found));
        exit(SAMPLE_SKIPPED);
    }
    cudaDeviceProp gpu;
    CUDA(cudaGetDeviceProperties(&gpu, 0));
    CUDA(cudaDriverGetVersion(&driver));
    printf("%s, compute capability %d.%d, %d multiprocessors, %d MiB of L2; driver for CUDA %d.%d\n", gpu.name, gpu.major,
           gpu.minor, gpu.multiProcessorCount, gpu.l2CacheSize >> 20, driver / 1000, driver % 1000 / 10);
}

/* Seconds of one work(), which only launches or enqueues on the default stream: events before and after a batch of some
 * milliseconds, the median of several batches, after a first call that loads the code and warms the caches. With SAMPLE_ONCE in
 * the environment a single call, for profilers and sanitizers. */
template <class Work>
static double sample_time(Work work)
{
    enum { BATCHES = 7, MOST = 200 };
    double seconds[BATCHES];
    cudaEvent_t start, end;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&end));
    const bool once = getenv("SAMPLE_ONCE") != NULL;
    int launches = 1, batches = once ? 1 : BATCHES;
    for (int i = once ? 0 : -2; i < batches; i++) {
        float ms = 0;
        CUDA(cudaEventRecord(start));
        for (int k = 0; k < launches; k++)
            work();
        CUDA(cudaGetLastError());
        CUDA(cudaEventRecord(end));
        CUDA(cudaEventSynchronize(end));
        CUDA(cudaEventElapsedTime(&ms, start, end));
        if (i >= 0)
            seconds[i] = ms * 1e-3 / launches;
        else if (i == -1 && ms > 30)
            batches = 3;
        else if (i == -1)
            launches = ms * MOST < 5 ? MOST : (int)(5 / ms) + 1;
    }
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(end));
    qsort(seconds, batches, sizeof seconds[0], sample_compare_doubles);
    return seconds[batches / 2];
}

/* Memory of the GPU, filled with bytes 255: no result can be right that nobody wrote. */
template <class T>
static T *sample_device(size_t count)
{
    T *d = NULL;
    CUDA(cudaMalloc((void **)&d, count * sizeof(T)));
    CUDA(cudaMemset(d, 255, count * sizeof(T)));
    return d;
}

template <class T>
static T *sample_to_device(const T *h, size_t count)
{
    T *d = sample_device<T>(count);
    CUDA(cudaMemcpy(d, h, count * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}

/* GB/s of the GPU's memory: a device-to-device copy larger than any cache, bytes read and bytes written. */
static inline double sample_copy_roof(void)
{
    const size_t bytes = (size_t)512 << 20;
    char *from = sample_device<char>(bytes), *to = sample_device<char>(bytes);
    const double s = sample_time([&] { CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); });
    CUDA(cudaFree(from));
    CUDA(cudaFree(to));
    return 2.0 * bytes / s * 1e-9;
}

enum { SAMPLE_ROOF_BLOCK = 256, SAMPLE_ROOF_ROUNDS = 1024 };

static __global__ void sample_multiply_add_kernel(float *out)
{
    float v[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        v[i] = (float)(threadIdx.x + i);
    for (int r = 0; r < SAMPLE_ROOF_ROUNDS; r++)
#pragma unroll
        for (int i = 0; i < 8; i++)
            v[i] = v[i] * 0.999f + 0.001f;
    if (v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7] < 0)
        out[0] = v[0]; /* never, but the compiler cannot know */
}

/* GFLOP/s of multiply-adds in registers, with nothing else to do. */
static inline double sample_multiply_add_roof(void)
{
    const int blocks = 8192;
    float *d = sample_device<float>(1);
    const double s = sample_time([=] { sample_multiply_add_kernel<<<blocks, SAMPLE_ROOF_BLOCK>>>(d); });
    CUDA(cudaFree(d));
    return 2.0 * blocks * SAMPLE_ROOF_BLOCK * SAMPLE_ROOF_ROUNDS * 8 / s * 1e-9;
}
#endif
#endif
