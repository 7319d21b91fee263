/* matmul [N]: c = a * b for N x N floats, from the first idea to nine tenths of cuBLAS. Without N: 1024, then 4096.
 *
 * 2 N^3 operations on 3 N^2 numbers: there is plenty to reuse, and every rung is about reusing data closer to the multipliers.
 *   device memory   the order of access decides how many bytes travel for each byte used  (matmul_tiles.cuh)
 *   shared memory   a tile is fetched once and used 32 times; banks, and when padding matters  (matmul_tiles.cuh)
 *   registers       8 x 8 and 8 x 16 results a thread; 16-byte loads; double buffering  (matmul_registers.cuh)
 *   Tensor Cores    a warp multiplies 16 x 16 x 16 halves at once, at the price of an error  (matmul_tensor.cuh)
 *   cuBLAS          NVIDIA's library, in strict FP32 (no TF32), is the roof, where the build found it
 * edgecam's kernels stand on the same steps: tiles with a halo (cuda/tile.cuh), registers in strips (cuda/strip.cuh), several
 * results a thread, 16-byte loads.
 *
 * Checked against sums in double on the CPU: every element of small sizes that fit no tile, 2048 elements of the large ones
 * (and that all the others were written). The note is the greatest error seen; "fp16" rungs are held to the rounded inputs. */
#include <math.h>

#include "sample.h"

#include "matmul_registers.cuh"
#include "matmul_tensor.cuh"
#include "matmul_tiles.cuh"
#ifdef SAMPLE_CUBLAS
#include <cublas_v2.h>
#endif

enum { PROBES = 2048, ALL = 264 * 264 };

struct problem {
    int n, probes;
    float *h_a, *h_b, *h_c, *d_a, *d_b, *d_c;
    __half *d_half_a, *d_half_b;
    size_t positions[ALL];
    double exact[ALL], rounded[ALL], weight[ALL]; /* sums; of rounded inputs; of absolute values */
#ifdef SAMPLE_CUBLAS
    cublasHandle_t cublas;
#endif
};

static dim3 grid(const struct problem *p, int side)
{
    return dim3((p->n + side - 1) / side, (p->n + side - 1) / side);
}

template <bool COLUMNS_ALONG_X>
static void run_naive(const struct problem *p)
{
    naive_kernel<COLUMNS_ALONG_X><<<grid(p, 32), dim3(32, 32)>>>(p->d_a, p->d_b, p->d_c, p->n);
}
template <int PAD, bool B_TRANSPOSED>
static void run_tiles(const struct problem *p)
{
    tiles_kernel<PAD, B_TRANSPOSED><<<grid(p, TILE), dim3(TILE, TILE)>>>(p->d_a, p->d_b, p->d_c, p->n);
}
static void run_registers(const struct problem *p)
{
    registers_kernel<<<grid(p, BLOCK), 256>>>(p->d_a, p->d_b, p->d_c, p->n);
}
static void run_vector(const struct problem *p)
{
    const auto kernel = p->n % 4 ? vector_kernel<false> : vector_kernel<true>;
    kernel<<<grid(p, BLOCK), 256>>>(p->d_a, p->d_b, p->d_c, p->n);
}
template <int COLUMNS, bool ASYNC>
static void run_buffered(const struct problem *p)
{
    const auto kernel = p->n % 4 ? buffered_kernel<COLUMNS, ASYNC, false> : buffered_kernel<COLUMNS, ASYNC, true>;
    kernel<<<grid(p, BLOCK), BLOCK * BLOCK / ROWS / COLUMNS>>>(p->d_a, p->d_b, p->d_c, p->n);
}
static void run_tensor(const struct problem *p)
{
    const auto kernel = p->n % 8 ? tensor_kernel<false> : tensor_kernel<true>;
    kernel<<<grid(p, 128), 256>>>(p->d_half_a, p->d_half_b, p->d_c, p->n);
}

#ifdef SAMPLE_CUBLAS
#define CUBLAS(call) check_cublas((call), #call)

static void check_cublas(cublasStatus_t status, const char *call)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", call, cublasGetStatusString(status));
    exit(EXIT_FAILURE);
}

/* cuBLAS counts matrices column by column, and for it our row-by-row c = a * b is c' = b' * a'. */
template <bool HALVES>
static void run_cublas(const struct problem *p)
{
    const float one = 1, zero = 0;
    const int n = p->n;
    const cudaDataType_t type = HALVES ? CUDA_R_16F : CUDA_R_32F;
    const void *a = HALVES ? (const void *)p->d_half_a : p->d_a, *b = HALVES ? (const void *)p->d_half_b : p->d_b;
    CUBLAS(cublasGemmEx(p->cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, type, n, a, type, n, &zero, p->d_c, CUDA_R_32F,
                        n, HALVES ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT));
}
#endif

