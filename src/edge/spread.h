/* What repeated measurements come to. */
#ifndef EC_EDGE_SPREAD_H
#define EC_EDGE_SPREAD_H

struct ec_spread {
    double median, smallest, largest;
};

/* Sorts `values`; count > 0. */
struct ec_spread ec_spread_of(double *values, int count);

#endif
