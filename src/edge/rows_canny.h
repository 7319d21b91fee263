/* Canny's row functions for all types, a part of rows_table.h. */
#include "edge/rows_bits.h"

#define CANNY_NAME measure_16_l1
#define GRADIENT int16_t
#define ANY_ABOVE any_above_16
#define MAGNITUDE int16_t
#define PRODUCT uint16_t
#define IS_L1 true
#include "edge/rows_canny_measure.h"

#define CANNY_NAME measure_16_l2
#define GRADIENT int16_t
#define ANY_ABOVE any_above_16
#define MAGNITUDE int32_t
#define PRODUCT uint16_t
#define IS_L1 false
#include "edge/rows_canny_measure.h"

#define CANNY_NAME measure_32_l1
#define GRADIENT int32_t
#define ANY_ABOVE any_above_32
#define MAGNITUDE int32_t
#define PRODUCT uint64_t
#define IS_L1 true
#include "edge/rows_canny_measure.h"

#define CANNY_NAME measure_32_l2
#define GRADIENT int32_t
#define ANY_ABOVE any_above_32
#define MAGNITUDE int32_t
#define PRODUCT uint64_t
#define IS_L1 false
#include "edge/rows_canny_measure.h"

#define CANNY_NAME measure_32_l2_wide
#define GRADIENT int32_t
#define ANY_ABOVE any_above_32
#define MAGNITUDE int64_t
#define PRODUCT uint64_t
#define IS_L1 false
#include "edge/rows_canny_measure.h"

#define CANNY_NAME maxima_16
#define MAGNITUDE int16_t
#define BITS_ABOVE bits_above_16
#include "edge/rows_canny_maxima.h"

#define CANNY_NAME maxima_32
#define MAGNITUDE int32_t
#define BITS_ABOVE bits_above_32
#include "edge/rows_canny_maxima.h"

#define CANNY_NAME maxima_64
#define MAGNITUDE int64_t
#define BITS_ABOVE bits_above_64
#include "edge/rows_canny_maxima.h"

static const struct ec_canny_rows canny_16_l1 = {sizeof(int16_t), sizeof(int16_t), measure_16_l1_larger, measure_16_l1,
                                                 maxima_16};
static const struct ec_canny_rows canny_16_l2 = {sizeof(int16_t), sizeof(int32_t), measure_16_l2_larger, measure_16_l2,
                                                 maxima_32};
static const struct ec_canny_rows canny_32_l1 = {sizeof(int32_t), sizeof(int32_t), measure_32_l1_larger, measure_32_l1,
                                                 maxima_32};
static const struct ec_canny_rows canny_32_l2 = {sizeof(int32_t), sizeof(int32_t), measure_32_l2_larger, measure_32_l2,
                                                 maxima_32};
static const struct ec_canny_rows canny_32_l2_wide = {sizeof(int32_t), sizeof(int64_t), measure_32_l2_wide_larger,
                                                      measure_32_l2_wide, maxima_64};

#if HAS_DOTS
struct byte_gradients {
    lanes gx[2], gy[2], sums[2];
};

INLINE struct byte_gradients gradients_of_bytes(const void *const *rows, int x)
{
    const lanes any = {0};
    const struct trios_u8 a = load_trios_u8(rows[0], x, any), b = load_trios_u8(rows[1], x, any);
    const struct trios_u8 c = load_trios_u8(rows[2], x, any);
    struct byte_gradients g;
    for (int i = 0; i < 2; i++) {
        const struct trio_u8 up = a.part[i], at = b.part[i], down = c.part[i];
        const lanes left = (up.left + at.left) + (at.left + down.left);
        const lanes right = (up.right + at.right) + (at.right + down.right);
        const lanes middle_fall = down.middle - up.middle;
        g.gx[i] = right - left;
        g.gy[i] = (down.left - up.left + middle_fall) + (middle_fall + down.right - up.right);
        g.sums[i] = lanes_absolute(g.gx[i]) + lanes_absolute(g.gy[i]);
    }
    return g;
}

INLINE void store_in_turns(int16_t *to, const lanes parts[2])
{
    lanes_store_pair_sums(to, lanes_turns_low(parts[0], parts[1]), lanes_turns_high(parts[0], parts[1]));
}

static void canny_gradient_active(const struct ec_canny_gradients *out, const void *const *rows, int n, int limit)
{
    enum { VECTORS = 64 / LANES_BYTES };
    int16_t *gx = out->gx, *gy = out->gy, *sums = out->sums;
    for (int x = 0; x < n; x += 64) {
        struct byte_gradients g[VECTORS];
        lanes largest = {0};
        for (int k = 0; k < VECTORS; k++) {
            g[k] = gradients_of_bytes(rows, x + k * LANES_BYTES);
            largest = lanes_max(largest, lanes_max(g[k].sums[0], g[k].sums[1]));
        }
        if (!lanes_any_above(largest, limit)) {
            memset(sums + x, 0, 64 * sizeof *sums);
            continue;
        }
        for (int k = 0; k < VECTORS; k++) {
            store_in_turns(gx + x + k * LANES_BYTES, g[k].gx);
            store_in_turns(gy + x + k * LANES_BYTES, g[k].gy);
            store_in_turns(sums + x + k * LANES_BYTES, g[k].sums);
        }
    }
}
#endif

static void find_reached(uint64_t *restrict reached, const uint64_t *candidates, const uint64_t *edges, ptrdiff_t above,
                         ptrdiff_t below, int words)
{
    for (int i = 0; i < words; i++) {
        const uint64_t *e = edges + i;
        const uint64_t middle = e[0] | e[above] | e[below], left = e[-1] | e[above - 1] | e[below - 1];
        const uint64_t right = e[1] | e[above + 1] | e[below + 1];
        const uint64_t around = middle | middle << 1 | middle >> 1 | left >> 63 | right << 63;
        reached[i] = around & candidates[i] & ~e[0];
    }
}

static void expand_bytes(uint8_t *restrict out, const uint64_t *restrict bits, int n)
{
    int x = 0;
    for (; x + 64 <= n; x += 64)
        bytes_of_bits(out + x, bits[x / 64]);
    if (x < n) {
        uint8_t rest[64];
        bytes_of_bits(rest, bits[x / 64]);
        memcpy(out + x, rest, (size_t)(n - x));
    }
}

static void expand_shorts(uint16_t *restrict out, const uint64_t *restrict bits, int n, uint16_t white)
{
    for (int x = 0; x < n; x += 64) {
        uint8_t bytes[64];
        const int columns = n - x < 64 ? n - x : 64;
        bytes_of_bits(bytes, bits[x / 64]);
        for (int i = 0; i < columns; i++)
            out[x + i] = bytes[i] ? white : 0;
    }
}
