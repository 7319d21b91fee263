/* From a convolution's sum to a pixel, one for each kind of sum. */
#ifndef EC_CUDA_CONVOLUTION_FINISH_CUH
#define EC_CUDA_CONVOLUTION_FINISH_CUH

#include "pixel.cuh"

namespace ec
{

/* ec_divide_half_even in 32 bits, for a divisor that fits: a larger one leaves no quotient beyond 1/2. */
EC_DEVICE int32_t divide_half_even(int32_t sum, int64_t divisor)
{
    if (divisor == 1)
        return sum;
    if (divisor > INT32_MAX / 2)
        return ec_divide_half_even(sum, divisor);
    const int32_t d = (int32_t)divisor;
    int32_t quotient = sum / d, rest = sum - quotient * d;
    if (rest < 0) {
        quotient -= 1;
        rest += d;
    }
    const int32_t twice = 2 * rest;
    return quotient + (twice > d || (twice == d && (quotient & 1)));
}

EC_DEVICE uint32_t finish_sum(int32_t sum, int64_t divisor, const struct ec_finish &f)
{
    return ec_finish(divide_half_even(sum, divisor), &f);
}

EC_DEVICE uint32_t finish_sum(int64_t sum, int64_t divisor, const struct ec_finish &f)
{
    return ec_finish(ec_divide_half_even(sum, divisor), &f);
}

EC_DEVICE uint32_t finish_sum(float sum, int64_t, const struct ec_finish &f)
{
    return ec_finish_float(sum, &f);
}

} // namespace ec

#endif
