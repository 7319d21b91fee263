#include "edge/convolution_taps.h"

#include <math.h>
#include <stdlib.h>

#include "edge/fraction.h"

#define WEIGHT_MAX 16777216.0f

/* If the kernel has rank one, every row is a multiple of the first row that is not all zeros; divided by the greatest common
 * divisor of its weights that row is primitive, so (Gauss's lemma) the multiples are integers. */
static bool factorise(struct ec_convolution_taps *taps)
{
    const int size = taps->size;
    const int32_t *weights = taps->integer_weights;
    int first = 0;
    while (first < size * size && weights[first] == 0)
        first++;
    if (first == size * size)
        return false;

    const int pivot = first % size;
    const int32_t *base = weights + first - pivot;
    int32_t divisor = abs(base[pivot]);
    for (int i = 0; i < size; i++)
        divisor = ec_common_divisor(divisor, abs(base[i]));
    for (int i = 0; i < size; i++)
        taps->row[i] = base[i] / divisor;

    for (int j = 0; j < size; j++) {
        taps->column[j] = weights[j * size + pivot] / taps->row[pivot];
        for (int i = 0; i < size; i++)
            if ((int64_t)taps->column[j] * taps->row[i] != weights[j * size + i])
                return false;
    }
    return true;
}

enum ec_status ec_convolution_taps_make(struct ec_convolution_taps *taps, const struct ec_kernel *kernel, int32_t max,
                                        struct ec_error *error)
{
    const int size = kernel->size;
    if (size < 1 || size > EC_KERNEL_MAX_SIZE || size % 2 == 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the convolution kernel's size is %d, expected an odd number from 1 to %d",
                       size, EC_KERNEL_MAX_SIZE);
    if (!kernel->weights)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the convolution kernel has no weights");
    if (kernel->divisor < 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the convolution kernel's divisor is %d, expected 1 or more", kernel->divisor);

    *taps = (struct ec_convolution_taps){.size = size, .integer = true, .divisor = kernel->divisor ? kernel->divisor : 1};
    for (int k = 0; k < size * size; k++) {
        const float weight = kernel->weights[k];
        if (!(fabsf(weight) <= WEIGHT_MAX))
            return ec_fail(error, EC_ERROR_ARGUMENT,
                           "weight %g in row %d, column %d of the convolution kernel is not between -2^24 and 2^24",
                           (double)weight, k / size + 1, k % size + 1);
        taps->float_weights[k] = weight;
        taps->integer = taps->integer && weight == truncf(weight);
    }
    if (!taps->integer) {
        if (taps->divisor != 1)
            return ec_fail(
                error, EC_ERROR_ARGUMENT,
                "the convolution kernel has a divisor of %d and weights that are not integers; fold it into the weights",
                kernel->divisor);
        return EC_OK;
    }

    int64_t total = 0;
    for (int k = 0; k < size * size; k++) {
        taps->integer_weights[k] = (int32_t)taps->float_weights[k];
        total += abs(taps->integer_weights[k]);
    }
    taps->wide_sum = total * max > INT32_MAX;
    taps->separable = size > 1 && factorise(taps);
    if (!taps->separable)
        for (int i = 0; i < size; i++)
            taps->row[i] = taps->column[i] = 0;
    return EC_OK;
}
