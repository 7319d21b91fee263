/* How fast the kernels are by themselves. */
#ifndef EC_CUDA_THROUGHPUT_H
#define EC_CUDA_THROUGHPUT_H

#include "edge/backend.h"

/* ec_backend's function: frames in device memory, one after the other, side by side, and within the cache. */
enum ec_status ec_cuda_throughput(struct ec_device *device, const struct ec_plan *plan, const struct ec_image *content,
                                  struct ec_throughput *out, struct ec_error *error);

#endif
