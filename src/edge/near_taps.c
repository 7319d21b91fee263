#include "edge/near_taps.h"

#include <math.h>
#include <string.h>

#include "edge/arith.h"

#define BYTE_MAX 255.0
#define WEIGHT_MAX 32767.0

/* From this size on two passes are so much faster that they may leave so many times more pixels unsettled. */
#define SEPARABLE_SIZE 13
#define SEPARABLE_SHARE 2

/* From here on a float loses no more than its last bits. */
#define UNIT_MIN 0x1p-90f
/* So that twice as much, and a pixel, is an integer of 32 bits. */
#define RADIUS_MAX 0x1p29

static double weight_of(const struct ec_convolution_taps *taps, int k)
{
    return taps->integer ? taps->integer_weights[k] / (double)taps->divisor : (double)taps->float_weights[k];
}

/* Of the sum in floats from its exact value. A sum s_k = rounded(w_k * p_k + s_(k-1)) is off by half of its last place, which
 * the largest that it can be says, and what s_(k-1) was off by goes into it as it is. That s_k may be off itself makes the
 * largest larger by less than 2^-13 of it. */
static double rounding_radius(const struct ec_convolution_taps *taps)
{
    double above = 0, below = 0, radius = 0;
    for (int k = 0; k < taps->size * taps->size; k++) {
        const double weight = (double)taps->float_weights[k];
        if (weight == 0)
            continue;
        *(weight > 0 ? &above : &below) += fabs(weight);
        radius += ldexp(1, ilogb(BYTE_MAX * (1 + 0x1p-13) * fmax(above, below)) - 24);
    }
    return radius;
}

static int32_t join(const int16_t *weights, int size, int row, int column)
{
    const int upper = row >= 0 && row < size ? weights[row * size + column] : 0;
    const int lower = row + 1 >= 0 && row + 1 < size ? weights[(row + 1) * size + column] : 0;
    return (int32_t)(((uint32_t)upper & 0xffff) | (uint32_t)lower << 16);
}

/* The column and the row of the largest weight say what all others are, where the weights come from a product. The two passes
 * round 2 * size times, each no more than the last place of what the largest pixels make. */
static void separate(struct ec_near_taps *out, const struct ec_convolution_taps *taps, double total)
{
    const int size = taps->size;
    int largest = 0;
    double missed = 0, columns = 0, rows = 0;
    for (int k = 0; k < size * size; k++)
        largest = fabs(weight_of(taps, k)) > fabs(weight_of(taps, largest)) ? k : largest;
    for (int i = 0; i < size; i++) {
        out->column[i] = (float)weight_of(taps, i * size + largest % size);
        out->row[i] = (float)(weight_of(taps, largest / size * size + i) / weight_of(taps, largest));
        columns += fabs((double)out->column[i]);
        rows += fabs((double)out->row[i]);
    }
    for (int k = 0; k < size * size; k++)
        missed += fabs(weight_of(taps, k) - (double)out->column[k / size] * (double)out->row[k % size]);
    const double steps = rounding_radius(taps) + (2 * size + 8) * 0x1p-24 * BYTE_MAX * columns * rows;
    const double radius = (BYTE_MAX * missed + steps + 0x1p-22 * BYTE_MAX * total) * (1 + 0x1p-10);
    out->separable = radius < SEPARABLE_SHARE * (double)out->radius;
    out->separable_radius = (float)radius;
}

/* Sums of q times pixel lie in a range of 2^32, in whose middle `start` puts 0. Of a pixel p and a weight w = unit * q + e,
 * unit * q * p misses e * p, which is at most 255 / 2 * |e| away from 255 / 2 * e. */
bool ec_near_taps_make(struct ec_near_taps *out, const struct ec_convolution_taps *taps)
{
    const int size = taps->size, count = size * size;
    double largest = 0, total = 0;
    for (int k = 0; k < count; k++) {
        largest = fmax(largest, fabs(weight_of(taps, k)));
        total += fabs(weight_of(taps, k));
    }
    /* Rounding to q adds up to a half to each of 961. Integers that are small enough for it are met exactly. */
    const double fine = fmax(largest / WEIGHT_MAX, BYTE_MAX * total / (0x1p32 - 0x1p18));
    const double wanted = taps->integer ? fmax(fine, 1 / (double)taps->divisor) : fine;
    const float rounded = (float)wanted, unit = (double)rounded < wanted ? nextafterf(rounded, INFINITY) : rounded;
    memset(out, 0, sizeof *out);
    if (!(unit > UNIT_MIN))
        return false;

    int16_t weights[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE] = {0};
    double missed = 0, missed_size = 0;
    int64_t sum = 0;
    for (int k = 0; k < count; k++) {
        const double weight = weight_of(taps, k), q = rint(weight / (double)unit);
        weights[k] = (int16_t)q;
        sum += weights[k];
        missed += weight - q * (double)unit;
        missed_size += fabs(weight - q * (double)unit);
    }
    /* The sum becomes a float, is multiplied and added to, as is the radius: each rounds what is up to about 255 * total. */
    const double steps = (taps->integer ? 0 : rounding_radius(taps)) + 0x1p-22 * BYTE_MAX * total;
    const double radius = (BYTE_MAX / 2 * missed_size + steps) * (1 + 0x1p-20);
    if (!(radius < RADIUS_MAX))
        return false;
    out->size = size;
    out->start = (int32_t)(-sum * (int64_t)BYTE_MAX / 2);
    out->unit = unit;
    out->constant = (float)(BYTE_MAX / 2 * missed - (double)unit * out->start);
    out->radius = (float)radius;
    for (int p = 0; p < (size + EC_NEAR_ROWS) / 2; p++)
        for (int i = 0; i < size; i++)
            for (int r = 0; r < EC_NEAR_ROWS; r++)
                out->pairs[p][i][r] = join(weights, size, 2 * p - r, i);
    if (!taps->integer && size >= SEPARABLE_SIZE)
        separate(out, taps, total);
    return true;
}
