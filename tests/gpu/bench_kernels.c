/* Time of each operator's kernels on one 4K frame in device memory, beside a device-to-device copy of the same bytes.
 *
 * Frames rotate over more memory than the last cache holds. A round is a graph of FRAMES frames, in one chain (each frame waits
 * for the one before it) or in CHAINS chains side by side, as lanes run. Prints the median of ROUNDS rounds.
 * Arguments: WIDTH and HEIGHT, 3840 and 2160 by default, and operators by name, all by default; @FILE: frames of 8 bits hold
 * that file's WIDTH x HEIGHT bytes instead of noise. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cuda/check.h"
#include "../../cuda/kernels.h"

#define FRAMES 24
#define CHAINS 4
#define ROUNDS 15

struct bench {
    int width_px, height_px;
    void *d_in[FRAMES], *d_out[FRAMES], *d_scratch[CHAINS], *d_plan;
    cudaStream_t chains[CHAINS];
    cudaEvent_t fork, join[CHAINS], start, end;
};

struct work {
    const char *name;
    struct ec_edge_params params;
    int depth_bits;
    bool limited_range;
};

#define MUST(call)                                                                                                             \
    do {                                                                                                                       \
        struct ec_error error_ = {0};                                                                                          \
        if (!EC_CUDA(&error_, call)) {                                                                                         \
            fprintf(stderr, "%s\n", error_.text);                                                                              \
            exit(1);                                                                                                           \
        }                                                                                                                      \
    } while (0)

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Queues frame `i`: the plan's kernels, or a copy without a plan. */
static void queue_frame(const struct bench *b, const struct work *work, const struct ec_plan *plan, int i, int chain)
{
    const int64_t pixel_bytes = work->depth_bits > 8 ? 2 : 1;
    const struct ec_gpu_frame frame = {.d_in = b->d_in[i],
                                       .d_out = b->d_out[i],
                                       .in_pitch_bytes = b->width_px * pixel_bytes,
                                       .out_pitch_bytes = b->width_px * pixel_bytes,
                                       .width_px = b->width_px,
                                       .height_px = b->height_px,
                                       .limited_range = work->limited_range};
    struct ec_error error = {0};
    if (!plan) {
        MUST(cudaMemcpyAsync(b->d_out[i], b->d_in[i], (size_t)(b->width_px * pixel_bytes * b->height_px),
                             cudaMemcpyDeviceToDevice, b->chains[chain]));
    } else if (ec_kernels_run(plan, b->d_plan, b->d_scratch[chain], &frame, b->chains[chain], &error) != EC_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
}

/* Microseconds a frame. */
static float time_frames(const struct bench *b, const struct work *work, const struct ec_plan *plan, int chain_count)
{
    cudaGraph_t graph;
    cudaGraphExec_t program;
    float us[ROUNDS];
    MUST(cudaStreamBeginCapture(b->chains[0], cudaStreamCaptureModeThreadLocal));
    MUST(cudaEventRecord(b->fork, b->chains[0]));
    for (int c = 1; c < chain_count; c++)
        MUST(cudaStreamWaitEvent(b->chains[c], b->fork, 0));
    for (int i = 0; i < FRAMES; i++)
        queue_frame(b, work, plan, i, i % chain_count);
    for (int c = 1; c < chain_count; c++) {
        MUST(cudaEventRecord(b->join[c], b->chains[c]));
        MUST(cudaStreamWaitEvent(b->chains[0], b->join[c], 0));
    }
    MUST(cudaStreamEndCapture(b->chains[0], &graph));
    MUST(cudaGraphInstantiate(&program, graph, 0));
    for (int n = -2; n < ROUNDS; n++) {
        float ms = 0;
        MUST(cudaEventRecord(b->start, b->chains[0]));
        MUST(cudaGraphLaunch(program, b->chains[0]));
        MUST(cudaEventRecord(b->end, b->chains[0]));
        MUST(cudaEventSynchronize(b->end));
        MUST(cudaEventElapsedTime(&ms, b->start, b->end));
        if (n >= 0)
            us[n] = ms * 1e3f / FRAMES;
    }
    MUST(cudaGraphExecDestroy(program));
    MUST(cudaGraphDestroy(graph));
    qsort(us, ROUNDS, sizeof us[0], compare_floats);
    return us[ROUNDS / 2];
}

static void print_work(struct bench *b, const struct work *work)
{
    struct ec_plan *plan = calloc(1, sizeof *plan);
    struct ec_error error = {0};
    if (!plan || ec_plan_make(plan, &work->params, work->depth_bits, &error) != EC_OK) {
        fprintf(stderr, "%s: %s\n", work->name, error.text);
        exit(1);
    }
    MUST(cudaMemcpy(b->d_plan, plan, sizeof *plan, cudaMemcpyHostToDevice));
    const float copy = time_frames(b, work, NULL, CHAINS), copy_chain = time_frames(b, work, NULL, 1);
    const float side_by_side = time_frames(b, work, plan, CHAINS), chain = time_frames(b, work, plan, 1);
    const double bytes = 2.0 * b->width_px * b->height_px * (work->depth_bits > 8 ? 2 : 1);
    printf("%-28s %2d bit  %8.2f us %5.2f x copy  %5.0f GB/s | one chain %8.2f us %5.2f x copy | copy %.2f, %.2f us\n",
           work->name, work->depth_bits, (double)side_by_side, (double)(side_by_side / copy),
           bytes / (double)side_by_side * 1e-3, (double)chain, (double)(chain / copy_chain), (double)copy, (double)copy_chain);
    fflush(stdout);
    free(plan);
}

/* 8-bit frames become the file's bytes. */
static void load_frames(struct bench *b, const char *path)
{
    const size_t pixels = (size_t)b->width_px * (size_t)b->height_px;
    void *bytes = malloc(pixels);
    FILE *file = fopen(path, "rb");
    if (!bytes || !file || fread(bytes, 1, pixels, file) != pixels) {
        fprintf(stderr, "%s does not hold %dx%d bytes\n", path, b->width_px, b->height_px);
        exit(1);
    }
    for (int i = 0; i < FRAMES; i++)
        MUST(cudaMemcpy(b->d_in[i], bytes, pixels, cudaMemcpyHostToDevice));
    fclose(file);
    free(bytes);
}

static void bench_open(struct bench *b)
{
    const size_t pixels = (size_t)b->width_px * (size_t)b->height_px;
    uint32_t *noise = malloc(pixels * 2 + 4), state = 1;
    if (!noise)
        exit(1);
    for (size_t i = 0; i < pixels / 2 + 1; i++) {
        state = state * 1664525u + 1013904223u;
        noise[i] = state ^ state >> 13;
    }
    for (int i = 0; i < FRAMES; i++) {
        MUST(cudaMalloc(&b->d_in[i], pixels * 2));
        MUST(cudaMalloc(&b->d_out[i], pixels * 2));
        MUST(cudaMemcpy(b->d_in[i], noise, pixels * 2, cudaMemcpyHostToDevice));
    }
    free(noise);
    MUST(cudaMalloc(&b->d_plan, sizeof(struct ec_plan)));
    for (int c = 0; c < CHAINS; c++) {
        MUST(cudaMalloc(&b->d_scratch[c], pixels * 8 + (1 << 20)));
        MUST(cudaStreamCreateWithFlags(&b->chains[c], cudaStreamNonBlocking));
        MUST(cudaEventCreateWithFlags(&b->join[c], cudaEventDefault));
    }
    MUST(cudaEventCreateWithFlags(&b->fork, cudaEventDefault));
    MUST(cudaEventCreateWithFlags(&b->start, cudaEventDefault));
    MUST(cudaEventCreateWithFlags(&b->end, cudaEventDefault));
}

int main(int argc, char **argv)
{
    static float weights[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE], fractions[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE];
    for (int i = 0; i < EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE; i++) {
        weights[i] = (float)(i * 37 % 23 - 11);
        fractions[i] = weights[i] / 7;
    }
    const struct work works[] = {
        {"sobel l1", {.norm = EC_NORM_L1}, 8, false},
        {"sobel l2", {0}, 8, false},
        {"sobel l1, limited range", {.norm = EC_NORM_L1}, 8, true},
        {"sobel l2, limited range", {0}, 8, true},
        {"sobel l2, threshold 80", {.threshold = 80}, 8, false},
        {"sobel l1, scale 1/4", {.norm = EC_NORM_L1, .scale = .25}, 8, false},
        {"sobel l2, scale 1/4", {.scale = .25}, 8, false},
        {"scharr l1", {.op = EC_OPERATOR_SCHARR, .norm = EC_NORM_L1}, 8, false},
        {"scharr l2", {.op = EC_OPERATOR_SCHARR}, 8, false},
        {"prewitt l2", {.op = EC_OPERATOR_PREWITT}, 8, false},
        {"roberts l2", {.op = EC_OPERATOR_ROBERTS}, 8, false},
        {"kirsch", {.op = EC_OPERATOR_KIRSCH}, 8, false},
        {"robinson", {.op = EC_OPERATOR_ROBINSON}, 8, false},
        {"laplacian", {.op = EC_OPERATOR_LAPLACIAN}, 8, false},
        {"sobel l1", {.norm = EC_NORM_L1}, 10, false},
        {"sobel l2", {0}, 10, false},
        {"sobel l2", {0}, 16, false},
        {"kirsch", {.op = EC_OPERATOR_KIRSCH}, 16, false},
        {"laplacian", {.op = EC_OPERATOR_LAPLACIAN}, 10, false},
        {"sobel l2, aperture 5", {.aperture = 5}, 8, false},
        {"sobel l2, aperture 7", {.aperture = 7}, 8, false},
        {"sobel l2, aperture 7", {.aperture = 7}, 16, false},
        {"log", {.op = EC_OPERATOR_LOG}, 8, false},
        {"dog", {.op = EC_OPERATOR_DOG}, 8, false},
        {"dog", {.op = EC_OPERATOR_DOG}, 16, false},
        {"sobel l2, blur 1.4", {.blur_sigma = 1.4}, 8, false},
        {"sobel l2, blur 10", {.blur_sigma = 10}, 8, false},
        {"canny l1", {.op = EC_OPERATOR_CANNY, .norm = EC_NORM_L1}, 8, false},
        {"canny l2", {.op = EC_OPERATOR_CANNY}, 8, false},
        {"canny l2, blur 1.4", {.op = EC_OPERATOR_CANNY, .blur_sigma = 1.4}, 8, false},
        {"canny l2, aperture 5", {.op = EC_OPERATOR_CANNY, .aperture = 5}, 8, false},
        {"canny l1", {.op = EC_OPERATOR_CANNY, .norm = EC_NORM_L1}, 10, false},
        {"canny l2", {.op = EC_OPERATOR_CANNY}, 10, false},
        {"canny l1, low",
         {.op = EC_OPERATOR_CANNY, .norm = EC_NORM_L1, .has_low = true, .low = 20, .has_high = true, .high = 250},
         8,
         false},
        {"convolution 3x3", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, weights, 1}}, 8, false},
        {"convolution 5x5", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {5, weights, 1}}, 8, false},
        {"convolution 7x7", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {7, weights, 1}}, 8, false},
        {"convolution 9x9", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {9, weights, 1}}, 8, false},
        {"convolution 7x7, divisor 9", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {7, weights, 9}}, 8, false},
        {"convolution 3x3, float", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {3, fractions, 0}}, 8, false},
        {"convolution 5x5, float", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {5, fractions, 0}}, 8, false},
        {"convolution 7x7, float", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {7, fractions, 0}}, 8, false},
        {"convolution 9x9, float", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {9, fractions, 0}}, 8, false},
        {"convolution 15x15", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {15, weights, 1}}, 8, false},
        {"convolution 31x31", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {31, weights, 1}}, 8, false},
        {"convolution 5x5", {.op = EC_OPERATOR_CONVOLUTION, .kernel = {5, weights, 1}}, 16, false},
    };
    struct bench bench = {.width_px = argc > 1 ? atoi(argv[1]) : 3840, .height_px = argc > 2 ? atoi(argv[2]) : 2160};
    if (bench.width_px < 1 || bench.height_px < 1 || bench.width_px > 16384 || bench.height_px > 16384) {
        fprintf(stderr, "usage: %s [WIDTH HEIGHT [@FILE] [NAME...]]\n", argv[0]);
        return 2;
    }
    bench_open(&bench);
    const bool has_file = argc > 3 && argv[3][0] == '@';
    const int first_name = has_file ? 4 : 3;
    if (has_file)
        load_frames(&bench, argv[3] + 1);
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        bool wanted = argc <= first_name;
        for (int a = first_name; a < argc; a++)
            wanted |= strncmp(works[i].name, argv[a], strlen(argv[a])) == 0;
        if (wanted)
            print_work(&bench, &works[i]);
    }
    return 0;
}
