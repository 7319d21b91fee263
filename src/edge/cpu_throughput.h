/* How fast the CPU backend's detectors are by themselves. */
#ifndef EC_EDGE_CPU_THROUGHPUT_H
#define EC_EDGE_CPU_THROUGHPUT_H

#include "edge/backend.h"

/* ec_backend's function. Frames take all of the device's threads, copies one. */
enum ec_status ec_cpu_throughput(struct ec_device *device, const struct ec_plan *plan, const struct ec_image *content,
                                 struct ec_throughput *out, struct ec_error *error);

#endif
