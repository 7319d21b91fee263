#include "tuning.h"

int ec_tuned_block_threads(const struct ec_plan *plan)
{
    switch (plan->tuning.block_threads) {
    case 64:
    case 256:
    case EC_STRIP_BLOCK_MAX:
        return plan->tuning.block_threads;
    default:
        return EC_STRIP_BLOCK;
    }
}

static int pairs_rows(const struct ec_plan *plan)
{
    return plan->norm == EC_NORM_L1 ? EC_PAIRS_ROWS_L1 : EC_PAIRS_ROWS_L2;
}

bool ec_tuned_half_rows(const struct ec_plan *plan)
{
    return plan->tuning.rows_per_thread == pairs_rows(plan) / 2;
}

int ec_cuda_tunings(const struct ec_plan *plan, struct ec_tuning *out)
{
    static const int blocks[] = {64, EC_STRIP_BLOCK, 256, EC_STRIP_BLOCK_MAX};
    const bool strips = plan->op <= EC_OPERATOR_LAPLACIAN && plan->window_size <= 3;
    const bool pairs = plan->op <= EC_OPERATOR_PREWITT && plan->depth_bits == 8;
    int count = 0;
    for (int half = 0; half <= pairs && strips; half++)
        for (int i = 0; i < (int)(sizeof blocks / sizeof *blocks); i++)
            if (half || blocks[i] != EC_STRIP_BLOCK)
                out[count++] = (struct ec_tuning){blocks[i], half ? pairs_rows(plan) / 2 : pairs ? pairs_rows(plan) : 0};
    return count;
}
