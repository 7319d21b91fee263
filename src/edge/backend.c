#include "edge/backend.h"

#include <unistd.h>

/* Device files of NVIDIA's driver on a PC or server, under WSL, and on Jetson boards. */
static bool has_gpu(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 || access("/dev/nvhost-gpu", F_OK) == 0;
}

enum ec_status ec_backend_open(const struct ec_backend **backend, struct ec_device **device,
                               const struct ec_device_params *params, const struct ec_logger *logger, struct ec_error *error)
{
    *backend = NULL;
    *device = NULL;
    if ((unsigned)params->backend > EC_BACKEND_CUDA)
        return ec_fail(error, EC_ERROR_ARGUMENT, "backend %d is not auto (0), cpu (1) or cuda (2)", (int)params->backend);

    if (params->backend != EC_BACKEND_CPU) {
        struct ec_error reason = {0};
        const enum ec_status status = ec_backend_cuda.open(device, params, logger, &reason);
        if (status == EC_OK) {
            *backend = &ec_backend_cuda;
            return EC_OK;
        }
        if (params->backend == EC_BACKEND_CUDA)
            return ec_fail(error, status, "%s", reason.text);
        ec_log(logger, has_gpu() ? EC_LOG_NOTICE : EC_LOG_VERBOSE, "running on the CPU: %s", reason.text);
    }
    const enum ec_status status = ec_backend_cpu.open(device, params, logger, error);
    if (status == EC_OK)
        *backend = &ec_backend_cpu;
    return status;
}
