/* Stands in for the CUDA backend in a build without CUDA, so that callers need no #ifdef. */
#include "edge/backend.h"

static enum ec_status stub_open(struct ec_device **out, const struct ec_device_params *params, const struct ec_logger *logger,
                                struct ec_error *error)
{
    (void)params;
    (void)logger;
    *out = NULL;
    return ec_fail(error, EC_ERROR_DEVICE,
                   "this build of edgecam has no CUDA support (no CUDA toolkit was found when it was built)");
}

const struct ec_backend ec_backend_cuda = {.name = "cuda", .open = stub_open};
