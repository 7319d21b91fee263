/* One GPU: what the engine, the clock and the measurement share. */
#ifndef EC_CUDA_DEVICE_H
#define EC_CUDA_DEVICE_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "edge/backend.h"
#include "nvml.h"

struct ec_device {
    int ordinal;
    struct ec_device *peers[EC_GPUS_MAX - 1]; /* the other GPUs of a run that uses several; of the first one only */
    int peer_count;
    bool low_latency, untimed;
    struct ec_tuning tuning;
    struct ec_logger logger;
    char name[128], driver[64], bus_id[32];
    struct ec_nvml *nvml;
    atomic_llong pinned_bytes, memory_bytes;
    cudaStream_t decode_stream, encode_stream; /* of ec_cuda_decode_device and ec_cuda_encode_surfaces; NULL before */

    atomic_bool pinned_noticed; /* that page-locked memory ran out has been told */

    pthread_mutex_t lock; /* of what follows */
    struct ec_host_block *host_blocks;
};

/* Makes the device current for the calling thread; every entry of the backend does this first. */
bool ec_device_enter(const struct ec_device *device, struct ec_error *error);

/* Device memory with its bytes on the device's books; *out is NULL on failure, and the sentence says how much is free. */
bool ec_device_alloc(struct ec_device *device, void **out, size_t bytes, struct ec_error *error);
void ec_device_free(struct ec_device *device, void **memory, size_t bytes);

/* GPU i of the run that `device` leads: itself, then its peers. */
struct ec_device *ec_device_at(struct ec_device *device, int i);

/* FFmpeg's view of the device (a new reference to an AVHWDeviceContext), whose work goes onto `stream`. */
struct AVBufferRef *ec_device_for_libav(const struct ec_device *device, cudaStream_t stream, struct ec_error *error);

/* ec_backend's functions. */
enum ec_status ec_cuda_open(struct ec_device **out, const struct ec_device_params *params, const struct ec_logger *logger,
                            struct ec_error *error);
void ec_cuda_close(struct ec_device **device);
void ec_cuda_describe(struct ec_device *device, struct ec_device_info *out);
void *ec_cuda_host_alloc(struct ec_device *device, size_t bytes);
void ec_cuda_host_free(struct ec_device *device, void *memory, size_t bytes);
void ec_cuda_host_release_all(struct ec_device *device); /* blocks still on the list */
enum ec_status ec_cuda_engine_open(struct ec_engine **out, struct ec_device *device, const struct ec_plan *plan, int width_px,
                                   int height_px, int lanes, struct ec_error *error);
void ec_cuda_engine_close(struct ec_engine **engine);
enum ec_status ec_cuda_submit(struct ec_engine *engine, const struct ec_image *in, bool limited_range, struct ec_image *out,
                              struct ec_error *error);
enum ec_status ec_cuda_collect(struct ec_engine *engine, struct ec_job_times *times, struct ec_error *error);
struct AVBufferRef *ec_cuda_decode_device(struct ec_device *device, struct ec_error *error);
struct AVBufferRef *ec_cuda_encode_surfaces(struct ec_device *device, int width_px, int height_px, int count,
                                            struct ec_error *error);
enum ec_status ec_cuda_measure(struct ec_device *device, size_t bytes, enum ec_measure what, struct ec_limits *out,
                               struct ec_error *error);

#endif
