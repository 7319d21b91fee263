#include <stdlib.h>

#include "edge/backend.h"

struct ec_device {
    int threads;
};

struct ec_engine {
    const struct ec_plan *plan;
};

static enum ec_status cpu_open(struct ec_device **out, const struct ec_device_params *params, const struct ec_logger *logger,
                               struct ec_error *error)
{
    (void)logger;
    (void)params;
    *out = calloc(1, sizeof **out);
    return *out ? EC_OK : ec_fail(error, EC_ERROR_MEMORY, "there is no memory for the CPU backend");
}
static void cpu_close(struct ec_device **device)
{
    free(*device);
    *device = NULL;
}
static void cpu_describe(struct ec_device *device, struct ec_device_info *out)
{
    (void)device;
    *out = (struct ec_device_info){.name = "CPU", .pinned_bytes = -1, .memory_bytes = -1};
}
static void *cpu_host_alloc(struct ec_device *device, size_t bytes)
{
    (void)device;
    return aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
}
static void cpu_host_free(struct ec_device *device, void *memory, size_t bytes)
{
    (void)device;
    (void)bytes;
    free(memory);
}
static enum ec_status cpu_engine_open(struct ec_engine **out, struct ec_device *device, const struct ec_plan *plan,
                                      int width_px, int height_px, int lanes, struct ec_error *error)
{
    (void)device;
    (void)width_px;
    (void)height_px;
    (void)lanes;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return ec_fail(error, EC_ERROR_MEMORY, "there is no memory for the CPU backend");
    (*out)->plan = plan;
    return EC_OK;
}
static void cpu_engine_close(struct ec_engine **engine)
{
    free(*engine);
    *engine = NULL;
}
static enum ec_status cpu_submit(struct ec_engine *engine, const struct ec_image *in, bool limited_range, struct ec_image *out,
                                 struct ec_error *error)
{
    return ec_reference_run(engine->plan, in, limited_range, out, error);
}
static enum ec_status cpu_collect(struct ec_engine *engine, struct ec_job_times *times, struct ec_error *error)
{
    (void)engine;
    (void)error;
    if (times)
        *times = (struct ec_job_times){0};
    return EC_OK;
}
static enum ec_status cpu_measure(struct ec_device *device, size_t bytes, struct ec_limits *out, struct ec_error *error)
{
    (void)device;
    (void)bytes;
    (void)error;
    *out = (struct ec_limits){0};
    return EC_OK;
}
const struct ec_backend ec_backend_cpu = {"cpu",          cpu_open,      cpu_close,       cpu_describe,
                                          cpu_host_alloc, cpu_host_free, cpu_engine_open, cpu_engine_close,
                                          cpu_submit,     cpu_collect,   cpu_measure};
