/* 3x3 gradients of bytes, strips of 16 columns. */
#include "gradient_pairs.cuh"

namespace
{

using namespace ec;

/* As many rows as registers hold without spilling on any architecture: roots need more a row. Or half of them, which leaves
 * a card with few multiprocessors' worth of strips less to wait for at the end. */
template <class Depth, class Taps>
enum ec_status run(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    constexpr int ROWS = EC_PAIRS_ROWS_L1, ROOT_ROWS = EC_PAIRS_ROWS_L2;
    const bool half = ec_tuned_half_rows(queue->plan);
    if (queue->plan->norm == EC_NORM_L1)
        return half ? run_pairs<Depth, Taps, false, ROWS / 2>(queue, in, out)
                    : run_pairs<Depth, Taps, false, ROWS>(queue, in, out);
    return half ? run_pairs<Depth, Taps, true, ROOT_ROWS / 2>(queue, in, out)
                : run_pairs<Depth, Taps, true, ROOT_ROWS>(queue, in, out);
}

} // namespace

bool ec_gradient_pairs_fits(const ec_plan *plan, const ec_gpu_source *in, const ec_gpu_target *out)
{
    return plan->depth_bits == 8 && pairs_fit<Bytes>(plan, in, out);
}

enum ec_status ec_gradient_pairs(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    switch (queue->plan->op) {
    case EC_OPERATOR_SCHARR:
        return run<BiasedBytes, Scharr>(queue, *in, *out);
    case EC_OPERATOR_PREWITT:
        return run<Bytes, Prewitt>(queue, *in, *out);
    default:
        return run<Bytes, Sobel>(queue, *in, *out);
    }
}
