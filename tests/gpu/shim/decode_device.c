/* The stand-in runtime has no driver behind it, so no decoder either. */
#include "cuda/device.h"

struct AVBufferRef *ec_cuda_decode_device(struct ec_device *device, struct ec_error *error)
{
    (void)device;
    ec_fail(error, EC_ERROR_DEVICE, "the stand-in GPU has no decoder");
    return NULL;
}
