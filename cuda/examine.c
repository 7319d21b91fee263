#include "examine.h"

#include <stdio.h>

#include "check.h"
#include "device.h"
#include "nvdec.h"

#define PINNED_TRIAL_BYTES ((size_t)256 << 20)

static const char group[] = "GPU";

/* The toolkit that is built in, beside what the driver runs. */
static void report_versions(const struct ec_examiner *examiner)
{
    int driver = 0, runtime = 0;
    (void)EC_CUDA(NULL, cudaDriverGetVersion(&driver));
    (void)EC_CUDA(NULL, cudaRuntimeGetVersion(&runtime));
    ec_finding(examiner, group, EC_VERDICT_OK, "this build has CUDA %d.%d and code for compute capability %s", runtime / 1000,
               runtime % 1000 / 10, EDGECAM_CUDA_ARCHITECTURES);
    if (driver == 0)
        return;
    if (driver / 1000 < runtime / 1000)
        ec_finding(examiner, group, EC_VERDICT_PROBLEM,
                   "the driver supports CUDA %d.%d only: update the driver, or build with an older toolkit", driver / 1000,
                   driver % 1000 / 10);
    else
        ec_finding(examiner, group, EC_VERDICT_OK, "the driver supports CUDA up to %d.%d", driver / 1000, driver % 1000 / 10);
}

static void report_link(const struct ec_examiner *examiner, const struct ec_device *device)
{
    struct ec_nvml_sample now;
    ec_nvml_sample(device->nvml, &now);
    if (now.pcie_generation < 0 || now.pcie_width < 0) {
        ec_finding(examiner, group, EC_VERDICT_NOTE, "GPU %d: its PCIe link is not known (no answer from NVML)",
                   device->ordinal);
    } else if (now.pcie_max_generation < 0 || now.pcie_max_width < 0) {
        ec_finding(examiner, group, EC_VERDICT_OK, "GPU %d: PCIe %d.0 x%d now", device->ordinal, now.pcie_generation,
                   now.pcie_width);
    } else {
        /* An idle card lowers the generation to save power; lanes that are missing stay missing. */
        const bool narrow = now.pcie_width < now.pcie_max_width;
        ec_finding(examiner, group, narrow ? EC_VERDICT_NOTE : EC_VERDICT_OK, "GPU %d: PCIe %d.0 x%d now, %d.0 x%d at most%s",
                   device->ordinal, now.pcie_generation, now.pcie_width, now.pcie_max_generation, now.pcie_max_width,
                   narrow ? "; frames would travel faster in a slot with more lanes" : "");
    }
}

static void report_pinned(const struct ec_examiner *examiner, struct ec_device *device)
{
    const long long before = atomic_load(&device->pinned_bytes);
    void *memory = ec_cuda_host_alloc(device, PINNED_TRIAL_BYTES);
    const bool pinned = atomic_load(&device->pinned_bytes) - before >= (long long)PINNED_TRIAL_BYTES;
    ec_cuda_host_free(device, memory, PINNED_TRIAL_BYTES);
    if (pinned)
        ec_finding(examiner, group, EC_VERDICT_OK, "%zu MiB of page-locked memory were granted", PINNED_TRIAL_BYTES >> 20);
    else
        ec_finding(examiner, group, EC_VERDICT_PROBLEM,
                   "%zu MiB of page-locked memory were refused, and copies from ordinary memory are slower: free memory, or "
                   "raise the memory limit of this container or session",
                   PINNED_TRIAL_BYTES >> 20);
}

static void report_device(const struct ec_examiner *examiner, struct ec_device *device)
{
    struct cudaDeviceProp properties;
    size_t free_bytes = 0, total_bytes = 0;
    struct ec_error error = {0};
    if (!ec_device_enter(device, &error) || !EC_CUDA(&error, cudaGetDeviceProperties(&properties, device->ordinal)) ||
        !EC_CUDA(&error, cudaMemGetInfo(&free_bytes, &total_bytes))) {
        ec_finding(examiner, group, EC_VERDICT_PROBLEM, "GPU %d: %s", device->ordinal, error.text);
        return;
    }
    ec_finding(examiner, group, EC_VERDICT_OK,
               "GPU %d: %s at %s, compute capability %d.%d, driver %s, %.1f of %.1f GB free; this build runs on it",
               device->ordinal, device->name, device->bus_id, properties.major, properties.minor, device->driver,
               (double)free_bytes / 1e9, (double)total_bytes / 1e9);
    report_link(examiner, device);
    report_pinned(examiner, device);
    ec_nvdec_examine(device->ordinal, examiner);
}

void ec_cuda_examine(const struct ec_device_params *params, const struct ec_examiner *examiner)
{
    int count = 0, driver = 0;
    struct ec_device_params one = *params;
    const struct ec_logger silent = {0};
    report_versions(examiner);
    (void)EC_CUDA(NULL, cudaDriverGetVersion(&driver));
    if (!EC_CUDA(NULL, cudaGetDeviceCount(&count)) || count == 0)
        count = 1; /* opening it says what is wrong */
    if (params->gpu >= count)
        count = params->gpu + 1;
    for (one.gpu = params->gpu > 0 ? params->gpu : 0; one.gpu < count; one.gpu++) {
        struct ec_device *device = NULL;
        struct ec_error error = {0};
        if (ec_cuda_open(&device, &one, &silent, &error) == EC_OK)
            report_device(examiner, device);
        else /* a machine without a driver simply has no GPU to speak of, unless one was asked for */
            ec_finding(examiner, group,
                       driver == 0 && params->backend != EC_BACKEND_CUDA ? EC_VERDICT_NOTE : EC_VERDICT_PROBLEM, "%s",
                       error.text);
        ec_cuda_close(&device);
    }
}
