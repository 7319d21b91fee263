/* Time of the CPU backend on one 4K frame and thread, beside memcpy of the same bytes in the same run.
 *
 * Usage: bench_cpu --bench [table]. Without --bench it checks that every line runs, once, on a small frame. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "edge/cpu.h"

#define REPETITIONS 15

static const float weights5[25] = {1, 2, 0, -2, -1, 4, 8, 0, -8, -4, 6, 12, 1, -12, -6, 4, 8, 0, -8, -4, 1, 2, 0, -2, -1};
static const float weights7[49] = {[0] = 7, [8] = -9, [24] = 40, [25] = 17, [30] = -5, [40] = 3, [48] = -1};
static const float binomial5[25] = {1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1};
static const float floats5[25] = {0.1f,  0.2f, 0.3f, -0.1f, 0.05f, 0.1f,  0.2f, 0.3f, -0.1f, 0.05f, 0.1f, 0.2f, 0.3f,
                                  -0.1f, 0.5f, 0.1f, 0.2f,  0.3f,  -0.1f, 0.5f, 0.1f, 0.2f,  0.3f,  0.1f, 0.5f};

static const struct {
    const char *name;
    struct ec_edge_params params;
    int depth_bits;
    bool limited_range;
} lines[] = {
    {"sobel l1", {.norm = EC_NORM_L1}, 8, false},
    {"sobel l2", {0}, 8, false},
    {"sobel l1 limited", {.norm = EC_NORM_L1}, 8, true},
    {"sobel l2 limited", {0}, 8, true},
    {"sobel l2 threshold", {.threshold = 60}, 8, false},
    {"sobel l2 scale", {.scale = 0.5}, 8, false},
    {"sobel 5 l2", {.aperture = 5}, 8, false},
    {"sobel 7 l2", {.aperture = 7}, 8, false},
    {"scharr l2", {.op = EC_OPERATOR_SCHARR}, 8, false},
    {"roberts l2", {.op = EC_OPERATOR_ROBERTS}, 8, false},
    {"kirsch", {.op = EC_OPERATOR_KIRSCH}, 8, false},
    {"robinson", {.op = EC_OPERATOR_ROBINSON}, 8, false},
    {"laplacian", {.op = EC_OPERATOR_LAPLACIAN}, 8, false},
    {"log", {.op = EC_OPERATOR_LOG}, 8, false},
    {"dog", {.op = EC_OPERATOR_DOG}, 8, false},
    {"blur 1.4 sobel l2", {.blur_sigma = 1.4}, 8, false},
    {"blur 5 sobel l2", {.blur_sigma = 5}, 8, false},
    {"conv 5x5 small", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {5, weights5, 0}}, 8, false},
    {"conv 5x5 binomial/256", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {5, binomial5, 256}}, 8, false},
    {"conv 7x7 sparse", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {7, weights7, 3}}, 8, false},
    {"conv 5x5 float", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {5, floats5, 0}}, 8, false},
    {"canny l1", {.op = EC_OPERATOR_CANNY, .norm = EC_NORM_L1}, 8, false},
    {"canny l2", {.op = EC_OPERATOR_CANNY}, 8, false},
    {"blur 1.4 canny l2", {.op = EC_OPERATOR_CANNY, .blur_sigma = 1.4}, 8, false},
    {"canny l2, rgb", {.op = EC_OPERATOR_CANNY, .channels = EC_CHANNELS_RGB}, 8, false},
    {"canny 5 l2", {.op = EC_OPERATOR_CANNY, .aperture = 5}, 8, false},
    {"canny l2, 10 bits", {.op = EC_OPERATOR_CANNY}, 10, false},
    {"canny l2, 16 bits", {.op = EC_OPERATOR_CANNY}, 16, false},
    {"sobel l1, 10 bits", {.norm = EC_NORM_L1}, 10, false},
    {"sobel l2, 10 bits", {0}, 10, false},
    {"sobel l2 limited to 8, 10 bits", {.output_depth_bits = 8}, 10, true},
    {"sobel l2, 16 bits", {0}, 16, false},
    {"sobel l2 limited, 16 bits", {0}, 16, true},
    {"blur 1.4 sobel l2, 16 bits", {.blur_sigma = 1.4}, 16, false},
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times)
{
    qsort(times, REPETITIONS, sizeof *times, compare);
    return times[REPETITIONS / 2];
}

int main(int argc, char **argv)
{
    const bool bench = argc > 1 && strcmp(argv[1], "--bench") == 0;
    const int width = bench ? 3840 : 384, height = bench ? 2160 : 54;
    const size_t bytes = (size_t)width * (size_t)height * 2;
    const struct ec_rows *rows = ec_rows_select(argc > 2 ? argv[2] : NULL);
    struct ec_error error = {0};
    struct ec_device *device = NULL;
    int status = 1;
    uint8_t *in_bytes = NULL, *out_bytes = NULL;
    struct ec_plan *plan = malloc(sizeof *plan);
    if (!rows || !plan || ec_cpu_open_rows(&device, 1, rows, &error) != EC_OK)
        goto fail;
    in_bytes = ec_backend_cpu.host_alloc(device, bytes * EC_CHANNELS_MAX);
    out_bytes = ec_backend_cpu.host_alloc(device, bytes);
    if (!in_bytes || !out_bytes)
        goto fail;
    memset(out_bytes, 0, bytes);
    printf("%dx%d, one thread, %s\n", width, height, rows->name);

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const int depth = lines[i].depth_bits;
        const size_t pixel = depth > 8 ? 2 : 1;
        uint32_t random = 1;
        for (size_t k = 0; k < (size_t)width * (size_t)height * EC_CHANNELS_MAX; k++) {
            random = random * 1664525u + 1013904223u;
            if (depth > 8)
                ((uint16_t *)(void *)in_bytes)[k] = (uint16_t)(random >> (32 - depth));
            else
                in_bytes[k] = (uint8_t)(random >> 24);
        }
        if (ec_plan_make(plan, &lines[i].params, depth, &error) != EC_OK)
            goto fail;
        const struct ec_image in = {.data = in_bytes,
                                    .width_px = width,
                                    .height_px = height,
                                    .pitch_bytes = width * (ptrdiff_t)pixel,
                                    .depth_bits = depth,
                                    .plane_bytes = width * (ptrdiff_t)pixel * height};
        struct ec_image out = {.data = out_bytes,
                               .width_px = width,
                               .height_px = height,
                               .pitch_bytes = width * (ptrdiff_t)pixel,
                               .depth_bits = plan->output_depth_bits};
        struct ec_engine *engine = NULL;
        if (ec_backend_cpu.engine_open(&engine, device, plan, width, height, 1, &error) != EC_OK)
            goto fail;
        double run[REPETITIONS], copy[REPETITIONS];
        for (int k = 0; k < REPETITIONS; k++) {
            const double start = now_ms();
            memcpy(out_bytes, in_bytes, bytes / 2 * pixel);
            const double middle = now_ms();
            ec_backend_cpu.submit(engine, &in, lines[i].limited_range, &out, &error);
            run[k] = now_ms() - middle;
            copy[k] = middle - start;
            ec_backend_cpu.collect(engine, NULL, &error);
        }
        ec_backend_cpu.engine_close(&engine);
        const double frame = median(run), base = median(copy);
        if (bench)
            printf("%-32s %7.3f ms  %5.2f x memcpy (%.3f ms)\n", lines[i].name, frame, frame / base, base);
    }
    status = 0;
fail:
    if (status)
        fprintf(stderr, "the benchmark cannot run: %s\n", error.status ? error.text : "no memory, or no such table");
    if (device) {
        ec_backend_cpu.host_free(device, in_bytes, bytes * EC_CHANNELS_MAX);
        ec_backend_cpu.host_free(device, out_bytes, bytes);
        ec_backend_cpu.close(&device);
    }
    free(plan);
    return status;
}
