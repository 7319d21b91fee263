/* What this machine's copies reach at best: the yardsticks beside every figure. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "chains.h"
#include "check.h"
#include "device.h"

#define REPEATS 21
#define DEVICE_COPIES 240 /* a round */
#define BUFFERS_MAX 16
/* Blocks rotate over more bytes than any last cache holds, up to BUFFERS_MAX blocks. */
#define ROTATE_BYTES ((size_t)512 << 20)

struct bench {
    struct ec_device *device;
    size_t bytes;
    int count; /* of each array below */
    void *host_in[BUFFERS_MAX], *host_out[BUFFERS_MAX];
    void *d_in[BUFFERS_MAX], *d_out[BUFFERS_MAX];
    cudaStream_t up, down;
    cudaEvent_t start, end, joined;
};

static double wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool bench_open(struct bench *b, struct ec_error *error)
{
    if (!EC_CUDA(error, cudaStreamCreateWithFlags(&b->up, cudaStreamNonBlocking)) ||
        !EC_CUDA(error, cudaStreamCreateWithFlags(&b->down, cudaStreamNonBlocking)) ||
        !EC_CUDA(error, cudaEventCreateWithFlags(&b->start, cudaEventDefault)) ||
        !EC_CUDA(error, cudaEventCreateWithFlags(&b->end, cudaEventDefault)) ||
        !EC_CUDA(error, cudaEventCreateWithFlags(&b->joined, cudaEventDefault)))
        return false;
    for (int i = 0; i < b->count; i++) {
        b->host_in[i] = ec_cuda_host_alloc(b->device, b->bytes);
        b->host_out[i] = ec_cuda_host_alloc(b->device, b->bytes);
        if (!b->host_in[i] || !b->host_out[i]) {
            ec_fail(error, EC_ERROR_MEMORY, "there is no memory for %d blocks of %zu bytes", 2 * b->count, b->bytes);
            return false;
        }
        memset(b->host_in[i], i, b->bytes);
        memset(b->host_out[i], i, b->bytes);
        if (!ec_device_alloc(b->device, &b->d_in[i], b->bytes, error) ||
            !ec_device_alloc(b->device, &b->d_out[i], b->bytes, error) ||
            !EC_CUDA(error, cudaMemset(b->d_in[i], i, b->bytes)) || !EC_CUDA(error, cudaMemset(b->d_out[i], i, b->bytes)))
            return false;
    }
    return true;
}

static void bench_close(struct bench *b)
{
    for (int i = 0; i < b->count; i++) {
        ec_device_free(b->device, &b->d_in[i], b->bytes);
        ec_device_free(b->device, &b->d_out[i], b->bytes);
        ec_cuda_host_free(b->device, b->host_in[i], b->bytes);
        ec_cuda_host_free(b->device, b->host_out[i], b->bytes);
    }
    cudaEvent_t events[] = {b->start, b->end, b->joined};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (events[i])
            (void)EC_CUDA(NULL, cudaEventDestroy(events[i]));
    if (b->up)
        (void)EC_CUDA(NULL, cudaStreamDestroy(b->up));
    if (b->down)
        (void)EC_CUDA(NULL, cudaStreamDestroy(b->down));
}

enum direction { UPLOAD, DOWNLOAD, BOTH };

/* One block in each direction that `what` has, block i of the rotation. */
static bool queue_block(const struct bench *b, enum direction what, int i, struct ec_error *error)
{
    if (what != DOWNLOAD &&
        !EC_CUDA(error, cudaMemcpyAsync(b->d_in[i], b->host_in[i], b->bytes, cudaMemcpyHostToDevice, b->up)))
        return false;
    return what == UPLOAD ||
           EC_CUDA(error, cudaMemcpyAsync(b->host_out[i], b->d_out[i], b->bytes, cudaMemcpyDeviceToHost, b->down));
}

