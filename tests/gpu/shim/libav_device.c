/* The stand-in runtime has no driver behind it, so neither decoder nor encoder. */
#include "cuda/device.h"

struct AVBufferRef *ec_device_for_libav(const struct ec_device *device, cudaStream_t stream, struct ec_error *error)
{
    (void)device, (void)stream;
    ec_fail(error, EC_ERROR_DEVICE, "the stand-in GPU has no driver");
    return NULL;
}
