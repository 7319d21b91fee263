#include "edge/spread.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct ec_spread ec_spread_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return (struct ec_spread){values[count / 2], values[0], values[count - 1]};
}
