/* convolution [WIDTH HEIGHT]: a K x K convolution of a gray frame (without arguments: 3840 x 2160), K from 3 to 15.
 *
 * A pixel is read once and written once, and K * K products are made of it: for small K memory decides, for large K arithmetic.
 *
 *   naive            pixels and weights from global memory; caches serve each pixel K * K times, a load instruction each
 *   constant memory  all threads want the same weight at once: it becomes an operand of the multiply-add, no load at all
 *   read-only cache  __ldg: once a cache of its own; since Volta the same L1, so do not expect much
 *   shared tile      a block loads its tile and a halo of K / 2 pixels around it once, already converted to float
 *   registers        no tile: a warp slides down a strip; a thread holds 4 columns, gets halo pixels from its neighbours
 *                    by shuffle, and adds every row to the K sums that it belongs to: one load for 4 pixels
 *   separable        weights that are a column times a row need 2 K products instead of K * K
 *   bytes (dp4a)     weights that fit bytes: four products an instruction, on pixels that never become floats
 *
 * edgecam takes of each what its bytes allow: cuda/convolution_float.cu adds each row to every sum it belongs to, cuda/blur.cu
 * separates, cuda/blur_bytes.cu uses dp4a, and cuda/convolution_bytes.cu goes one rung higher, to the matrix units.
 *
 * Weights are 1 2 .. 2 1 times the same, borders repeat the edge pixel. All sums are integers below 2^24, exact in float in any
 * order: every variant must give the bytes of the CPU, and does. NPP, where the build found it, divides first: within 1. */
#include <math.h>

#include "sample.h"

#include "convolution_kernels.cuh"

#ifdef SAMPLE_NPP
#include <nppi_filtering_functions.h>
#endif

enum { PAIRS = 24 };

struct bench {
    struct frame frames[PAIRS];
    unsigned char *h_in, *h_out, *h_want;
    int *h_lines; /* the reference's row sums */
    float *d_weights;
    size_t bytes;
    int turn;
#ifdef SAMPLE_NPP
    NppStreamContext npp;
#endif
    struct sample_table table;
};

/* The definition, on the CPU: sums along the rows, then along the columns. */
static void reference(const struct bench *b, const int *line, int k)
{
    const struct frame *f = &b->frames[0];
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++) {
            int sum = 0;
            for (int i = 0; i < k; i++) {
                const int at = x + i - k / 2;
                sum += line[i] * b->h_in[(size_t)y * f->pitch + (at < 0 ? 0 : at < f->width ? at : f->width - 1)];
            }
            b->h_lines[(size_t)y * f->width + x] = sum;
        }
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++) {
            int sum = 0;
            for (int j = 0; j < k; j++) {
                const int at = y + j - k / 2;
                sum += line[j] * b->h_lines[(size_t)(at < 0 ? 0 : at < f->height ? at : f->height - 1) * f->width + x];
            }
            b->h_want[(size_t)y * f->pitch + x] = finish((float)sum, f->scale);
        }
}

/* Every pixel is checked on poisoned memory; then frames rotate over more memory than the last cache holds. */
template <class Work>
static void row(struct bench *b, const char *name, int tolerance, Work work)
{
    const struct frame *f = &b->frames[0];
    int worst = 0;
    CUDA(cudaMemset(f->out, 255, b->bytes));
    work(f);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(b->h_out, f->out, b->bytes, cudaMemcpyDeviceToHost));
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++) {
            const int difference = abs(b->h_out[(size_t)y * f->pitch + x] - b->h_want[(size_t)y * f->pitch + x]);
            worst = difference > worst ? difference : worst;
        }
    const double s = sample_time([&] { work(&b->frames[b->turn++ % PAIRS]); });
    sample_row(&b->table, name, s, 2.0 * f->width * f->height, worst <= tolerance, "%d", worst);
}

#ifdef SAMPLE_NPP
static void open_npp(NppStreamContext *c)
{
    cudaDeviceProp gpu;
    CUDA(cudaGetDeviceProperties(&gpu, 0));
    c->nMultiProcessorCount = gpu.multiProcessorCount;
    c->nMaxThreadsPerMultiProcessor = gpu.maxThreadsPerMultiProcessor;
    c->nMaxThreadsPerBlock = gpu.maxThreadsPerBlock;
    c->nSharedMemPerBlock = gpu.sharedMemPerBlock;
    c->nCudaDevAttrComputeCapabilityMajor = gpu.major;
    c->nCudaDevAttrComputeCapabilityMinor = gpu.minor;
}

static void run_npp(const struct bench *b, const struct frame *f, int k)
{
    const NppiSize size = {f->width, f->height}, window = {k, k};
    const NppiPoint origin = {0, 0}, anchor = {k / 2, k / 2};
    const NppStatus status = nppiFilterBorder32f_8u_C1R_Ctx(f->in, f->pitch, size, origin, f->out, f->pitch, size, b->d_weights,
                                                            window, anchor, NPP_BORDER_REPLICATE, b->npp);
    if (status != NPP_SUCCESS) {
        fprintf(stderr, "nppiFilterBorder32f_8u_C1R_Ctx: status %d\n", (int)status);
        exit(EXIT_FAILURE);
    }
}
#endif

