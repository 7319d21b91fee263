/* Puts the device events of one stream on the host's CLOCK_MONOTONIC axis.
 *
 * The stream's base is an event with the host's time of its completion. It is taken anew every few seconds while the stream is
 * idle, so CUDA's float milliseconds since the base keep their half microsecond, and the two clocks cannot drift apart. */
#ifndef EC_CUDA_CLOCK_H
#define EC_CUDA_CLOCK_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "check.h"

struct ec_gpu_clock {
    cudaEvent_t base;
    int64_t base_ns;
};

int64_t ec_monotonic_ns(void); /* the axis that everything is mapped onto */

bool ec_gpu_clock_open(struct ec_gpu_clock *clock, cudaStream_t stream, struct ec_error *error);
void ec_gpu_clock_close(struct ec_gpu_clock *clock);

/* Takes a new base if the last one is old. `stream` is idle, and no event older than this call is mapped after it. */
bool ec_gpu_clock_refresh(struct ec_gpu_clock *clock, cudaStream_t stream, struct ec_error *error);

/* When a completed timing event of the stream happened. */
bool ec_gpu_clock_map(const struct ec_gpu_clock *clock, cudaEvent_t event, int64_t *ns, struct ec_error *error);

#endif