static const struct variant {
    const char *name;
    void (*run)(const struct problem *p);
    bool halves;
} variants[] = {
    {"naive, rows along x: 32 sectors a load", run_naive<false>, false},
    {"naive, columns along x: coalesced", run_naive<true>, false},
    {"shared tiles 32x32", run_tiles<0, false>, false},
    {"shared tiles, padded: nothing to cure, and it costs", run_tiles<1, false>, false},
    {"shared tiles, b transposed: bank conflicts", run_tiles<0, true>, false},
    {"shared tiles, b transposed, padded: cured", run_tiles<1, true>, false},
    {"registers 8x8", run_registers, false},
    {"registers 8x8, 16-byte loads", run_vector, false},
    {"registers 8x8, double buffering", run_buffered<8, false>, false},
    {"registers 8x16, double buffering", run_buffered<16, false>, false},
    {"registers 8x16, cp.async", run_buffered<16, true>, false},
    {"Tensor Cores, fp16 to fp32", run_tensor, true},
#ifdef SAMPLE_CUBLAS
    {"cuBLAS, fp16 to fp32", run_cublas<true>, true},
    {"cuBLAS, FP32", run_cublas<false>, false},
#endif
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static void open_problem(struct problem *p, int n)
{
    const size_t count = (size_t)n * n;
    uint32_t state = 1;
    *p = {};
    p->n = n;
    p->probes = count <= ALL ? (int)count : PROBES;
    p->h_a = (float *)sample_allocate(count * sizeof(float));
    p->h_b = (float *)sample_allocate(count * sizeof(float));
    p->h_c = (float *)sample_allocate(count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        p->h_a[i] = sample_random(&state) / 8388608.0f - 1;
        p->h_b[i] = sample_random(&state) / 8388608.0f - 1;
    }
    for (int i = 0; i < p->probes; i++) {
        const size_t at = count <= ALL ? i : (((size_t)sample_random(&state) << 24) + sample_random(&state)) % count;
        p->positions[i] = at;
        for (int k = 0; k < n; k++) {
            const float a = p->h_a[at / n * n + k], b = p->h_b[(size_t)k * n + at % n];
            p->exact[i] += (double)a * b;
            p->weight[i] += fabs((double)a * b);
            p->rounded[i] += (double)__half2float(__float2half_rn(a)) * __half2float(__float2half_rn(b));
        }
    }
    p->d_a = sample_to_device(p->h_a, count);
    p->d_b = sample_to_device(p->h_b, count);
    p->d_c = sample_device<float>(count);
    p->d_half_a = sample_device<__half>(count);
    p->d_half_b = sample_device<__half>(count);
    to_half_kernel<<<(int)((count + 255) / 256), 256>>>(p->d_a, p->d_half_a, count);
    to_half_kernel<<<(int)((count + 255) / 256), 256>>>(p->d_b, p->d_half_b, count);
    CUDA(cudaGetLastError());
#ifdef SAMPLE_CUBLAS
    CUBLAS(cublasCreate(&p->cublas));
#endif
}

static void close_problem(struct problem *p)
{
#ifdef SAMPLE_CUBLAS
    CUBLAS(cublasDestroy(p->cublas));
#endif
    void *d[] = {p->d_a, p->d_b, p->d_c, p->d_half_a, p->d_half_b};
    for (void *memory : d)
        CUDA(cudaFree(memory));
    free(p->h_a);
    free(p->h_b);
    free(p->h_c);
}

/* Runs a variant over poisoned memory. The bound, 16 roundings of the largest sum that could have been, is far below one
 * product. */
static bool check(struct problem *p, const struct variant *v, double *worst)
{
    const size_t bytes = (size_t)p->n * p->n * sizeof(float);
    bool passed = true;
    CUDA(cudaMemset(p->d_c, 255, bytes));
    v->run(p);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(p->h_c, p->d_c, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        passed = passed && isfinite(p->h_c[i]);
    *worst = 0;
    for (int i = 0; i < p->probes; i++) {
        const double got = p->h_c[p->positions[i]], want = v->halves ? p->rounded[i] : p->exact[i];
        passed = passed && fabs(got - want) <= 16 * 6e-8 * p->weight[i];
        *worst = fmax(*worst, fabs(got - p->exact[i]));
    }
    return passed;
}

static int check_small(int n)
{
    struct problem *p = (struct problem *)sample_allocate(sizeof *p);
    double worst;
    int failures = 0;
    open_problem(p, n);
    for (const struct variant &v : variants)
        if (!check(p, &v, &worst)) {
            printf("%s: wrong at %d x %d\n", v.name, n, n);
            failures++;
        }
    close_problem(p);
    free(p);
    return failures;
}

static int measure(int n)
{
    struct problem *p = (struct problem *)sample_allocate(sizeof *p);
    struct sample_table table = {};
    char title[64];
    const double operations = 2.0 * n * n * n;
    double worst, roof = 0;
    open_problem(p, n);
#ifdef SAMPLE_CUBLAS
    roof = operations * 1e-9 / sample_time([=] { run_cublas<false>(p); });
#endif
    snprintf(title, sizeof title, "%d x %d times %d x %d", n, n, n, n);
    sample_begin(&table, title, "GFLOP/s", "cuBLAS in FP32", roof, "greatest error");
    for (const struct variant &v : variants) {
        const bool passed = check(p, &v, &worst);
        sample_row(&table, v.name, sample_time([&] { v.run(p); }), operations, passed, "%.1e", worst);
    }
    close_problem(p);
    free(p);
    return table.failures;
}

int main(int argc, char **argv)
{
    const int n = (int)sample_number(argc, argv, 1, 0, 1, 16384);
    int failures = 0;
    sample_open_gpu("matmul");
    for (int small : {1, 7, 40, 131, 260})
        failures += check_small(small);
    failures += n ? measure(n) : measure(1024) + measure(4096);
    printf("\n%s\n", failures ? "A CHECK FAILED" : "every check passed");
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
