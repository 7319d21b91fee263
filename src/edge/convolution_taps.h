/* A convolution kernel in the form backends run: integers where it has them, one row and one column where that is the same. */
#ifndef EC_EDGE_CONVOLUTION_TAPS_H
#define EC_EDGE_CONVOLUTION_TAPS_H

#include "edge/error.h"
#include "edge/plan.h"

/* Checks `kernel` as edgecam/edge.h describes it and fills *taps for pixels up to `max`. EC_ERROR_ARGUMENT otherwise. */
enum ec_status ec_convolution_taps_make(struct ec_convolution_taps *taps, const struct ec_kernel *kernel, int32_t max,
                                        struct ec_error *error);

#endif
