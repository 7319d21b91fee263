/* 3x3 gradients of 9 and 10 bits, strips of 8 columns. */
#include "gradient_pairs.cuh"

namespace
{

using namespace ec;

constexpr int ROWS = 8;

template <class Taps>
enum ec_status run(const ec_gpu_queue *queue, const ec_gpu_source &in, const ec_gpu_target &out)
{
    return queue->plan->norm == EC_NORM_L1 ? run_pairs<Halves, Taps, false, ROWS>(queue, in, out)
                                           : run_pairs<Halves, Taps, true, ROWS>(queue, in, out);
}

} // namespace

bool ec_gradient_pairs_deep_fits(const ec_plan *plan, const ec_gpu_source *in, const ec_gpu_target *out)
{
    return (plan->depth_bits == 9 || plan->depth_bits == 10) && plan->op != EC_OPERATOR_SCHARR &&
           pairs_fit<Halves>(plan, in, out);
}

enum ec_status ec_gradient_pairs_deep(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    return queue->plan->op == EC_OPERATOR_PREWITT ? run<Prewitt>(queue, *in, *out) : run<Sobel>(queue, *in, *out);
}