template <int K>
static void set_weights(struct bench *b)
{
    float weights[K * K], line[K];
    unsigned bytes[K][4] = {};
    int integers[K], sum = 0;
    for (int i = 0; i < K; i++) {
        integers[i] = i < K / 2 ? i + 1 : K - i;
        line[i] = (float)integers[i];
        sum += integers[i];
    }
    for (int j = 0; j < K; j++)
        for (int i = 0; i < K; i++) {
            weights[j * K + i] = line[j] * line[i];
            bytes[j][i / 4] |= (unsigned)(integers[j] * integers[i]) << i % 4 * 8;
        }
    CUDA(cudaMemcpyToSymbol(c_weights, weights, sizeof weights));
    CUDA(cudaMemcpyToSymbol(c_line, line, sizeof line));
    CUDA(cudaMemcpyToSymbol(c_bytes, bytes, sizeof bytes));
    CUDA(cudaMemcpy(b->d_weights, weights, sizeof weights, cudaMemcpyHostToDevice));
    for (struct frame &f : b->frames)
        f.scale = 1.0f / (float)(sum * sum);
    reference(b, integers, K);
}

template <int K>
static void measure(struct bench *b, double roof)
{
    char title[32];
    const int w = b->frames[0].width, h = b->frames[0].height;
    const dim3 pixels((w + TILE_X - 1) / TILE_X, (h + TILE_Y - 1) / TILE_Y), block(TILE_X, TILE_Y);
    const dim3 strips((w + strip<K>::COLUMNS * WARPS - 1) / (strip<K>::COLUMNS * WARPS),
                      (h + strip<K>::ROWS - 1) / strip<K>::ROWS);
    set_weights<K>(b);
    snprintf(title, sizeof title, "%d x %d", K, K);
    sample_begin(&b->table, title, "GB/s", "device-to-device copy", roof, "greatest difference");
    row(b, "naive", 0, [=](const frame *f) { pixel_kernel<K, 0><<<pixels, block>>>(*f, b->d_weights); });
    row(b, "constant memory", 0, [=](const frame *f) { pixel_kernel<K, 1><<<pixels, block>>>(*f, b->d_weights); });
    row(b, "read-only cache", 0, [=](const frame *f) { pixel_kernel<K, 2><<<pixels, block>>>(*f, b->d_weights); });
    row(b, "shared tile", 0, [=](const frame *f) { tile_kernel<K><<<pixels, block>>>(*f); });
    row(b, "registers", 0, [=](const frame *f) { strip_kernel<K, FULL, float><<<strips, WARPS * 32>>>(*f); });
    row(b, "separable", 0, [=](const frame *f) { strip_kernel<K, SEPARABLE, float><<<strips, WARPS * 32>>>(*f); });
    row(b, "bytes (dp4a)", 0, [=](const frame *f) { strip_kernel<K, BYTES, unsigned><<<strips, WARPS * 32>>>(*f); });
#ifdef SAMPLE_NPP
    float scaled[K * K];
    CUDA(cudaMemcpy(scaled, b->d_weights, sizeof scaled, cudaMemcpyDeviceToHost));
    for (float &weight : scaled)
        weight *= b->frames[0].scale;
    CUDA(cudaMemcpy(b->d_weights, scaled, sizeof scaled, cudaMemcpyHostToDevice));
    row(b, "NPP FilterBorder32f", 1, [=](const frame *f) { run_npp(b, f, K); });
#endif
}

int main(int argc, char **argv)
{
    struct bench b = {};
    uint32_t state = 1;
    const int width = (int)sample_number(argc, argv, 1, 3840, 1, 16384);
    const int height = (int)sample_number(argc, argv, 2, 2160, 1, 16384), pitch = (width + 255) / 256 * 256;
    sample_open_gpu("convolution");
    const double roof = sample_copy_roof();
    b.bytes = (size_t)pitch * height;
    b.h_in = (unsigned char *)sample_allocate(b.bytes);
    b.h_out = (unsigned char *)sample_allocate(b.bytes);
    b.h_want = (unsigned char *)sample_allocate(b.bytes);
    b.h_lines = (int *)sample_allocate(b.bytes * sizeof(int));
    for (size_t i = 0; i < b.bytes; i++)
        b.h_in[i] = (unsigned char)(sample_random(&state) >> 16);
    b.d_weights = sample_device<float>(K_MAX * K_MAX);
    for (struct frame &f : b.frames)
        f = {sample_to_device(b.h_in, b.bytes), sample_device<unsigned char>(b.bytes), width, height, pitch, 0};
#ifdef SAMPLE_NPP
    open_npp(&b.npp);
#endif
    measure<3>(&b, roof);
    measure<5>(&b, roof);
    measure<7>(&b, roof);
    measure<9>(&b, roof);
    measure<11>(&b, roof);
    measure<15>(&b, roof);
    for (const struct frame &f : b.frames) {
        CUDA(cudaFree((void *)f.in));
        CUDA(cudaFree(f.out));
    }
    CUDA(cudaFree(b.d_weights));
    free(b.h_in);
    free(b.h_out);
    free(b.h_want);
    free(b.h_lines);
    return sample_end(&b.table);
}
