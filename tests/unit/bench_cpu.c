/* CPU time of the backend on one 4K frame and thread, beside memcpy of the same bytes in the same run, from the same buffers to
 * the same: on one pair of buffers that stays in the last cache where that is large ("hot"), and on pairs that take turns and
 * are together larger than it ("rotating"), as frames of a video are.
 *
 * Usage: bench_cpu --bench [TABLE [WORD [FILE]]]: lines whose name holds WORD, on the bytes in FILE instead of noise. Copies
 * and frames alternate; of each the fastest counts, which is what a busy machine leaves alone. Without --bench it checks that
 * every line runs, once, on a small frame. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "edge/cpu.h"

#define REPETITIONS 60
#define LINE_MS 200 /* no further repetitions from here on */
#define PAIRS 8
#define WEIGHTS_MAX (EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE)

static const float weights5[25] = {1, 2, 0, -2, -1, 4, 8, 0, -8, -4, 6, 12, 1, -12, -6, 4, 8, 0, -8, -4, 1, 2, 0, -2, -1};
static const float weights7[49] = {[0] = 7, [8] = -9, [24] = 40, [25] = 17, [30] = -5, [40] = 3, [48] = -1};
static const float binomial5[25] = {1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1};
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
    {"scharr l1", {.op = EC_OPERATOR_SCHARR, .norm = EC_NORM_L1}, 8, false},
    {"prewitt l1", {.op = EC_OPERATOR_PREWITT, .norm = EC_NORM_L1}, 8, false},
    {"scharr l2", {.op = EC_OPERATOR_SCHARR}, 8, false},
    {"roberts l1", {.op = EC_OPERATOR_ROBERTS, .norm = EC_NORM_L1}, 8, false},
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
    {"conv 5x5 float", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {5, NULL, 0}}, 8, false},
    {"conv 9x9 small", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {9, NULL, 0}}, 8, false},
    {"conv 15x15 small", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {15, NULL, 0}}, 8, false},
    {"conv 3x3 float", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, NULL, 0}}, 8, false},
    {"conv 7x7 float", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {7, NULL, 0}}, 8, false},
    {"conv 9x9 float", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {9, NULL, 0}}, 8, false},
    {"conv 15x15 float", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {15, NULL, 0}}, 8, false},
    {"conv 31x31 float", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {31, NULL, 0}}, 8, false},
    {"conv 15x15 gauss", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {15, NULL, 0}}, 8, false},
    {"conv 31x31 gauss", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {31, NULL, 0}}, 8, false},
    {"conv 3x3 large", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, NULL, 0}}, 8, false},
    {"conv 9x9 large", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {9, NULL, 0}}, 8, false},
    {"conv 31x31 large", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {31, NULL, 0}}, 8, false},
    {"canny l1", {.op = EC_OPERATOR_CANNY, .norm = EC_NORM_L1}, 8, false},
    {"canny l2", {.op = EC_OPERATOR_CANNY}, 8, false},
    {"blur 1.4 canny l2", {.op = EC_OPERATOR_CANNY, .blur_sigma = 1.4}, 8, false},
    {"canny l2, stable 0.5", {.op = EC_OPERATOR_CANNY, .stable = 0.5}, 8, false},
    {"canny l2, auto otsu", {.op = EC_OPERATOR_CANNY, .automatic = EC_AUTO_OTSU}, 8, false},
    {"canny l2, auto percentile", {.op = EC_OPERATOR_CANNY, .automatic = EC_AUTO_PERCENTILE}, 8, false},
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

/* The thread's own time: what else runs on the machine does not count. */
static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Weights for a line that names none: -8 to 8, or -500000 to 500000 where it says large, or where it says float above 0 and
 * about 1 together, or a Gaussian. */
static void fill_weights(float *weights, int size, const char *name)
{
    const bool floats = strstr(name, "float"), large = strstr(name, "large"), gauss = strstr(name, "gauss");
    const float count = (float)(size * size);
    uint32_t random = 1;
    for (int k = 0; k < size * size; k++) {
        random = random * 1664525u + 1013904223u;
        const int number = (int)(random >> 8), down = k / size - size / 2, across = k % size - size / 2;
        if (gauss)
            weights[k] = expf((float)(down * down + across * across) * -18 / count) * 6 / count;
        else if (floats)
            weights[k] = (float)number / (0x1p23f * count);
        else
            weights[k] = (float)(large ? number % 1000001 - 500000 : (number >> 16) % 17 - 8);
    }
}

struct buffers {
    struct ec_image in[PAIRS], out[PAIRS];
    size_t in_bytes, out_bytes;
    int count;
};

static void close_buffers(struct buffers *b, struct ec_device *device)
{
    for (int i = 0; i < b->count; i++) {
        ec_backend_cpu.host_free(device, b->in[i].data, b->in_bytes);
        ec_backend_cpu.host_free(device, b->out[i].data, b->out_bytes);
    }
    b->count = 0;
}

