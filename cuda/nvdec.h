/* What the decoder units of a GPU take, as the driver's library tells. It is looked for at run time. */
#ifndef EC_CUDA_NVDEC_H
#define EC_CUDA_NVDEC_H

#include "edge/finding.h"

/* For the device that is current on this thread: one finding for each kind of video, group "NVDEC"; `gpu` is its number. */
void ec_nvdec_examine(int gpu, const struct ec_examiner *examiner);

#endif
