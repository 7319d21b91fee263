/* The second half of divergence.cu: fast intrinsics beside the functions they replace, and half2 beside float, with their
 * errors.
 *
 * sinf() and its like are many instructions, because they are right to a unit or two in the last place for every argument. The
 * intrinsics (__sinf ...) use the special function unit: few instructions, and an error that is bounded in absolute terms only,
 * or grows with the argument. nvcc -use_fast_math puts them everywhere, which is rarely what one wants. edgecam uses a single
 * one, an approximate root, and puts its result right in integers (cuda/pair.cuh), since its bytes must not depend on the
 * processor.
 *
 * half2 does two half operations an instruction, 11 bits of precision each. edgecam keeps bytes in it, for which it is exact.
 */
#ifndef INTRINSICS_CUH
#define INTRINSICS_CUH

#include <cuda_fp16.h>
#include <math.h>

#include "sample.h"

enum { INTRINSIC_THREADS = 256, EVALUATIONS = 32, CHAIN = 512 };

/* A function, what it should be, and the error it may have: units in the last place, plus an absolute part. */
#define FUNCTION(tag, expression, exact, ulps, absolute)                                                                       \
    struct tag {                                                                                                               \
        static __device__ float run(float x) { return expression; }                                                            \
        static double want(double x) { return exact; }                                                                         \
        static constexpr double ULPS = ulps, ABSOLUTE = absolute;                                                              \
    }
FUNCTION(sin_exact, sinf(x), sin(x), 2, 0);
FUNCTION(sin_fast, __sinf(x), sin(x), 0, 3.7e-7); /* 2^-21.4 from -pi to pi */
FUNCTION(exp_exact, expf(x), exp(x), 2, 0);
FUNCTION(exp_fast, __expf(x), exp(x), 6, 0); /* 2 + 1.173 |x| */
FUNCTION(log_exact, logf(fabsf(x)), log(fabs(x)), 1, 0);
FUNCTION(log_fast, __logf(fabsf(x)), log(fabs(x)), 3, 3.7e-7);
FUNCTION(divide_exact, 3.0f / x, 3.0 / x, 0.5, 0);
FUNCTION(divide_fast, __fdividef(3.0f, x), 3.0 / x, 2, 0);
FUNCTION(root_exact, 1.0f / sqrtf(fabsf(x)), 1.0 / sqrt(fabs(x)), 1.5, 0);
FUNCTION(root_fast, rsqrtf(fabsf(x)), 1.0 / sqrt(fabs(x)), 2, 0);

template <class Function>
__global__ void function_kernel(const float *in, float *out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * INTRINSIC_THREADS + threadIdx.x;
    if (i < count)
        out[i] = Function::run(in[i]);
}

/* Many evaluations, so that the function counts and not memory. */
template <class Function>
__global__ void repeat_kernel(const float *in, float *out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * INTRINSIC_THREADS + threadIdx.x;
    if (i >= count)
        return;
    float x = in[i], sum = 0;
    for (int k = 0; k < EVALUATIONS; k++) {
        sum += Function::run(x);
        x *= 0.99f;
    }
    out[i] = sum;
}

static unsigned intrinsic_blocks(size_t threads)
{
    return (unsigned)((threads + INTRINSIC_THREADS - 1) / INTRINSIC_THREADS);
}

template <class Function>
static void function_row(struct sample_table *t, const char *name, const float *h_in, float *h_out, const float *d_in,
                         float *d_out, size_t count)
{
    double worst_ulps = 0, worst = 0;
    bool passed = true;
    CUDA(cudaMemset(d_out, 255, count * sizeof(float)));
    function_kernel<Function><<<intrinsic_blocks(count), INTRINSIC_THREADS>>>(d_in, d_out, count);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(h_out, d_out, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
        const double want = Function::want((double)h_in[i]), error = fabs((double)h_out[i] - want);
        const double ulp = ldexp(1, ilogb(want ? want : 1) - 23);
        passed = passed && error <= (Function::ULPS + 1e-6) * ulp + Function::ABSOLUTE;
        worst_ulps = fmax(worst_ulps, error / ulp);
        worst = fmax(worst, error);
    }
    const double s =
        sample_time([=] { repeat_kernel<Function><<<intrinsic_blocks(count), INTRINSIC_THREADS>>>(d_in, d_out, count); });
    sample_row(t, name, s, (double)count * EVALUATIONS, passed, "%.1f ulp, %.1e", worst_ulps, worst);
}

