#include "edge/group_taps.h"

#include <string.h>

#include "edge/arith.h"

#define BYTE_MAX 255

/* The most that the weights of one sign make in `rows` rows in a row. */
static int32_t most_of_sign(const struct ec_convolution_taps *taps, int sign, int rows)
{
    int32_t sums[EC_KERNEL_MAX_SIZE + 1] = {0}, most = 0; /* of all rows before */
    for (int j = 0; j < taps->size; j++) {
        sums[j + 1] = sums[j];
        for (int i = 0; i < taps->size; i++)
            sums[j + 1] += ec_max_i32(0, sign * taps->integer_weights[j * taps->size + i]);
        most = ec_max_i32(most, sums[j + 1] - sums[ec_max_i32(0, j + 1 - rows)]);
    }
    return most;
}

static bool fits_16_bits(const struct ec_convolution_taps *taps, int rows)
{
    return (most_of_sign(taps, 1, rows) + most_of_sign(taps, -1, rows)) * BYTE_MAX <= UINT16_MAX;
}

/* `count` weights from column `first` of a row on, each in a byte; 0 outside the kernel. */
static uint32_t join_weights(const struct ec_convolution_taps *taps, int row, int first, int count)
{
    uint32_t joined = 0;
    for (int i = 0; i < count && row >= 0 && row < taps->size && first + i < taps->size; i++)
        joined |= ((uint32_t)taps->integer_weights[row * taps->size + first + i] & 255) << (8 * i);
    return joined;
}

void ec_dot_taps_make(struct ec_dot_taps *out, const struct ec_convolution_taps *taps)
{
    const int size = taps->size, pairs_a_row = (size + 1) / 2, input_rows = size + EC_GROUP_ROWS - 1;
    memset(out, 0, sizeof *out);
    out->size = size;
    out->divisor = taps->divisor <= EC_DOT_DIVISOR_MAX ? (int32_t)taps->divisor : 0;
    for (int j = 0; j < input_rows; j++)
        for (int i = 0; i < size; i += 2, out->pair_count++)
            for (int r = 0; r < EC_GROUP_ROWS; r++)
                out->pairs[out->pair_count][r] = (int32_t)(join_weights(taps, j - r, i, 2) * 0x10001);
    for (int j = 0, k = 0; j < size; j++)
        for (int i = 0; i < size; i += 4)
            out->fours[k++] = (int32_t)join_weights(taps, j, i, 4);

    int rows = 0;
    while (rows < size && fits_16_bits(taps, rows + 1))
        rows++;
    out->pairs_that_fit = rows == size ? out->pair_count : rows * pairs_a_row;
    out->start = INT16_MIN + BYTE_MAX * most_of_sign(taps, -1, rows);
}

/* The high or low parts of a weight and of its neighbour. */
static int32_t join_parts(const struct ec_convolution_taps *taps, int row, int first, bool is_high)
{
    uint32_t joined = 0;
    for (int i = 0; i < 2 && row >= 0 && row < taps->size && first + i < taps->size; i++) {
        const int32_t unit = 1 << EC_SPLIT_BITS, weight = taps->integer_weights[row * taps->size + first + i];
        const int32_t high = (weight + (weight < 0 ? -unit / 2 : unit / 2)) / unit;
        joined |= ((uint32_t)(is_high ? high : weight - high * unit) & 0xffff) << (16 * i);
    }
    return (int32_t)joined;
}

void ec_split_taps_make(struct ec_split_taps *out, const struct ec_convolution_taps *taps)
{
    memset(out, 0, sizeof *out);
    out->size = taps->size;
    for (int j = 0; j < taps->size + EC_GROUP_ROWS - 1; j++)
        for (int i = 0; i < taps->size; i += 2, out->pair_count++)
            for (int r = 0; r < EC_GROUP_ROWS; r++) {
                out->high[out->pair_count][r] = join_parts(taps, j - r, i, true);
                out->low[out->pair_count][r] = join_parts(taps, j - r, i, false);
            }
}

void ec_fused_taps_make(struct ec_fused_taps *out, const struct ec_convolution_taps *taps)
{
    const int size = taps->size;
    memset(out, 0, sizeof *out);
    out->size = size;
    for (int j = 0; j < size + EC_GROUP_ROWS - 1; j++)
        for (int i = 0; i < size; i++, out->count++)
            for (int r = 0; r < EC_GROUP_ROWS; r++)
                out->weights[out->count][r] = j - r >= 0 && j - r < size ? taps->float_weights[(j - r) * size + i] : 0;
}

/* Of two neighbours with products up to 255 * 128. */
static void make_terms(struct ec_blur_pair_taps *out, const struct ec_blur_taps *taps)
{
    for (int i = 0; i < taps->size; i++, out->term_count++) {
        const uint32_t first = taps->weights[i], second = i + 1 < taps->size ? taps->weights[i + 1] : 0;
        const bool both = first + second <= 128;
        out->columns[out->term_count] = i - taps->size / 2;
        out->terms[out->term_count] = (int32_t)((first | (both ? second : 0) << 8) * 0x10001);
        i += both;
    }
}

void ec_blur_pair_taps_make(struct ec_blur_pair_taps *out, const struct ec_blur_taps *taps)
{
    memset(out, 0, sizeof *out);
    out->size = taps->size;
    out->four_count = (taps->size + 6) / 4;
    for (int column = 0; column < 4; column++)
        for (int i = 0; i < taps->size; i++)
            out->fours[(i + column) / 4][column] |= (int32_t)(taps->weights[i] << 8 * ((i + column) % 4));
    make_terms(out, taps);
    for (int row = 0; row < 2; row++)
        for (int i = 0; i < taps->size; i++)
            out->down[row][(i + row) / 2] |= (int32_t)(taps->weights[i] << 16 * ((i + row) % 2));
}
