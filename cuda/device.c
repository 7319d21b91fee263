#include "device.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kernels.h"

static void version_text(char *out, size_t size, int version)
{
    snprintf(out, size, "%d.%d", version / 1000, version % 1000 / 10);
}

/* Why the runtime sees no device, in words for the person at the keyboard. */
static enum ec_status explain_no_device(cudaError_t reason, struct ec_error *error)
{
    int driver = 0, runtime = 0;
    char driver_text[32], runtime_text[32];
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    version_text(driver_text, sizeof driver_text, driver);
    version_text(runtime_text, sizeof runtime_text, runtime);
    switch (reason) {
    case cudaErrorInsufficientDriver:
        if (driver == 0)
            return ec_fail(
                error, EC_ERROR_DEVICE,
                "no NVIDIA driver is loaded on this machine (libcuda.so.1 is missing or no driver runs): install one "
                "that supports CUDA %s, or use the CPU",
                runtime_text);
        return ec_fail(
            error, EC_ERROR_DEVICE,
            "the NVIDIA driver is too old: it supports CUDA %s and this build needs CUDA %s, so update the driver or "
            "build edgecam with an older CUDA toolkit",
            driver_text, runtime_text);
    case cudaErrorNoDevice:
        return ec_fail(error, EC_ERROR_DEVICE,
                       "the NVIDIA driver (CUDA %s) finds no GPU: none is installed, or CUDA_VISIBLE_DEVICES hides it",
                       driver_text);
    default:
        return ec_fail(error, EC_ERROR_DEVICE, "the NVIDIA driver (CUDA %s) cannot be used: %s (%s)", driver_text,
                       cudaGetErrorString(reason), cudaGetErrorName(reason));
    }
}

/* How many GPUs there are; 0 with *error filled. */
static int count_gpus(struct ec_error *error)
{
    int count = 0;
    cudaError_t result = cudaGetDeviceCount(&count);
    if (result == cudaSuccess && count == 0)
        result = cudaErrorNoDevice;
    if (result == cudaSuccess)
        return count;
    (void)cudaGetLastError();
    explain_no_device(result, error);
    return 0;
}

/* Name and address, and that this build's kernels run on the card. */
static enum ec_status identify(struct ec_device *device, struct ec_error *error)
{
    struct cudaDeviceProp properties;
    int driver = 0;
    char version[32];
    if (!EC_CUDA(error, cudaGetDeviceProperties(&properties, device->ordinal)) ||
        !EC_CUDA(error, cudaDeviceGetPCIBusId(device->bus_id, sizeof device->bus_id, device->ordinal)) ||
        !EC_CUDA(error, cudaDriverGetVersion(&driver)))
        return EC_ERROR_DEVICE;
    snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1, properties.name);
    device->nvml = ec_nvml_open(device->bus_id);
    ec_nvml_driver(device->nvml, version, sizeof version);
    snprintf(device->driver, sizeof device->driver, "%s%sCUDA %d.%d", version, version[0] ? ", " : "", driver / 1000,
             driver % 1000 / 10);

    const cudaError_t probe = ec_kernels_probe();
    if (probe == cudaErrorNoKernelImageForDevice || probe == cudaErrorInvalidDeviceFunction ||
        probe == cudaErrorUnsupportedPtxVersion) {
        (void)cudaGetLastError();
        return ec_fail(error, EC_ERROR_DEVICE,
                       "this build has no code for GPU %d (%s, compute capability %d.%d): build edgecam with "
                       "-DCMAKE_CUDA_ARCHITECTURES=%d%d",
                       device->ordinal, device->name, properties.major, properties.minor, properties.major, properties.minor);
    }
    return ec_cuda_check(error, probe, "loading the kernels") ? EC_OK : EC_ERROR_DEVICE;
}

bool ec_device_enter(const struct ec_device *device, struct ec_error *error)
{
    return EC_CUDA(error, cudaSetDevice(device->ordinal));
}

bool ec_device_alloc(struct ec_device *device, void **out, size_t bytes, struct ec_error *error)
{
    *out = NULL;
    const cudaError_t result = cudaMalloc(out, bytes);
    if (result == cudaErrorMemoryAllocation) {
        size_t free_bytes = 0, total_bytes = 0;
        (void)cudaGetLastError();
        (void)cudaMemGetInfo(&free_bytes, &total_bytes);
        ec_fail(error, EC_ERROR_DEVICE,
                "GPU %d (%s) has too little memory: %.1f MB more are needed and %.1f of %.1f MB are free; use fewer lanes or "
                "smaller frames, or stop other programs on that GPU",
                device->ordinal, device->name, (double)bytes / 1e6, (double)free_bytes / 1e6, (double)total_bytes / 1e6);
        *out = NULL;
        return false;
    }
    if (!ec_cuda_check(error, result, "cudaMalloc")) {
        *out = NULL;
        return false;
    }
    atomic_fetch_add(&device->memory_bytes, (long long)bytes);
    return true;
}

