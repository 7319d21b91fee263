/* How kernels read an input plane and write an output plane: border rule, luma map and finish in one place. */
#ifndef EC_CUDA_PIXEL_CUH
#define EC_CUDA_PIXEL_CUH

#include <cuda_runtime.h>

#include "edge/arith.h"
#include "operators.h"

#define EC_DEVICE static __device__ __forceinline__

namespace ec
{

template <class Pixel>
EC_DEVICE const Pixel *source_row(const ec_gpu_source &in, int32_t y)
{
    return (const Pixel *)((const char *)in.data + (int64_t)y * in.pitch_bytes);
}

template <class Pixel>
EC_DEVICE const Pixel *channel_row(const ec_gpu_source &in, int channel, int32_t y)
{
    return (const Pixel *)((const char *)in.data + channel * in.plane_bytes + (int64_t)y * in.pitch_bytes);
}

/* What a stored value counts as. Zero stays zero, so a constant border may be mapped too. */
EC_DEVICE int32_t map_value(const ec_gpu_source &in, int32_t v)
{
    return in.expand ? ec_luma_expand(v, &in.luma) : ec_min_i32(v, in.max);
}

/* As ec_border_index with 0 for a constant pixel, for i less than n outside. */
EC_DEVICE int32_t border_index_near(int32_t i, int32_t n, enum ec_border border)
{
    const int32_t clamped = ec_clamp_i32(i, 0, n - 1);
    return border == EC_BORDER_REFLECT101 ? 2 * clamped - i : border == EC_BORDER_CONSTANT && clamped != i ? 0 : clamped;
}

/* The stored value at (x, y) under the border rule. */
template <class Pixel>
EC_DEVICE int32_t stored_value(const ec_gpu_source &in, int32_t x, int32_t y)
{
    x = ec_border_index(x, in.width_px, in.border);
    y = ec_border_index(y, in.height_px, in.border);
    return x < 0 || y < 0 ? 0 : source_row<Pixel>(in, y)[x];
}

EC_DEVICE void store_value(const ec_gpu_target &out, int32_t x, int32_t y, uint32_t v)
{
    char *row = (char *)out.data + (int64_t)y * out.pitch_bytes;
    if (out.wide)
        ((uint16_t *)row)[x] = (uint16_t)v;
    else
        ((uint8_t *)row)[x] = (uint8_t)v;
}

/* round(sqrt(n)), exact, without double precision, which most cards do at 1/64 of the rate. The float root is off by at most
 * 2^-22 of itself, so one Newton step on the integer remainder leaves it within one, and the test of ec_root_round_u32 (is
 * r*r - r >= n, or r*r + r < n?) settles that. n < 2^56. */
EC_DEVICE uint32_t root_round(uint64_t n)
{
    const float estimate = sqrtf((float)n);
    int64_t r = (int64_t)estimate;
    if (r > 0)
        r += (int64_t)rintf((float)((int64_t)n - r * r) / (2.0f * estimate));
    const uint64_t square = (uint64_t)(r * r);
    if (square > (uint64_t)r && square - (uint64_t)r >= n)
        r -= 1;
    else if (square + (uint64_t)r < n)
        r += 1;
    return (uint32_t)r;
}

/* min(round(sqrt(gx^2 + gy^2)), something not below saturation), for either size of saturation. Up to 2^16 each part may stop
 * at 2^16 - 1 and the sum at 2^32 - 1: the root is then 65535 or more, rounded to 65536 for the sum that stopped. */
EC_DEVICE int32_t magnitude_l2(int32_t gx, int32_t gy, int32_t saturation)
{
    if (saturation >= 65536)
        return (int32_t)root_round((uint64_t)((int64_t)gx * gx) + (uint64_t)((int64_t)gy * gy));
    const uint32_t x = (uint32_t)ec_min_i32(ec_abs_i32(gx), 65535), y = (uint32_t)ec_min_i32(ec_abs_i32(gy), 65535);
    const uint32_t x_square = x * x, sum = x_square + y * y;
    return (int32_t)ec_root_round_u32(sum < x_square ? 0xffffffffu : sum);
}

} // namespace ec

#endif
