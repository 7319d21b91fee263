#include "nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The few declarations of NVML's stable C interface that are needed here; 0 is its success. */
typedef struct nvml_device *nvml_device;
struct nvml_utilization {
    unsigned gpu, memory;
};
struct nvml_memory {
    unsigned long long total, free, used;
};

struct ec_nvml {
    void *library;
    nvml_device device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_bus_id)(const char *bus_id, nvml_device *out);
    int (*driver_version)(char *out, unsigned size);
    int (*utilization)(nvml_device device, struct nvml_utilization *out);
    int (*decode)(nvml_device device, unsigned *percent, unsigned *period_us);
    int (*encode)(nvml_device device, unsigned *percent, unsigned *period_us);
    int (*memory)(nvml_device device, struct nvml_memory *out);
    int (*power_mw)(nvml_device device, unsigned *out);
    int (*pcie_generation)(nvml_device device, unsigned *out);
    int (*pcie_width)(nvml_device device, unsigned *out);
    int (*pcie_max_generation)(nvml_device device, unsigned *out);
    int (*pcie_max_width)(nvml_device device, unsigned *out);
};

/* dlsym gives an object pointer; POSIX has it hold a function's address, ISO C has no cast for that. */
static void find(const struct ec_nvml *nvml, const char *name, void *function)
{
    void *const address = dlsym(nvml->library, name);
    memcpy(function, &address, sizeof address);
}

struct ec_nvml *ec_nvml_open(const char *bus_id)
{
    struct ec_nvml *nvml = bus_id ? calloc(1, sizeof *nvml) : NULL;
    if (!nvml)
        return NULL;
    nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library)
        goto fail;
    find(nvml, "nvmlInit_v2", &nvml->init);
    find(nvml, "nvmlDeviceGetHandleByPciBusId_v2", &nvml->by_bus_id);
    find(nvml, "nvmlSystemGetDriverVersion", &nvml->driver_version);
    find(nvml, "nvmlDeviceGetUtilizationRates", &nvml->utilization);
    find(nvml, "nvmlDeviceGetDecoderUtilization", &nvml->decode);
    find(nvml, "nvmlDeviceGetEncoderUtilization", &nvml->encode);
    find(nvml, "nvmlDeviceGetMemoryInfo", &nvml->memory);
    find(nvml, "nvmlDeviceGetPowerUsage", &nvml->power_mw);
    find(nvml, "nvmlDeviceGetCurrPcieLinkGeneration", &nvml->pcie_generation);
    find(nvml, "nvmlDeviceGetCurrPcieLinkWidth", &nvml->pcie_width);
    find(nvml, "nvmlDeviceGetMaxPcieLinkGeneration", &nvml->pcie_max_generation);
    find(nvml, "nvmlDeviceGetMaxPcieLinkWidth", &nvml->pcie_max_width);
    if (!nvml->init || !nvml->by_bus_id || nvml->init() != 0)
        goto fail;
    /* Set only now: close shuts down what was started. */
    find(nvml, "nvmlShutdown", &nvml->shutdown);
    if (nvml->by_bus_id(bus_id, &nvml->device) != 0)
        goto fail;
    return nvml;
fail:
    ec_nvml_close(&nvml);
    return NULL;
}

void ec_nvml_close(struct ec_nvml **nvml)
{
    struct ec_nvml *n = *nvml;
    if (!n)
        return;
    if (n->shutdown)
        n->shutdown();
    if (n->library)
        dlclose(n->library);
    free(n);
    *nvml = NULL;
}

void ec_nvml_sample(struct ec_nvml *nvml, struct ec_nvml_sample *out)
{
    struct nvml_utilization utilization;
    struct nvml_memory memory;
    unsigned value, period_us;
    *out = (struct ec_nvml_sample){.utilization_percent = NAN,
                                   .decode_percent = NAN,
                                   .encode_percent = NAN,
                                   .power_w = NAN,
                                   .memory_used_bytes = -1,
                                   .pcie_generation = -1,
                                   .pcie_width = -1,
                                   .pcie_max_generation = -1,
                                   .pcie_max_width = -1};
    if (!nvml)
        return;
    if (nvml->utilization && nvml->utilization(nvml->device, &utilization) == 0)
        out->utilization_percent = utilization.gpu;
    if (nvml->decode && nvml->decode(nvml->device, &value, &period_us) == 0)
        out->decode_percent = value;
    if (nvml->encode && nvml->encode(nvml->device, &value, &period_us) == 0)
        out->encode_percent = value;
    if (nvml->memory && nvml->memory(nvml->device, &memory) == 0)
        out->memory_used_bytes = (int64_t)memory.used;
    if (nvml->power_mw && nvml->power_mw(nvml->device, &value) == 0)
        out->power_w = value / 1000.0;
    if (nvml->pcie_generation && nvml->pcie_generation(nvml->device, &value) == 0)
        out->pcie_generation = (int)value;
    if (nvml->pcie_width && nvml->pcie_width(nvml->device, &value) == 0)
        out->pcie_width = (int)value;
    if (nvml->pcie_max_generation && nvml->pcie_max_generation(nvml->device, &value) == 0)
        out->pcie_max_generation = (int)value;
    if (nvml->pcie_max_width && nvml->pcie_max_width(nvml->device, &value) == 0)
        out->pcie_max_width = (int)value;
}

void ec_nvml_driver(struct ec_nvml *nvml, char *out, size_t size)
{
    if (size == 0)
        return;
    out[0] = '\0';
    if (nvml && nvml->driver_version && nvml->driver_version(out, (unsigned)size) != 0)
        out[0] = '\0';
}
