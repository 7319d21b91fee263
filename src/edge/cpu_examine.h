/* What the CPU backend says about the machine it runs on. */
#ifndef EC_EDGE_CPU_EXAMINE_H
#define EC_EDGE_CPU_EXAMINE_H

#include "edge/backend.h"

/* ec_backend's function. */
void ec_cpu_examine(const struct ec_device_params *params, const struct ec_examiner *examiner);

#endif
