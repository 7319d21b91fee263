/* Canny's row functions that are no part of a kind, a part of rows_table.h. */
#include "edge/rows_bits.h"

#define CANNY_NAME measure_l1
#define MAGNITUDE int32_t
#define IS_L1 true
#include "edge/rows_canny_measure.h"

#define CANNY_NAME measure_l2
#define MAGNITUDE int32_t
#define IS_L1 false
#include "edge/rows_canny_measure.h"

#define CANNY_NAME measure_l2_wide
#define MAGNITUDE int64_t
#define IS_L1 false
#include "edge/rows_canny_measure.h"

#define CANNY_NAME maxima_32
#define MAGNITUDE int32_t
#define BITS_ABOVE bits_above_32
#include "edge/rows_canny_maxima.h"

#define CANNY_NAME maxima_64
#define MAGNITUDE int64_t
#define BITS_ABOVE bits_above_64
#include "edge/rows_canny_maxima.h"

static const struct ec_canny_rows canny_l1 = {sizeof(int32_t), measure_l1_larger, measure_l1, maxima_32};
static const struct ec_canny_rows canny_l2 = {sizeof(int32_t), measure_l2_larger, measure_l2, maxima_32};
static const struct ec_canny_rows canny_l2_wide = {sizeof(int64_t), measure_l2_wide_larger, measure_l2_wide, maxima_64};

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
