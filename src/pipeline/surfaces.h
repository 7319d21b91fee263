/* Results that stay in the GPU's memory, for an encoder of that GPU: whether a run has them is decided here. */
#ifndef EC_PIPELINE_SURFACES_H
#define EC_PIPELINE_SURFACES_H

#include "edge/backend.h"
#include "source/source.h"

struct ec_surfaces_params {
    const struct ec_pipeline_params *run;
    const struct ec_stream_info *info;
    const struct ec_backend *backend; /* that detects */
    struct ec_device *device;
    int gpus; /* that it uses */
    int depth_bits; /* of results in pixels */
    int count; /* results that the pipeline may hold */
};

/* The frames to offer to the sinks: an AVHWFramesContext, the caller's, or NULL where the results must come to the host. They
 * do when anything but an encoder of NVIDIA's looks at them, when a style paints them, when they have more than 8 bits or an
 * odd size (which an encoder pads), and when they lie on several GPUs. */
AVBufferRef *ec_surfaces_open(const struct ec_surfaces_params *params);

#endif
