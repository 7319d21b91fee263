/* Reads the GPU's own counters (NVML) several times a second while a pipeline is open. */
#ifndef EC_PIPELINE_GPU_WATCH_H
#define EC_PIPELINE_GPU_WATCH_H

#include "pipeline/meters.h"

struct ec_gpu_watch;

/* Starts a thread that feeds ec_meters_utilization with the GPU at this PCI address. NULL when its counters cannot be read:
 * they stay unknown then. */
struct ec_gpu_watch *ec_gpu_watch_open(const char *bus_id, struct ec_meters *meters);
void ec_gpu_watch_close(struct ec_gpu_watch **watch);

#endif
