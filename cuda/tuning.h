/* What a tuner may choose: plan->tuning with everything that there is no kernel for replaced by the default. */
#ifndef EC_CUDA_TUNING_H
#define EC_CUDA_TUNING_H

#ifdef __cplusplus
extern "C" {
#endif

#include "edge/plan.h"

enum { EC_STRIP_BLOCK = 128, EC_STRIP_BLOCK_MAX = 512 };

/* Rows of a strip in the kernels that take two bytes a register. */
enum { EC_PAIRS_ROWS_L1 = 12, EC_PAIRS_ROWS_L2 = 8 };

/* Whether they take half as many. */
bool ec_tuned_half_rows(const struct ec_plan *plan);

/* Threads in a block of the strip kernels. */
int ec_tuned_block_threads(const struct ec_plan *plan);

/* ec_backend's function. */
int ec_cuda_tunings(const struct ec_plan *plan, struct ec_tuning *out);

#ifdef __cplusplus
}
#endif
#endif