/* Median over REPEATS rounds of all blocks: bytes of one direction a second. Both streams start and end together. */
static double rate(const struct bench *b, enum direction what, struct ec_error *error)
{
    double seconds[REPEATS];
    for (int n = -1; n < REPEATS; n++) { /* the first round only warms up */
        float ms = 0;
        if (!EC_CUDA(error, cudaEventRecord(b->start, b->up)) || !EC_CUDA(error, cudaStreamWaitEvent(b->down, b->start, 0)))
            return NAN;
        for (int i = 0; i < b->count; i++)
            if (!queue_block(b, what, i, error))
                return NAN;
        if (!EC_CUDA(error, cudaEventRecord(b->joined, b->down)) || !EC_CUDA(error, cudaStreamWaitEvent(b->up, b->joined, 0)) ||
            !EC_CUDA(error, cudaEventRecord(b->end, b->up)) || !EC_CUDA(error, cudaEventSynchronize(b->end)) ||
            !EC_CUDA(error, cudaEventElapsedTime(&ms, b->start, b->end)))
            return NAN;
        if (n >= 0)
            seconds[n] = ms * 1e-3;
    }
    return (double)b->bytes * b->count / ec_spread_of(seconds, REPEATS).median * 1e-9;
}

static bool queue_device_copy(void *opaque, int i, int chain, cudaStream_t stream, struct ec_error *error)
{
    const struct bench *b = opaque;
    const int k = i % b->count;
    (void)chain;
    return EC_CUDA(error, cudaMemcpyAsync(b->d_out[k], b->d_in[k], b->bytes, cudaMemcpyDeviceToDevice, stream));
}

/* Copies side by side: on one stream the end of each would leave much of the card idle. */
static double device_copy_rate(struct bench *b, struct ec_error *error)
{
    struct ec_chains chains = {0};
    struct ec_spread us = {.median = NAN};
    if (ec_chains_open(&chains, error))
        ec_chains_time(&chains, EC_THROUGHPUT_STREAMS, DEVICE_COPIES, REPEATS, queue_device_copy, b, &us, error);
    ec_chains_close(&chains);
    return (double)b->bytes / us.median * 1e-3;
}

static double memcpy_rate(const struct bench *b)
{
    double seconds[REPEATS];
    for (int n = -1; n < REPEATS; n++) {
        const double start = wall_s();
        for (int i = 0; i < b->count; i++)
            memcpy(b->host_out[i], b->host_in[i], b->bytes);
        if (n >= 0)
            seconds[n] = wall_s() - start;
    }
    return (double)b->bytes * b->count / ec_spread_of(seconds, REPEATS).median * 1e-9;
}

enum ec_status ec_cuda_measure(struct ec_device *device, size_t bytes, enum ec_measure what, struct ec_limits *out,
                               struct ec_error *error)
{
    struct ec_error first = {0};
    struct bench b = {.device = device, .bytes = bytes ? bytes : 1};
    *out = (struct ec_limits){NAN, NAN, NAN, NAN, NAN};
    if (!ec_device_enter(device, error))
        return EC_ERROR_DEVICE;
    const size_t wanted = ROTATE_BYTES / 4 / b.bytes; /* four arrays */
    b.count = wanted < 2 ? 2 : wanted > BUFFERS_MAX ? BUFFERS_MAX : (int)wanted;
    if (bench_open(&b, &first)) {
        if (what == EC_MEASURE_ALL) {
            out->memcpy_gb_per_s = memcpy_rate(&b);
            out->device_copy_gb_per_s = device_copy_rate(&b, &first);
        }
        out->h2d_gb_per_s = rate(&b, UPLOAD, &first);
        out->d2h_gb_per_s = rate(&b, DOWNLOAD, &first);
        out->both_gb_per_s = rate(&b, BOTH, &first);
    }
    bench_close(&b);
    return first.status == EC_OK ? EC_OK : ec_fail(error, first.status, "%s", first.text);
}
