/* Canny's row functions for all types, a part of rows_table.h. */
#include "edge/rows_bits.h"

#define CANNY_NAME measure_16_l1
#define GRADIENT int16_t
#define MAGNITUDE uint16_t
#define PRODUCT uint16_t
#define IS_L1 true
#include "edge/rows_canny_measure.h"

#define CANNY_NAME measure_16_l2
#define GRADIENT int16_t
#define MAGNITUDE uint32_t
#define PRODUCT uint16_t
#define IS_L1 false
#include "edge/rows_canny_measure.h"

#define CANNY_NAME measure_32_l1
#define GRADIENT int32_t
#define MAGNITUDE uint32_t
#define PRODUCT uint64_t
#define IS_L1 true
#include "edge/rows_canny_measure.h"

#define CANNY_NAME measure_32_l2
#define GRADIENT int32_t
#define MAGNITUDE uint32_t
#define PRODUCT uint64_t
#define IS_L1 false
#include "edge/rows_canny_measure.h"

#define CANNY_NAME measure_32_l2_wide
#define GRADIENT int32_t
#define MAGNITUDE uint64_t
#define PRODUCT uint64_t
#define IS_L1 false
#include "edge/rows_canny_measure.h"

#define CANNY_NAME maxima_16
#define MAGNITUDE uint16_t
#include "edge/rows_canny_maxima.h"

#define CANNY_NAME maxima_32
#define MAGNITUDE uint32_t
#include "edge/rows_canny_maxima.h"

#define CANNY_NAME maxima_64
#define MAGNITUDE uint64_t
#include "edge/rows_canny_maxima.h"

static const struct ec_canny_rows canny_16_l1 = {sizeof(int16_t), sizeof(uint16_t), measure_16_l1, maxima_16};
static const struct ec_canny_rows canny_16_l2 = {sizeof(int16_t), sizeof(uint32_t), measure_16_l2, maxima_32};
static const struct ec_canny_rows canny_32_l1 = {sizeof(int32_t), sizeof(uint32_t), measure_32_l1, maxima_32};
static const struct ec_canny_rows canny_32_l2 = {sizeof(int32_t), sizeof(uint32_t), measure_32_l2, maxima_32};
static const struct ec_canny_rows canny_32_l2_wide = {sizeof(int32_t), sizeof(uint64_t), measure_32_l2_wide, maxima_64};

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
