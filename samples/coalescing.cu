/* coalescing [N]: what a warp's 32 addresses cost. N floats (without N: 64 Mi) pass through each variant.
 *
 * Device memory is read and written in sectors of 32 bytes, four to a cache line of 128. A load of a warp is coalesced when its
 * 32 addresses lie in as few sectors as the bytes it wants would fill; every further sector is bandwidth for bytes that nobody
 * uses. The rate below counts useful bytes only, so a load that uses 4 bytes of each sector can show no more than an eighth.
 *
 *   stride       thread i takes element i * stride
 *   misaligned   thread i takes element i + offset: at most one more sector a warp, which its neighbour wants too
 *   structs      of 8 floats: one field of an array of structs is a stride of 8; of a struct of arrays it is contiguous
 *   widths       1 to 16 bytes a thread: the same sectors with fewer instructions
 *
 * edgecam keeps rows aligned and loads 16 bytes a thread (cuda/tile.cuh) for these reasons; only where a row ends, or a
 * caller's pitch forbids it, does it go byte by byte. */
#include "sample.h"

enum { THREADS = 256, FIELDS = 8 };

__global__ void stride_kernel(const float *in, float *out, size_t count, size_t stride)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        out[i] = in[i * stride];
}

__global__ void offset_kernel(const float *in, float *out, size_t count, size_t offset)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        out[i] = in[i + offset];
}

struct body {
    float field[FIELDS];
};

__global__ void structs_one_kernel(const struct body *in, float *out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        out[i] = in[i].field[0] + in[i].field[1];
}

__global__ void arrays_one_kernel(const float *in, float *out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        out[i] = in[i] + in[count + i];
}

/* All the fields, for which an array of structs is no bad choice if they come 16 bytes at a time. */
__global__ void structs_all_kernel(const struct body *in, float *out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const float4 p = ((const float4 *)&in[i])[0], q = ((const float4 *)&in[i])[1];
    out[i] = p.x + p.y + p.z + p.w + q.x + q.y + q.z + q.w;
}

__global__ void structs_scalar_kernel(const struct body *in, float *out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    float sum = 0;
    for (int f = 0; f < FIELDS; f++)
        sum += ((const volatile float *)in[i].field)[f];
    out[i] = sum;
}

__global__ void arrays_all_kernel(const float *in, float *out, size_t count)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    float sum = 0;
    for (int f = 0; f < FIELDS; f++)
        sum += in[f * count + i];
    out[i] = sum;
}

/* Copies words of T; what does not fill a word at the end goes byte by byte. */
template <class T>
__global__ void width_kernel(const unsigned char *in, unsigned char *out, size_t bytes)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x, words = bytes / sizeof(T);
    if (i < words)
        ((T *)out)[i] = ((const T *)in)[i];
    else if (i == words)
        for (size_t b = words * sizeof(T); b < bytes; b++)
            out[b] = in[b];
}

struct run {
    size_t count; /* floats */
    float *h_in, *h_out, *d_in, *d_out;
    struct sample_table table;
};

static unsigned blocks(size_t threads)
{
    return (unsigned)((threads + THREADS - 1) / THREADS);
}

/* Runs a variant over poisoned output, checks `results` floats against wanted(i), then measures. */
template <class Work, class Wanted>
static void row(struct run *r, const char *name, size_t results, size_t bytes, Work work, Wanted wanted)
{
    bool passed = true;
    CUDA(cudaMemset(r->d_out, 255, r->count * sizeof(float)));
    work();
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(r->h_out, r->d_out, results * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < results; i++)
        passed = passed && r->h_out[i] == wanted(i);
    sample_row(&r->table, name, sample_time(work), (double)bytes, passed, "%.1f MB", bytes * 1e-6);
}

