#include "edge/blur_taps.h"

#include <math.h>

/* OpenCV normalises the sampled Gaussian in double precision, then rounds the weights from the outside in, each taking over the
 * rounding error of the one before it; the centre takes what is missing to exactly 1. */
void ec_blur_taps_make(struct ec_blur_taps *taps, double sigma, int depth_bits)
{
    const bool deep = depth_bits > 8;
    const int size = (int)lrint(sigma * (deep ? 4 : 3) * 2 + 1) | 1;
    const int half = size / 2;
    const double exponent_scale = -0.125 / (sigma * sigma); /* of (2x)^2, so that x stays an integer */
    double samples[EC_BLUR_MAX_SIZE / 2 + 1] = {0};
    double sum = 0;
    for (int i = 0; i < half; i++) {
        const int twice_x = 2 * i + 1 - size;
        samples[i] = exp((double)(twice_x * twice_x) * exponent_scale);
        sum += samples[i];
    }
    const double norm = 1 / (2 * sum + 1);

    *taps = (struct ec_blur_taps){.size = size, .fraction_bits = deep ? 16 : 8};
    const int32_t one = 1 << taps->fraction_bits;
    int32_t outside = 0;
    double carried = 0;
    for (int i = 0; i < half; i++) {
        const double wanted = samples[i] * norm * one + carried;
        const int32_t weight = (int32_t)lrint(wanted);
        carried = wanted - weight;
        taps->weights[i] = taps->weights[size - 1 - i] = (uint32_t)weight;
        outside += weight;
    }
    taps->weights[half] = (uint32_t)(one - 2 * outside);
}
