/* One frame in flight: its stream, the device planes it works on, and the events that time it. Used by the engine's thread.
 *
 * Kernels run on the lane's own stream; all uploads of a GPU share one stream and all downloads another, linked by events.
 * An operation waits its turn on the hardware queue that its stream used last: with one stream a lane, what is queued before an
 * upload would stand behind the downloads of the other lanes. And writing a time between two copies costs the copy engine some
 * microseconds, 2 to 3 % of a 4K frame: the copies' streams hold plain links, and the times are taken on the lane's stream,
 * which has nothing to do meanwhile. A copy starts when its engine has done the one before and what it needs is there.
 * A frame as one graph launch is no faster than that (samples/streams measures both). */
#ifndef EC_CUDA_LANE_H
#define EC_CUDA_LANE_H

#include "bands.h"
#include "clock.h"
#include "device.h"
#include "edge/auto_clock.h"
#include "kernels.h"

/* Times, on the lane's stream. */
enum ec_lane_mark { EC_MARK_UPLOADED = 0, EC_MARK_COMPUTED, EC_MARK_END, EC_MARK_COUNT };

/* Order only, from one stream to another. */
enum ec_lane_link { EC_LINK_DECODED = 0, EC_LINK_UPLOADED, EC_LINK_COMPUTED, EC_LINK_DOWNLOADED, EC_LINK_COUNT };

struct ec_lane {
    cudaStream_t run;
    cudaEvent_t marks[EC_MARK_COUNT], links[EC_LINK_COUNT];
    struct ec_gpu_clock clock;
    struct ec_band_marks bands; /* of a frame that is cut */
    bool cut; /* the frame in flight is */
    int64_t submitted_ns; /* CLOCK_MONOTONIC */
    void *d_in, *d_out, *d_scratch; /* d_scratch: NULL when the plan needs none */
    void *d_map; /* of a packed plan: d_out as bits */
    struct ec_gpu_note *note; /* where the plan has automatic thresholds */
    int64_t h2d_bytes, d2h_bytes; /* of the frame in flight; 0: that image is in device memory */
};

/* What all lanes of an engine on one GPU share. */
struct ec_lane_plan {
    struct ec_device *device;
    struct ec_device *leader; /* the GPU that decodes, which may be another one */
    struct ec_plan plan;
    struct ec_plan *d_plan;
    int32_t width_px, height_px;
    int64_t in_plane_bytes; /* a channel of the lane's own input */
    int64_t in_row_bytes, out_row_bytes, in_pitch_bytes, out_pitch_bytes; /* pitch: of the lane's own planes */
    size_t in_bytes, out_bytes, scratch_bytes;
    size_t map_bytes; /* 0: the plan is not packed */
    struct ec_band_plan bands; /* count 1 unless the device was opened for low latency */
    /* What frames hand on to each other, in the order in which they are submitted. */
    void *d_state;
    size_t state_bytes; /* 0: nothing */
    cudaEvent_t state_done; /* the last frame's kernels are */
    struct ec_auto_clock automatic;
    cudaStream_t up, down;
    int64_t uploaded_ns, downloaded_ns; /* when the last collected frame's copies ended */
};

/* `lane` is zeroed. After a failure ec_lane_close still has to be called. */
enum ec_status ec_lane_open(struct ec_lane *lane, const struct ec_lane_plan *shared, struct ec_error *error);
/* Waits for the frame in flight. */
void ec_lane_close(struct ec_lane *lane, const struct ec_lane_plan *shared);

/* Queues upload, kernels and download of one frame; images in device memory are worked on in place. */
enum ec_status ec_lane_submit(struct ec_lane *lane, struct ec_lane_plan *shared, const struct ec_image *in, bool limited_range,
                              const struct ec_image *out, struct ec_error *error);

/* Waits for that frame; *times (may be NULL) but for its `lane` is filled. */
enum ec_status ec_lane_wait(struct ec_lane *lane, struct ec_lane_plan *shared, struct ec_job_times *times,
                            struct ec_error *error);

#endif