static void strides_and_offsets(struct run *r, double roof)
{
    char name[64];
    sample_begin(&r->table, "Strides and offsets, useful bytes read and written", "GB/s", "device-to-device copy", roof,
                 "moved");
    for (size_t stride = 1; stride <= 32; stride *= 2) {
        const size_t count = (r->count + stride - 1) / stride;
        snprintf(name, sizeof name, "stride %zu", stride);
        row(
            r, name, count, count * 8, [=] { stride_kernel<<<blocks(count), THREADS>>>(r->d_in, r->d_out, count, stride); },
            [=](size_t i) { return r->h_in[i * stride]; });
    }
    for (size_t offset : {1, 2, 4, 8, 31, 32}) {
        const size_t count = r->count > offset ? r->count - offset : 0;
        if (!count)
            continue;
        snprintf(name, sizeof name, "offset %zu floats", offset);
        row(
            r, name, count, count * 8, [=] { offset_kernel<<<blocks(count), THREADS>>>(r->d_in, r->d_out, count, offset); },
            [=](size_t i) { return r->h_in[i + offset]; });
    }
}

static void structs(struct run *r, double roof)
{
    const size_t count = r->count / FIELDS, one = count * 12, all = count * (FIELDS + 1) * 4;
    const struct body *d_bodies = (const struct body *)r->d_in, *h_bodies = (const struct body *)r->h_in;
    const float *h = r->h_in;
    const auto sum_struct = [=](size_t i) {
        const float *f = h_bodies[i].field;
        return f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7];
    };
    if (!count)
        return;
    sample_begin(&r->table, "Structs of 8 floats: two fields, then all of them", "GB/s", "device-to-device copy", roof,
                 "moved");
    row(
        r, "array of structs, 2 fields", count, one,
        [=] { structs_one_kernel<<<blocks(count), THREADS>>>(d_bodies, r->d_out, count); },
        [=](size_t i) { return h_bodies[i].field[0] + h_bodies[i].field[1]; });
    row(
        r, "struct of arrays, 2 fields", count, one,
        [=] { arrays_one_kernel<<<blocks(count), THREADS>>>(r->d_in, r->d_out, count); },
        [=](size_t i) { return h[i] + h[count + i]; });
    row(
        r, "array of structs, all, 4 bytes a load", count, all,
        [=] { structs_scalar_kernel<<<blocks(count), THREADS>>>(d_bodies, r->d_out, count); }, sum_struct);
    row(
        r, "array of structs, all, 16 bytes a load", count, all,
        [=] { structs_all_kernel<<<blocks(count), THREADS>>>(d_bodies, r->d_out, count); }, sum_struct);
    row(
        r, "struct of arrays, all", count, all,
        [=] { arrays_all_kernel<<<blocks(count), THREADS>>>(r->d_in, r->d_out, count); },
        [=](size_t i) {
            float sum = 0;
            for (size_t f = 0; f < FIELDS; f++)
                sum += h[f * count + i];
            return sum;
        });
}

template <class T>
static void width(struct run *r, const char *name)
{
    const size_t bytes = r->count * sizeof(float);
    row(
        r, name, r->count, 2 * bytes,
        [=] {
            width_kernel<T>
                <<<blocks(bytes / sizeof(T) + 1), THREADS>>>((unsigned char *)r->d_in, (unsigned char *)r->d_out, bytes);
        },
        [=](size_t i) { return r->h_in[i]; });
}

int main(int argc, char **argv)
{
    struct run r = {};
    uint32_t state = 1;
    r.count = (size_t)sample_number(argc, argv, 1, 64 << 20, 1, 512 << 20);
    sample_open_gpu("coalescing");
    const double roof = sample_copy_roof();
    r.h_in = (float *)sample_allocate(r.count * sizeof(float));
    r.h_out = (float *)sample_allocate(r.count * sizeof(float));
    for (size_t i = 0; i < r.count; i++)
        r.h_in[i] = (float)(sample_random(&state) >> 12); /* integers below 4096: sums are exact in any order */
    r.d_in = sample_to_device(r.h_in, r.count);
    r.d_out = sample_device<float>(r.count);

    strides_and_offsets(&r, roof);
    structs(&r, roof);
    sample_begin(&r.table, "Bytes a thread", "GB/s", "device-to-device copy", roof, "moved");
    width<unsigned char>(&r, "1 byte");
    width<unsigned short>(&r, "2 bytes");
    width<unsigned>(&r, "4 bytes");
    width<uint2>(&r, "8 bytes");
    width<uint4>(&r, "16 bytes");

    CUDA(cudaFree(r.d_in));
    CUDA(cudaFree(r.d_out));
    free(r.h_in);
    free(r.h_out);
    return sample_end(&r.table);
}
