#include "clock.h"

#include <time.h>

/* Float milliseconds resolve 2 s to 0.12 us; a new base costs some 20 us of the calling thread. */
#define BASE_LIFE_NS INT64_C(2000000000)

/* A base is as good as the stretch of host time that its completion fell into; a thread that lost the CPU tries again. */
#define BASE_STRETCH_NS INT64_C(30000)
#define BASE_TRIES 4

int64_t ec_monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool take_base(struct ec_gpu_clock *clock, cudaStream_t stream, struct ec_error *error)
{
    for (int i = 0; i < BASE_TRIES; i++) {
        const int64_t before_ns = ec_monotonic_ns();
        cudaError_t result = cudaEventRecord(clock->base, stream);
        if (!ec_cuda_check(error, result, "cudaEventRecord"))
            return false;
        do
            result = cudaEventQuery(clock->base);
        while (result == cudaErrorNotReady);
        const int64_t after_ns = ec_monotonic_ns();
        (void)cudaGetLastError(); /* "not ready" is no error here */
        if (!ec_cuda_check(error, result, "cudaEventQuery"))
            return false;
        clock->base_ns = after_ns;
        if (after_ns - before_ns < BASE_STRETCH_NS)
            break;
    }
    return true;
}

bool ec_gpu_clock_open(struct ec_gpu_clock *clock, cudaStream_t stream, struct ec_error *error)
{
    return EC_CUDA(error, cudaEventCreateWithFlags(&clock->base, cudaEventDefault)) && take_base(clock, stream, error);
}

void ec_gpu_clock_close(struct ec_gpu_clock *clock)
{
    if (clock->base)
        (void)EC_CUDA(NULL, cudaEventDestroy(clock->base));
    clock->base = NULL;
}

bool ec_gpu_clock_refresh(struct ec_gpu_clock *clock, cudaStream_t stream, struct ec_error *error)
{
    return ec_monotonic_ns() - clock->base_ns < BASE_LIFE_NS || take_base(clock, stream, error);
}

bool ec_gpu_clock_map(const struct ec_gpu_clock *clock, cudaEvent_t event, int64_t *ns, struct ec_error *error)
{
    float elapsed_ms = 0;
    if (!EC_CUDA(error, cudaEventElapsedTime(&elapsed_ms, clock->base, event)))
        return false;
    *ns = clock->base_ns + (int64_t)((double)elapsed_ms * 1e6);
    return true;
}
