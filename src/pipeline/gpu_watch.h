/* Reads the GPU's own counters (NVML) several times a second while a pipeline is open. */
#ifndef EC_PIPELINE_GPU_WATCH_H
#define EC_PIPELINE_GPU_WATCH_H

#include "edge/backend.h"
#include "pipeline/meters.h"

struct ec_gpu_watch;

/* Starts a thread that feeds ec_meters_utilization. NULL when the counters cannot be read here: they stay unknown then. */
struct ec_gpu_watch *ec_gpu_watch_open(const struct ec_backend *backend, struct ec_device *device, struct ec_meters *meters);
void ec_gpu_watch_close(struct ec_gpu_watch **watch);

#endif
