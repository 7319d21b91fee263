#include "chains.h"

#include <stdlib.h>

#include "check.h"

#define WARM_UP_ROUNDS 2

bool ec_chains_open(struct ec_chains *chains, struct ec_error *error)
{
    for (int c = 0; c < EC_THROUGHPUT_STREAMS; c++)
        if (!EC_CUDA(error, cudaStreamCreateWithFlags(&chains->streams[c], cudaStreamNonBlocking)) ||
            !EC_CUDA(error, cudaEventCreateWithFlags(&chains->joins[c], cudaEventDefault)))
            return false;
    return EC_CUDA(error, cudaEventCreateWithFlags(&chains->fork, cudaEventDefault)) &&
           EC_CUDA(error, cudaEventCreateWithFlags(&chains->start, cudaEventDefault)) &&
           EC_CUDA(error, cudaEventCreateWithFlags(&chains->end, cudaEventDefault));
}

void ec_chains_close(struct ec_chains *chains)
{
    const cudaEvent_t events[] = {chains->fork, chains->start, chains->end};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (events[i])
            (void)EC_CUDA(NULL, cudaEventDestroy(events[i]));
    for (int c = 0; c < EC_THROUGHPUT_STREAMS; c++) {
        if (chains->joins[c])
            (void)EC_CUDA(NULL, cudaEventDestroy(chains->joins[c]));
        if (chains->streams[c])
            (void)EC_CUDA(NULL, cudaStreamDestroy(chains->streams[c]));
    }
    *chains = (struct ec_chains){0};
}

/* The round itself: the other streams start from the first and end in it. */
static bool queue_round(const struct ec_chains *chains, int count, int frames, ec_chain_work *work, void *opaque,
                        struct ec_error *error)
{
    const cudaStream_t first = chains->streams[0];
    if (!EC_CUDA(error, cudaEventRecord(chains->fork, first)))
        return false;
    for (int c = 1; c < count; c++)
        if (!EC_CUDA(error, cudaStreamWaitEvent(chains->streams[c], chains->fork, 0)))
            return false;
    for (int i = 0; i < frames; i++)
        if (!work(opaque, i, i % count, chains->streams[i % count], error))
            return false;
    for (int c = 1; c < count; c++)
        if (!EC_CUDA(error, cudaEventRecord(chains->joins[c], chains->streams[c])) ||
            !EC_CUDA(error, cudaStreamWaitEvent(first, chains->joins[c], 0)))
            return false;
    return true;
}

/* A capture is always ended, or its streams could not even be destroyed. */
static bool capture(const struct ec_chains *chains, int count, int frames, ec_chain_work *work, void *opaque,
                    cudaGraphExec_t *program, struct ec_error *error)
{
    cudaGraph_t graph = NULL;
    if (!EC_CUDA(error, cudaStreamBeginCapture(chains->streams[0], cudaStreamCaptureModeThreadLocal)))
        return false;
    bool good = queue_round(chains, count, frames, work, opaque, error);
    good = EC_CUDA(error, cudaStreamEndCapture(chains->streams[0], &graph)) && good;
    good = good && EC_CUDA(error, cudaGraphInstantiateWithFlags(program, graph, 0));
    if (graph)
        (void)EC_CUDA(NULL, cudaGraphDestroy(graph));
    return good;
}

static bool time_round(const struct ec_chains *chains, cudaGraphExec_t program, float *ms, struct ec_error *error)
{
    const cudaStream_t first = chains->streams[0];
    return EC_CUDA(error, cudaEventRecord(chains->start, first)) && EC_CUDA(error, cudaGraphLaunch(program, first)) &&
           EC_CUDA(error, cudaEventRecord(chains->end, first)) && EC_CUDA(error, cudaEventSynchronize(chains->end)) &&
           EC_CUDA(error, cudaEventElapsedTime(ms, chains->start, chains->end));
}

bool ec_chains_time(const struct ec_chains *chains, int count, int frames, int repetitions, ec_chain_work *work, void *opaque,
                    struct ec_spread *out_us, struct ec_error *error)
{
    cudaGraphExec_t program = NULL;
    double *us = calloc((size_t)repetitions, sizeof *us);
    bool good = us != NULL;
    if (!good)
        ec_fail(error, EC_ERROR_MEMORY, "there is no memory for %d measurements", repetitions);
    good = good && capture(chains, count, frames, work, opaque, &program, error);
    for (int n = -WARM_UP_ROUNDS; n < repetitions && good; n++) {
        float ms = 0;
        good = time_round(chains, program, &ms, error);
        if (n >= 0)
            us[n] = (double)ms * 1e3 / frames;
    }
    if (good)
        *out_us = ec_spread_of(us, repetitions);
    if (program)
        (void)EC_CUDA(NULL, cudaGraphExecDestroy(program));
    free(us);
    return good;
}
