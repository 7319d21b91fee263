#include "tuning.h"

int ec_tuned_block_threads(const struct ec_plan *plan)
{
    switch (plan->tuning.block_threads) {
    case 64:
    case 256:
    case 512:
        return plan->tuning.block_threads;
    default:
        return EC_STRIP_BLOCK;
    }
}

/* Operators whose kernels stand in strips. */
static bool uses_strips(const struct ec_plan *plan)
{
    return plan->op <= EC_OPERATOR_LAPLACIAN && plan->window_size <= 3;
}

int ec_cuda_tunings(const struct ec_plan *plan, struct ec_tuning *out)
{
    static const int blocks[] = {64, 256, 512};
    int count = 0;
    if (uses_strips(plan))
        for (; count < 3; count++)
            out[count] = (struct ec_tuning){.block_threads = blocks[count]};
    return count;
}