void ec_device_free(struct ec_device *device, void **memory, size_t bytes)
{
    struct ec_error error = {0};
    if (*memory && EC_CUDA(&error, cudaFree(*memory)))
        atomic_fetch_sub(&device->memory_bytes, (long long)bytes);
    *memory = NULL;
}

static enum ec_status open_gpu(struct ec_device **out, int ordinal, const struct ec_device_params *params,
                               const struct ec_logger *logger, struct ec_error *error)
{
    *out = NULL;
    struct ec_device *device = calloc(1, sizeof *device);
    if (!device)
        return ec_fail(error, EC_ERROR_MEMORY, "memory ran out while opening the GPU");
    if (pthread_mutex_init(&device->lock, NULL) != 0) {
        free(device);
        return ec_fail(error, EC_ERROR_MEMORY, "no lock could be made for the GPU");
    }
    if (logger)
        device->logger = *logger;
    device->low_latency = params->low_latency;
    device->untimed = params->untimed;
    device->tuning = params->tuning;
    device->ordinal = ordinal;
    const enum ec_status status = ec_device_enter(device, error) ? identify(device, error) : EC_ERROR_DEVICE;
    if (status != EC_OK)
        ec_cuda_close(&device);
    *out = device;
    return status;
}

enum ec_status ec_cuda_open(struct ec_device **out, const struct ec_device_params *params, const struct ec_logger *logger,
                            struct ec_error *error)
{
    *out = NULL;
    const int count = count_gpus(error);
    if (count == 0)
        return EC_ERROR_DEVICE;
    const int first = params->gpu == EC_GPU_ALL ? 0 : params->gpu;
    if (first < 0 || first >= count)
        return ec_fail(error, EC_ERROR_DEVICE, "GPU %d is not there: this machine has %d GPU%s, and the numbers start at 0",
                       params->gpu, count, count == 1 ? "" : "s");
    const enum ec_status status = open_gpu(out, first, params, logger, error);
    if (status != EC_OK || params->gpu != EC_GPU_ALL)
        return status;
    struct ec_device *device = *out;
    for (int i = 1; i < count && i < EC_GPUS_MAX; i++) {
        struct ec_error why = {0};
        if (open_gpu(&device->peers[device->peer_count], i, params, logger, &why) == EC_OK)
            device->peer_count++;
        else
            ec_log(&device->logger, EC_LOG_NOTICE, "GPU %d takes no part: %s", i, why.text);
    }
    return EC_OK;
}

void ec_cuda_close(struct ec_device **device)
{
    struct ec_device *d = *device;
    if (!d)
        return;
    for (int i = 0; i < d->peer_count; i++)
        ec_cuda_close(&d->peers[i]);
    ec_cuda_host_release_all(d);
    if (d->decode_stream)
        (void)EC_CUDA(NULL, cudaStreamDestroy(d->decode_stream));
    if (d->encode_stream)
        (void)EC_CUDA(NULL, cudaStreamDestroy(d->encode_stream));
    ec_nvml_close(&d->nvml);
    pthread_mutex_destroy(&d->lock);
    free(d);
    *device = NULL;
}

struct ec_device *ec_device_at(struct ec_device *device, int i)
{
    return i == 0 ? device : device->peers[i - 1];
}

void ec_cuda_describe(struct ec_device *device, struct ec_device_info *out)
{
    struct ec_nvml_sample sample;
    ec_nvml_sample(device->nvml, &sample);
    *out = (struct ec_device_info){.pinned_bytes = atomic_load(&device->pinned_bytes), .gpu_count = 1 + device->peer_count};
    bool alike = true;
    for (int i = 0; i < out->gpu_count; i++) {
        out->memory_bytes += atomic_load(&ec_device_at(device, i)->memory_bytes);
        memcpy(out->bus_ids[i], ec_device_at(device, i)->bus_id, sizeof out->bus_ids[i]);
        alike = alike && strcmp(ec_device_at(device, i)->name, device->name) == 0;
    }
    if (out->gpu_count == 1)
        memcpy(out->name, device->name, sizeof out->name);
    else
        snprintf(out->name, sizeof out->name, "%d x %.100s%s", out->gpu_count, device->name, alike ? "" : " and others");
    memcpy(out->driver, device->driver, sizeof out->driver);
    if (sample.pcie_generation > 0 && sample.pcie_width > 0)
        snprintf(out->pcie, sizeof out->pcie, "PCIe %d.0 x%d", sample.pcie_generation, sample.pcie_width);
}
