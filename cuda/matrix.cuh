/* Products of small matrices of bytes, which a warp computes together. */
#ifndef EC_CUDA_MATRIX_CUH
#define EC_CUDA_MATRIX_CUH

#include "pixel.cuh"

namespace ec
{

/* sums += a * b, where a is 16 x 32 unsigned bytes, b 32 x 8 signed bytes, sums 16 x 8. The whole warp takes part. With
 * g = lane / 4 and t = lane % 4 a lane holds, the first byte lowest,
 *     a[0] row g, columns 4t to 4t + 3;  a[1] row g + 8, the same columns;  a[2], a[3] the columns 16 further right
 *     b[0] column g, rows 4t to 4t + 3;  b[1] the rows 16 further down
 *     sums[0], sums[1] row g, columns 2t and 2t + 1;  sums[2], sums[3] row g + 8. */
EC_DEVICE void multiply_add_matrices(int32_t *sums, const uint32_t *a, const uint32_t *b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif defined(__CUDA_ARCH__)
    for (int k = 0; k < 2; k++)
        for (int m = 0; m < 2; m++)
            asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+r"(sums[2 * m]), "+r"(sums[2 * m + 1])
                : "r"(a[2 * k + m]), "r"(b[k]));
#elif !defined(__CUDACC__)
    const uint32_t mine[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
    uint32_t all[32][6];
    shim_gather(mine, 6, &all[0][0]);
    const unsigned lane = shim_lane();
    for (int i = 0; i < 4; i++)
        for (unsigned k = 0; k < 32; k++) {
            const unsigned column = lane % 4 * 2 + i % 2, t = k % 16 / 4, shift = k % 4 * 8;
            const uint32_t pixels = all[lane / 4 * 4 + t][k / 16 * 2 + i / 2], weights = all[column * 4 + t][4 + k / 16];
            sums[i] += (int32_t)(pixels >> shift & 255) * (int8_t)(weights >> shift & 255);
        }
#endif
}

} // namespace ec

#endif
