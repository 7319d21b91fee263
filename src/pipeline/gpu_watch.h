/* Reads the GPUs' own counters (NVML) several times a second while a pipeline is open. */
#ifndef EC_PIPELINE_GPU_WATCH_H
#define EC_PIPELINE_GPU_WATCH_H

#include "pipeline/meters.h"

struct ec_gpu_watch;

/* Starts a thread that feeds ec_meters_reading with the GPUs of `device`. NULL when no counters can be read: they stay unknown
 * then. */
struct ec_gpu_watch *ec_gpu_watch_open(const struct ec_device_info *device, struct ec_meters *meters);
void ec_gpu_watch_close(struct ec_gpu_watch **watch);

#endif
