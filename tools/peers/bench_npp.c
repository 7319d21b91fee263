/* How long NVIDIA's NPP takes for the work that edgecam does: tools/bench_gpu.sh compiles and runs this where NPP is.
 *
 * Frames of noise, for Canny those of each FILE (WIDTH x HEIGHT bytes), in device memory rotate over more than the last cache
 * holds; ROUND frames follow each other on one stream, then on STREAMS of them. Prints a line a function: name, us a frame in
 * turn, us a frame at once (medians). */
#include <cuda_runtime_api.h>
#include <nppi_filtering_functions.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 3840
#define HEIGHT 2160
#define FRAME_BYTES ((size_t)WIDTH * HEIGHT)
#define PAIRS 24
#define STREAMS 4
#define ROUND 240
#define REPETITIONS 9
#define LOW 100
#define HIGH 200

#define MUST(call)                                                                                                             \
    do {                                                                                                                       \
        const int result_ = (int)(call);                                                                                       \
        if (result_ != 0) {                                                                                                    \
            fprintf(stderr, "%s failed: %d\n", #call, result_);                                                                \
            exit(1);                                                                                                           \
        }                                                                                                                      \
    } while (0)

struct bench {
    Npp8u *d_in[PAIRS], *d_out[PAIRS];
    Npp16s *d_magnitude[STREAMS];
    Npp8u *d_scratch[STREAMS]; /* of Canny */
    Npp32f *d_weights;
    NppStreamContext contexts[STREAMS];
    cudaEvent_t start, end, joins[STREAMS];
};

typedef NppStatus work(const struct bench *b, int pair, int stream, int size);

static const NppiSize whole = {WIDTH, HEIGHT};
static const NppiPoint origin = {0, 0};

static NppStatus gradient(const struct bench *b, int pair, int stream, NppiNorm norm)
{
    return nppiGradientVectorSobelBorder_8u16s_C1R_Ctx(b->d_in[pair], WIDTH, whole, origin, NULL, 0, NULL, 0,
                                                       b->d_magnitude[stream], WIDTH * 2, NULL, 0, whole, NPP_MASK_SIZE_3_X_3,
                                                       norm, NPP_BORDER_REPLICATE, b->contexts[stream]);
}

static NppStatus gradient_l2(const struct bench *b, int pair, int stream, int size)
{
    (void)size;
    return gradient(b, pair, stream, nppiNormL2);
}

static NppStatus gradient_l1(const struct bench *b, int pair, int stream, int size)
{
    (void)size;
    return gradient(b, pair, stream, nppiNormL1);
}

static NppStatus convolution(const struct bench *b, int pair, int stream, int size)
{
    const NppiSize window = {size, size};
    const NppiPoint anchor = {size / 2, size / 2};
    return nppiFilterBorder32f_8u_C1R_Ctx(b->d_in[pair], WIDTH, whole, origin, b->d_out[pair], WIDTH, whole, b->d_weights,
                                          window, anchor, NPP_BORDER_REPLICATE, b->contexts[stream]);
}

static NppStatus canny(const struct bench *b, int pair, int stream, NppiNorm norm)
{
    return nppiFilterCannyBorder_8u_C1R_Ctx(b->d_in[pair], WIDTH, whole, origin, b->d_out[pair], WIDTH, whole, NPP_FILTER_SOBEL,
                                            NPP_MASK_SIZE_3_X_3, LOW, HIGH, norm, NPP_BORDER_REPLICATE, b->d_scratch[stream],
                                            b->contexts[stream]);
}

static NppStatus canny_l2(const struct bench *b, int pair, int stream, int size)
{
    (void)size;
    return canny(b, pair, stream, nppiNormL2);
}

static NppStatus canny_l1(const struct bench *b, int pair, int stream, int size)
{
    (void)size;
    return canny(b, pair, stream, nppiNormL1);
}

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float time_frames(const struct bench *b, work *run, int size, int streams)
{
    float us[REPETITIONS];
    const cudaStream_t first = b->contexts[0].hStream;
    for (int n = -1; n < REPETITIONS; n++) {
        float ms = 0;
        MUST(cudaEventRecord(b->start, first));
        for (int s = 1; s < streams; s++)
            MUST(cudaStreamWaitEvent(b->contexts[s].hStream, b->start, 0));
        for (int i = 0; i < ROUND; i++)
            MUST(run(b, i % PAIRS, i % streams, size));
        for (int s = 1; s < streams; s++) {
            MUST(cudaEventRecord(b->joins[s], b->contexts[s].hStream));
            MUST(cudaStreamWaitEvent(first, b->joins[s], 0));
        }
        MUST(cudaEventRecord(b->end, first));
        MUST(cudaEventSynchronize(b->end));
        MUST(cudaEventElapsedTime(&ms, b->start, b->end));
        if (n >= 0)
            us[n] = ms * 1e3f / ROUND;
    }
    qsort(us, REPETITIONS, sizeof us[0], compare);
    return us[REPETITIONS / 2];
}

static void open_contexts(struct bench *b)
{
    struct cudaDeviceProp p;
    int scratch_bytes = 0;
    MUST(cudaGetDeviceProperties(&p, 0));
    MUST(nppiFilterCannyBorderGetBufferSize(whole, &scratch_bytes));
    for (int s = 0; s < STREAMS; s++) {
        NppStreamContext *c = &b->contexts[s];
        MUST(cudaStreamCreateWithFlags(&c->hStream, cudaStreamNonBlocking));
        MUST(cudaEventCreateWithFlags(&b->joins[s], cudaEventDisableTiming));
        MUST(cudaStreamGetFlags(c->hStream, &c->nStreamFlags));
        c->nMultiProcessorCount = p.multiProcessorCount;
        c->nMaxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
        c->nMaxThreadsPerBlock = p.maxThreadsPerBlock;
        c->nSharedMemPerBlock = p.sharedMemPerBlock;
        c->nCudaDevAttrComputeCapabilityMajor = p.major;
        c->nCudaDevAttrComputeCapabilityMinor = p.minor;
        MUST(cudaMalloc((void **)&b->d_magnitude[s], FRAME_BYTES * 2));
        MUST(cudaMalloc((void **)&b->d_scratch[s], (size_t)scratch_bytes));
    }
    MUST(cudaEventCreate(&b->start));
    MUST(cudaEventCreate(&b->end));
}

static void fill_frames(struct bench *b, const uint8_t *frame)
{
    for (int i = 0; i < PAIRS; i++)
        MUST(cudaMemcpy(b->d_in[i], frame, FRAME_BYTES, cudaMemcpyHostToDevice));
}

static void open_frames(struct bench *b)
{
    float weights[81];
    for (int i = 0; i < 81; i++)
        weights[i] = (float)(i * 37 % 23 - 11);
    for (int i = 0; i < PAIRS; i++) {
        MUST(cudaMalloc((void **)&b->d_in[i], FRAME_BYTES));
        MUST(cudaMalloc((void **)&b->d_out[i], FRAME_BYTES));
    }
    MUST(cudaMalloc((void **)&b->d_weights, sizeof weights));
    MUST(cudaMemcpy(b->d_weights, weights, sizeof weights, cudaMemcpyHostToDevice));
}

static void fill_noise(uint8_t *frame)
{
    uint32_t state = 1;
    for (size_t i = 0; i < FRAME_BYTES; i++) {
        state = state * 1664525u + 1013904223u;
        frame[i] = (uint8_t)(state >> 24);
    }
}

static void read_frame(uint8_t *frame, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fread(frame, 1, FRAME_BYTES, file) != FRAME_BYTES) {
        fprintf(stderr, "%s: expected %d x %d bytes\n", path, WIDTH, HEIGHT);
        exit(1);
    }
    fclose(file);
}

