/* What the CUDA backend says about the machine it runs on. */
#ifndef EC_CUDA_EXAMINE_H
#define EC_CUDA_EXAMINE_H

#include "edge/backend.h"

/* ec_backend's function. */
void ec_cuda_examine(const struct ec_device_params *params, const struct ec_examiner *examiner);

#endif
