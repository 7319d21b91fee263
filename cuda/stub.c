/* Stands in for the CUDA backend in a build without CUDA, so that callers need no #ifdef. */
#include "edge/backend.h"

static const char reason[] = "this build has no CUDA support; build with a CUDA toolkit on PATH and -DEDGECAM_CUDA=AUTO";

static void stub_examine(const struct ec_device_params *params, const struct ec_examiner *examiner)
{
    ec_finding(examiner, "GPU", params->backend == EC_BACKEND_CUDA ? EC_VERDICT_PROBLEM : EC_VERDICT_NOTE, "%s", reason);
}

static enum ec_status stub_open(struct ec_device **out, const struct ec_device_params *params, const struct ec_logger *logger,
                                struct ec_error *error)
{
    (void)params;
    (void)logger;
    *out = NULL;
    return ec_fail(error, EC_ERROR_DEVICE, "%s", reason);
}

const struct ec_backend ec_backend_cuda = {.name = "cuda", .examine = stub_examine, .open = stub_open};
