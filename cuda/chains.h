/* Times of work queued back to back on one or more streams: one graph a round, so that launching from the host does not count.
 */
#ifndef EC_CUDA_CHAINS_H
#define EC_CUDA_CHAINS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "edge/backend.h"

struct ec_chains {
    cudaStream_t streams[EC_THROUGHPUT_STREAMS];
    cudaEvent_t fork, start, end, joins[EC_THROUGHPUT_STREAMS];
};

/* Queues frame `i` on a stream, the one of `chain`; false with *error otherwise. */
typedef bool ec_chain_work(void *opaque, int i, int chain, cudaStream_t stream, struct ec_error *error);

/* `chains` is zeroed; close takes it half open too. */
bool ec_chains_open(struct ec_chains *chains, struct ec_error *error);
void ec_chains_close(struct ec_chains *chains);

/* Time of a frame in us over `repetitions` rounds of `frames` frames that take turns on `count` streams. */
bool ec_chains_time(const struct ec_chains *chains, int count, int frames, int repetitions, ec_chain_work *work, void *opaque,
                    struct ec_spread *out_us, struct ec_error *error);

#endif
