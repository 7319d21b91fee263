/* Four neighbouring pixels of any row, whole where they can be, one by one under the border rule else. */
#ifndef EC_CUDA_COLUMNS_CUH
#define EC_CUDA_COLUMNS_CUH

#include "pair.cuh"
#include "pixel.cuh"

namespace ec
{

/* Bytes fill one word, halves two; the first pixel lies lowest. */
template <class Pixel>
struct Columns {
    static constexpr int WORDS = sizeof(Pixel);

    bool whole; /* one aligned load takes all four */
    int32_t at[4];
    uint32_t keep[WORDS]; /* else a constant border */

    /* The columns from x on, a multiple of 4. `reach`: less than the width; what lies further outside counts as anything. */
    __device__ __forceinline__ void place(const ec_gpu_source &in, int32_t x, int32_t reach)
    {
        whole = in.vector && x >= 0 && x + 4 <= in.width_px;
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            keep[i] = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int32_t wanted = ec_min_i32(x + i, in.width_px - 1 + reach);
            const bool outside = (uint32_t)wanted >= (uint32_t)in.width_px;
            at[i] = border_index_near(wanted, in.width_px, in.border);
            if (!outside || in.border != EC_BORDER_CONSTANT)
                keep[i * WORDS / 4] |= (uint32_t)(Pixel)~0 << (i * WORDS % 4 * 8);
        }
    }

    __device__ __forceinline__ void load_whole(uint32_t *words, const Pixel *row) const
    {
        if constexpr (WORDS == 1) {
            words[0] = *(const uint32_t *)(row + at[0]);
        } else {
            const uint2 both = *(const uint2 *)(row + at[0]);
            words[0] = both.x;
            words[WORDS - 1] = both.y;
        }
    }

    __device__ __forceinline__ void load_each(uint32_t *words, const Pixel *row) const
    {
        const uint32_t v[4] = {row[at[0]], row[at[1]], row[at[2]], row[at[3]]};
        if constexpr (WORDS == 1) {
            words[0] = permute(permute(v[0], v[1], 0x0040), permute(v[2], v[3], 0x0040), 0x5410) & keep[0];
        } else {
            words[0] = permute(v[0], v[1], 0x5410) & keep[0];
            words[WORDS - 1] = permute(v[2], v[3], 0x5410) & keep[WORDS - 1];
        }
    }
};

} // namespace ec

#endif