/* Pairs of images for a plan, the input noise, or of 8 bits what the file of that name holds. */
static bool open_buffers(struct buffers *b, struct ec_device *device, const struct ec_plan *plan, int width, int height,
                         int count, const char *content)
{
    const int depth = plan->depth_bits;
    const size_t pixel = depth > 8 ? 2 : 1, plane = (size_t)width * (size_t)height * pixel;
    *b = (struct buffers){.in_bytes = plane * (size_t)plan->channels, .out_bytes = plane};
    while (b->count < count) {
        uint8_t *in = ec_backend_cpu.host_alloc(device, b->in_bytes), *out = ec_backend_cpu.host_alloc(device, b->out_bytes);
        const ptrdiff_t pitch = width * (ptrdiff_t)pixel;
        b->in[b->count] = (struct ec_image){.data = in,
                                            .width_px = width,
                                            .height_px = height,
                                            .pitch_bytes = pitch,
                                            .depth_bits = depth,
                                            .plane_bytes = (ptrdiff_t)plane};
        b->out[b->count] = b->in[b->count];
        b->out[b->count].data = out;
        b->out[b->count].depth_bits = plan->output_depth_bits;
        b->out[b->count].plane_bytes = 0;
        b->count++;
        if (!in || !out)
            return false;
        uint32_t random = 1;
        for (size_t k = 0; k < b->in_bytes / pixel; k++) {
            random = random * 1664525u + 1013904223u;
            if (depth > 8)
                ((uint16_t *)(void *)in)[k] = (uint16_t)(random >> (32 - depth));
            else
                in[k] = (uint8_t)(random >> 24);
        }
        FILE *file = content && depth == 8 ? fopen(content, "rb") : NULL;
        if (file) {
            const size_t got = fread(in, 1, b->in_bytes, file);
            fclose(file);
            if (got < plane)
                return false;
        }
        memset(out, 0, b->out_bytes);
    }
    return true;
}

struct result {
    double frame_ms, copy_ms;
};

/* The fastest frame and copy on the first `pairs` pairs, which take turns. */
static struct result measure(struct buffers *b, struct ec_engine *engine, bool limited_range, int pairs, int repetitions)
{
    struct result best = {INFINITY, INFINITY};
    struct ec_error error = {0};
    const double begin = now_ms();
    for (int k = 0; k < repetitions && now_ms() - begin < LINE_MS; k++) {
        const int frame = k % pairs, copy = (k + pairs / 2) % pairs;
        const double start = now_ms();
        memcpy(b->out[copy].data, b->in[copy].data, b->out_bytes);
        const double middle = now_ms();
        ec_backend_cpu.submit(engine, &b->in[frame], limited_range, &b->out[frame], &error);
        best.frame_ms = fmin(best.frame_ms, now_ms() - middle);
        best.copy_ms = fmin(best.copy_ms, middle - start);
        ec_backend_cpu.collect(engine, NULL, &error);
    }
    return best;
}

int main(int argc, char **argv)
{
    const bool bench = argc > 1 && strcmp(argv[1], "--bench") == 0;
    const int width = bench ? 3840 : 384, height = bench ? 2160 : 54;
    const struct ec_rows *rows = ec_rows_select(argc > 2 ? argv[2] : NULL);
    const char *word = argc > 3 ? argv[3] : "", *content = argc > 4 ? argv[4] : NULL;
    struct ec_error error = {0};
    struct ec_device *device = NULL;
    struct ec_engine *engine = NULL;
    struct buffers buffers = {.count = 0};
    int status = 1;
    struct ec_plan *plan = malloc(sizeof *plan);
    if (!rows || !plan || ec_cpu_open_rows(&device, 1, rows, &error) != EC_OK)
        goto fail;
    printf("%dx%d, one thread, %s\n%-32s %10s %28s\n", width, height, rows->name, "", "hot", "rotating");

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!strstr(lines[i].name, word))
            continue;
        struct ec_edge_params params = lines[i].params;
        float weights[WEIGHTS_MAX];
        fill_weights(weights, params.kernel.size, lines[i].name);
        if (!params.kernel.weights)
            params.kernel.weights = weights;
        if (ec_plan_make(plan, &params, lines[i].depth_bits, &error) != EC_OK ||
            !open_buffers(&buffers, device, plan, width, height, bench ? PAIRS : 1, content) ||
            ec_backend_cpu.engine_open(&engine, device, plan, width, height, 1, &error) != EC_OK)
            goto fail;
        const bool limited = lines[i].limited_range;
        const struct result hot = measure(&buffers, engine, limited, 1, bench ? REPETITIONS : 1);
        if (bench) {
            const struct result cold = measure(&buffers, engine, limited, PAIRS, REPETITIONS);
            printf("%-32s %7.3f ms %6.2f x memcpy   %7.3f ms %6.2f x memcpy\n", lines[i].name, hot.frame_ms,
                   hot.frame_ms / hot.copy_ms, cold.frame_ms, cold.frame_ms / cold.copy_ms);
        }
        ec_backend_cpu.engine_close(&engine);
        close_buffers(&buffers, device);
    }
    status = 0;
fail:
    if (status)
        fprintf(stderr, "the benchmark cannot run: %s\n", error.status ? error.text : "no memory, or no such table");
    if (device) {
        ec_backend_cpu.engine_close(&engine);
        close_buffers(&buffers, device);
        ec_backend_cpu.close(&device);
    }
    free(plan);
    return status;
}
