/* What runs a plan: a const table of functions. The front (detector.c, pipeline) validates once; backends never re-check.
 *
 * A device owns the host memory that frames live in; an engine runs one plan on frames of one size. An engine is used by one
 * thread; host_alloc and host_free by any, also while an engine of the device runs. */
#ifndef EC_EDGE_BACKEND_H
#define EC_EDGE_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "edge/auto_arith.h"
#include "edge/error.h"
#include "edge/finding.h"
#include "edge/plan.h"
#include "edge/spread.h"
#include "edgecam/image.h"
#include "edgecam/pipeline.h"
#include "edgecam/stats.h"

struct AVBufferRef;
struct ec_device; /* each backend defines its own */
struct ec_engine;

/* When the parts of one frame ran, ns on the CLOCK_MONOTONIC axis (device events are mapped onto it); start == end == 0: this
 * backend has no such part. */
struct ec_job_times {
    int64_t start_ns[3], end_ns[3]; /* indexed by EC_ENGINE_H2D, _COMPUTE, _D2H */
    int64_t h2d_bytes, d2h_bytes;
    int lane, gpu; /* from 0 on; gpu: of those that the run uses */
    bool has_thresholds; /* Canny chose them for this frame: */
    double low, high; /* in 8-bit units */
};

static inline void ec_job_tell_thresholds(struct ec_job_times *times, const struct ec_auto_choice *choice)
{
    times->has_thresholds = true;
    times->low = (double)choice->low_steps / EC_AUTO_STEPS;
    times->high = (double)choice->high_steps / EC_AUTO_STEPS;
}

#define EC_GPUS_MAX 16 /* that one run can spread its frames over */
#define EC_IN_FLIGHT_MAX (EC_LANES_MAX * EC_GPUS_MAX)

struct ec_device_info {
    char name[128], driver[64], pcie[64]; /* empty: not known */
    int64_t pinned_bytes; /* page-locked host memory held now; -1: none of this kind */
    int64_t memory_bytes; /* device memory in use by this process; -1: not known */
    int gpu_count; /* 0: the CPU */
    char bus_ids[EC_GPUS_MAX][32]; /* PCI addresses for NVML, empty where there is none */
};

/* Rates of this machine, measured now with blocks of `bytes`; NaN: no such path. Medians, in 1e9 bytes a second. */
struct ec_limits {
    double memcpy_gb_per_s; /* host memcpy, bytes copied (not read + written) */
    double device_copy_gb_per_s; /* device to device, bytes copied */
    double h2d_gb_per_s, d2h_gb_per_s; /* one way at a time */
    double both_gb_per_s; /* each way, both at once */
};

/* How long one frame takes, in us, when frames follow each other without a pause, and a copy (memcpy, device to device) of as
 * many bytes in the same setting. All NaN: there is no such setting. */
struct ec_frame_times {
    struct ec_spread frame_us, copy_us;
};

struct ec_throughput {
    struct ec_frame_times serial; /* one after the other; buffers rotate over more than the last cache holds */
    struct ec_frame_times parallel; /* the same with EC_THROUGHPUT_STREAMS frames in flight, as lanes run */
    struct ec_frame_times cached; /* serial, on one pair of buffers */
    int64_t frame_bytes; /* read plus written; a copy of half of them moves as many */
    int64_t in_bytes; /* of them, read: every plane */
    int buffers, frames, repetitions; /* pairs of buffers; frames a repetition */
};

#define EC_THROUGHPUT_STREAMS 4

enum { EC_TUNINGS_MAX = 16 };

enum ec_measure { EC_MEASURE_ALL = 0, EC_MEASURE_LINK /* the way to a GPU and back only */ };

struct ec_backend {
    const char *name;
    /* What this backend finds on the machine and whether it runs there, in findings; works without open(). */
    void (*examine)(const struct ec_device_params *params, const struct ec_examiner *examiner);
    /* On failure *out is NULL and *error says why, in words for the person at the keyboard. */
    enum ec_status (*open)(struct ec_device **out, const struct ec_device_params *params, const struct ec_logger *logger,
                           struct ec_error *error);
    void (*close)(struct ec_device **device);
    void (*describe)(struct ec_device *device, struct ec_device_info *out);

    /* At least `bytes` bytes aligned to 4096, or NULL. Where page-locked memory runs out: ordinary memory, one notice. */
    void *(*host_alloc)(struct ec_device *device, size_t bytes);
    void (*host_free)(struct ec_device *device, void *memory, size_t bytes);

    /* Allocates everything that `lanes` frames in flight need; with several GPUs they take turns. */
    enum ec_status (*engine_open)(struct ec_engine **out, struct ec_device *device, const struct ec_plan *plan, int width_px,
                                  int height_px, int lanes, struct ec_error *error);
    void (*engine_close)(struct ec_engine **engine); /* waits for what is in flight */
    /* Starts one frame; both images stay the caller's and alive until collected. At most `lanes` may be in flight (the CPU
     * backend runs the frame before it returns). limited_range: expand luma first. */
    enum ec_status (*submit)(struct ec_engine *engine, const struct ec_image *in, bool limited_range, struct ec_image *out,
                             struct ec_error *error);
    /* Waits for the oldest frame in flight; *times may be NULL. After an error the engine can only be closed. */
    enum ec_status (*collect)(struct ec_engine *engine, struct ec_job_times *times, struct ec_error *error);

    /* FFmpeg's device context (a new reference to an AVHWDeviceContext) for a decoder that writes into this device's memory;
     * submit() of a frame in device memory waits for what that decoder has queued. NULL in the table, or *error says why not:
     * there is none. */
    struct AVBufferRef *(*decode_device)(struct ec_device *device, struct ec_error *error);
    /* A new reference to an AVHWFramesContext for an encoder of this device: its frames lie in the device's memory, their
     * chroma is neutral, and submit() may write a result of 8 bits into the luma plane of one (not with several GPUs). Width
     * and height are even. `count` frames are allocated now, more when they are asked for. NULL in the table, or *error says
     * why not: there are none. */
    struct AVBufferRef *(*encode_surfaces)(struct ec_device *device, int width_px, int height_px, int count,
                                           struct ec_error *error);

    enum ec_status (*measure)(struct ec_device *device, size_t bytes, enum ec_measure what, struct ec_limits *out,
                              struct ec_error *error);
    /* The choices besides the default that may make a difference to `plan`, at most EC_TUNINGS_MAX; their number. NULL in the
     * table: there is nothing to choose. */
    int (*tunings)(const struct ec_plan *plan, struct ec_tuning *out);
    /* The detector alone, without copies to and from a GPU, on frames that all hold `content` (host memory), which has as many
     * planes as the plan has channels. */
    enum ec_status (*throughput)(struct ec_device *device, const struct ec_plan *plan, const struct ec_image *content,
                                 struct ec_throughput *out, struct ec_error *error);
};

extern const struct ec_backend ec_backend_cpu;
extern const struct ec_backend ec_backend_cuda; /* a stub that says so in a build without CUDA */

/* Opens params->backend: AUTO tries CUDA, then the CPU with a notice when a GPU is there but cannot be used. */
enum ec_status ec_backend_open(const struct ec_backend **backend, struct ec_device **device,
                               const struct ec_device_params *params, const struct ec_logger *logger, struct ec_error *error);

/* The definition, pixel by pixel: what every backend's bytes must equal. Any size; in and out must not overlap. */
enum ec_status ec_reference_run(const struct ec_plan *plan, const struct ec_image *in, bool limited_range, struct ec_image *out,
                                struct ec_error *error);

#endif
