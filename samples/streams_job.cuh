/* What streams.cu runs in ten ways: frames in host memory, lanes in device memory, and the three parts of the work. */
#ifndef STREAMS_JOB_CUH
#define STREAMS_JOB_CUH

#include "sample.h"

#include "timeline.h"

enum { LANES_MAX = 4, SLOTS = 8, THREADS = 256 };
enum part { UPLOAD, KERNEL, DOWNLOAD, PARTS };

struct job {
    int frames, rounds;
    size_t bytes; /* a frame; a multiple of 4 */
    unsigned char *h_in[2], *h_out[2]; /* pageable, pinned: SLOTS frames each */
    unsigned char *d_in[LANES_MAX], *d_out[LANES_MAX];
    cudaStream_t streams[LANES_MAX];
    cudaEvent_t done[PARTS][LANES_MAX], fork;
    cudaEvent_t base, (*marks)[PARTS][2]; /* begin and end of each part of each frame */
    bool marking, capturing;
    cudaGraphExec_t graph;
    FILE *trace;
    int runs; /* in the trace */
};

__global__ void rounds_kernel(const unsigned *in, unsigned *out, size_t words, int rounds)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= words)
        return;
    unsigned v = in[i];
    for (int k = 0; k < rounds; k++)
        v = v * 1664525u + 1013904223u;
    out[i] = v;
}

static void mark(const struct job *j, int frame, enum part part, int end, cudaStream_t stream)
{
    if (j->marking)
        CUDA(cudaEventRecordWithFlags(j->marks[frame][part][end], stream,
                                      j->capturing ? cudaEventRecordExternal : cudaEventRecordDefault));
}

static void upload(const struct job *j, int frame, int lane, bool pinned, cudaStream_t stream)
{
    mark(j, frame, UPLOAD, 0, stream);
    CUDA(cudaMemcpyAsync(j->d_in[lane], j->h_in[pinned] + frame % SLOTS * j->bytes, j->bytes, cudaMemcpyHostToDevice, stream));
    mark(j, frame, UPLOAD, 1, stream);
}

static void compute(const struct job *j, int frame, int lane, cudaStream_t stream)
{
    const size_t words = j->bytes / 4;
    mark(j, frame, KERNEL, 0, stream);
    rounds_kernel<<<(unsigned)((words + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
        (const unsigned *)j->d_in[lane], (unsigned *)j->d_out[lane], words, j->rounds);
    CUDA(cudaGetLastError());
    mark(j, frame, KERNEL, 1, stream);
}

static void download(const struct job *j, int frame, int lane, bool pinned, cudaStream_t stream)
{
    mark(j, frame, DOWNLOAD, 0, stream);
    CUDA(
        cudaMemcpyAsync(j->h_out[pinned] + frame % SLOTS * j->bytes, j->d_out[lane], j->bytes, cudaMemcpyDeviceToHost, stream));
    mark(j, frame, DOWNLOAD, 1, stream);
}

static void open_job(struct job *j)
{
    uint32_t state = 1;
    for (int pinned = 0; pinned < 2; pinned++) {
        for (unsigned char **h : {&j->h_in[pinned], &j->h_out[pinned]})
            if (pinned)
                CUDA(cudaMallocHost((void **)h, SLOTS * j->bytes));
            else
                *h = (unsigned char *)sample_allocate(SLOTS * j->bytes);
        for (size_t i = 0; i < SLOTS * j->bytes / 4; i++)
            ((unsigned *)j->h_in[pinned])[i] = sample_random(&state);
    }
    CUDA(cudaEventCreate(&j->base));
    CUDA(cudaEventCreateWithFlags(&j->fork, cudaEventDisableTiming));
    for (int l = 0; l < LANES_MAX; l++) {
        j->d_in[l] = sample_device<unsigned char>(j->bytes);
        j->d_out[l] = sample_device<unsigned char>(j->bytes);
        CUDA(cudaStreamCreate(&j->streams[l])); /* blocking, so that the trap can be shown */
        for (auto &part : j->done)
            CUDA(cudaEventCreateWithFlags(&part[l], cudaEventDisableTiming));
    }
    j->marks = (cudaEvent_t(*)[PARTS][2])sample_allocate(j->frames * sizeof *j->marks);
    for (int i = 0; i < j->frames; i++)
        for (auto &part : j->marks[i])
            for (cudaEvent_t &event : part)
                CUDA(cudaEventCreate(&event));
}

static void close_job(struct job *j)
{
    for (int i = 0; i < j->frames; i++)
        for (auto &part : j->marks[i])
            for (cudaEvent_t event : part)
                CUDA(cudaEventDestroy(event));
    free(j->marks);
    for (int l = 0; l < LANES_MAX; l++) {
        for (auto &part : j->done)
            CUDA(cudaEventDestroy(part[l]));
        CUDA(cudaStreamDestroy(j->streams[l]));
        CUDA(cudaFree(j->d_in[l]));
        CUDA(cudaFree(j->d_out[l]));
    }
    CUDA(cudaEventDestroy(j->base));
    CUDA(cudaEventDestroy(j->fork));
    CUDA(cudaGraphExecDestroy(j->graph));
    for (unsigned char *pinned : {j->h_in[1], j->h_out[1]})
        CUDA(cudaFreeHost(pinned));
    free(j->h_in[0]);
    free(j->h_out[0]);
}

/* The marks of the last run: their overlap in percent, and their picture in the trace. */
static double overlap(struct job *j, const char *name)
{
    static const char *const engines[] = {"upload", "kernel", "download"};
    const int count = j->frames * PARTS;
    struct interval *intervals = (struct interval *)sample_allocate(count * sizeof *intervals);
    struct edge *edges = (struct edge *)sample_allocate(2 * count * sizeof *edges);
    for (int i = 0; i < count; i++) {
        const cudaEvent_t *ends = j->marks[i / PARTS][i % PARTS];
        float start_ms = 0, end_ms = 0;
        CUDA(cudaEventElapsedTime(&start_ms, j->base, ends[0]));
        CUDA(cudaEventElapsedTime(&end_ms, j->base, ends[1]));
        intervals[i] = {start_ms * 1e3, end_ms * 1e3, i % PARTS, i / PARTS};
    }
    if (j->trace)
        timeline_write(j->trace, ++j->runs, name, intervals, count, engines, PARTS);
    const double percent = timeline_overlap(intervals, count, edges);
    free(intervals);
    free(edges);
    return percent;
}

#endif