static void measure(const struct bench *b, const char *name, work *run, int size)
{
    const float in_turn = time_frames(b, run, size, 1);
    const float at_once = time_frames(b, run, size, STREAMS);
    printf("%-24s %-7s  %9.2f  %6s  %9.2f\n", name, "npp", (double)in_turn, "", (double)at_once);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        work *run;
        int size;
    } works[] = {
        {"gradient magnitude l1", gradient_l1, 3}, {"gradient magnitude l2", gradient_l2, 3},
        {"FilterBorder32f 3x3", convolution, 3},   {"FilterBorder32f 5x5", convolution, 5},
        {"FilterBorder32f 7x7", convolution, 7},   {"FilterBorder32f 9x9", convolution, 9},
    };
    struct bench b = {0};
    uint8_t *frame = malloc(FRAME_BYTES);
    if (!frame)
        return 1;
    open_contexts(&b);
    open_frames(&b);
    fill_noise(frame);
    fill_frames(&b, frame);
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        measure(&b, works[i].name, works[i].run, works[i].size);
    for (int i = 1; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        read_frame(frame, argv[i]);
        fill_frames(&b, frame);
        printf("%s\n", slash ? slash + 1 : argv[i]);
        measure(&b, "canny l1", canny_l1, 3);
        measure(&b, "canny l2", canny_l2, 3);
    }
    free(frame);
    return 0;
}
