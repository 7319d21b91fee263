/* Reducing fractions of integers. */
#ifndef EC_EDGE_FRACTION_H
#define EC_EDGE_FRACTION_H

#include <stdint.h>

/* Greatest common divisor of two numbers that are not negative; 1 for two zeros. */
static inline int32_t ec_common_divisor(int32_t a, int32_t b)
{
    while (b > 0) {
        const int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a > 0 ? a : 1;
}

#endif