__global__ void float_chain_kernel(const float *in, float *out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * INTRINSIC_THREADS + threadIdx.x;
    if (i >= count)
        return;
    const float x = in[i];
    float v = x;
    for (int k = 0; k < CHAIN; k++)
        v = fmaf(v, 0.75f, x);
    out[i] = v;
}

/* Two elements a thread; the last thread of an odd count has one. */
__global__ void half_chain_kernel(const float *in, float *out, size_t count)
{
    const size_t i = 2 * ((size_t)blockIdx.x * INTRINSIC_THREADS + threadIdx.x);
    if (i >= count)
        return;
    const __half2 x = __floats2half2_rn(in[i], i + 1 < count ? in[i + 1] : 0), factor = __float2half2_rn(0.75f);
    __half2 v = x;
    for (int k = 0; k < CHAIN; k++)
        v = __hfma2(v, factor, x);
    out[i] = __low2float(v);
    if (i + 1 < count)
        out[i + 1] = __high2float(v);
}

/* `limit`: of the error, relative to the result. */
template <class Work>
static void chain_row(struct sample_table *t, const char *name, const float *h_in, float *h_out, float *d_out, size_t count,
                      double limit, Work work)
{
    double worst = 0;
    bool passed = true;
    CUDA(cudaMemset(d_out, 255, count * sizeof(float)));
    work();
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(h_out, d_out, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
        const double want = h_in[i] * (4 - 3 * pow(0.75, CHAIN)); /* of v = 3/4 v + x, from v = x on */
        const double error = fabs((double)h_out[i] - want) / fabs(want);
        passed = passed && error <= limit;
        worst = fmax(worst, error);
    }
    sample_row(t, name, sample_time(work), 2.0 * CHAIN * count, passed, "%.1e", worst);
}

/* `roof`: GFLOP/s of multiply-adds. h_in and h_out have room for `count` floats; both are overwritten. */
static void intrinsics(struct sample_table *t, double roof, float *h_in, float *h_out, size_t count)
{
    uint32_t state = 1;
    for (size_t i = 0; i < count; i++) /* from -pi to pi, not nearer to zero than a thousandth */
        h_in[i] = (sample_random(&state) / 16777216.0f * 3.14f + 0.001f) * (i % 2 ? -1.0f : 1.0f);
    float *d_in = sample_to_device(h_in, count), *d_out = sample_device<float>(count);
#define ROW(tag, name) function_row<tag>(t, name, h_in, h_out, d_in, d_out, count)
    sample_begin(t, "Functions and intrinsics", "G functions/s", "instructions", roof / 2, "greatest error");
    ROW(sin_exact, "sinf");
    ROW(sin_fast, "__sinf");
    ROW(exp_exact, "expf");
    ROW(exp_fast, "__expf");
    ROW(log_exact, "logf");
    ROW(log_fast, "__logf");
    ROW(divide_exact, "3 / x");
    ROW(divide_fast, "__fdividef");
    ROW(root_exact, "1 / sqrtf");
    ROW(root_fast, "rsqrtf");
#undef ROW
    sample_begin(t, "float and half2: 512 multiply-adds", "GFLOP/s", "float multiply-adds", roof, "relative error");
    chain_row(t, "float", h_in, h_out, d_out, count, 1e-6,
              [=] { float_chain_kernel<<<intrinsic_blocks(count), INTRINSIC_THREADS>>>(d_in, d_out, count); });
    chain_row(t, "half2", h_in, h_out, d_out, count, 4e-3,
              [=] { half_chain_kernel<<<intrinsic_blocks((count + 1) / 2), INTRINSIC_THREADS>>>(d_in, d_out, count); });
    CUDA(cudaFree(d_in));
    CUDA(cudaFree(d_out));
}

#endif
