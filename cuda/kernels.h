/* What the engine asks of the kernels: one plan on one frame, all of it device memory, queued on one stream. */
#ifndef EC_CUDA_KERNELS_H
#define EC_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "edge/auto_arith.h"
#include "edge/error.h"
#include "edge/plan.h"

/* What passes between host and kernels about one frame; page-locked host memory. */
struct ec_gpu_note {
    uint32_t weight; /* in: for automatic thresholds */
    struct ec_auto_choice choice; /* out: those thresholds, when the frame is done */
};

/* Pixels of depth 8 are bytes, deeper ones uint16_t. Any pitch and alignment that the pixel type allows. */
struct ec_gpu_frame {
    const void *d_in;
    void *d_out;
    int64_t in_pitch_bytes, out_pitch_bytes;
    int64_t in_plane_bytes; /* from channel to channel of a colour picture; 0: there is one plane */
    int32_t width_px, height_px;
    bool limited_range;
    void *d_state; /* ec_kernels_state_bytes() */
    struct ec_gpu_note *note; /* where the plan has automatic thresholds; NULL: each frame counts by itself */
    bool in_padded,
        out_padded; /* the bytes up to the next multiple of EC_GPU_PITCH_ALIGN belong to the row: ours, not the user's */
};

/* Rows of our own device planes start on this boundary; the kernels' vector loads need 16. */
#define EC_GPU_PITCH_ALIGN 128

/* `row_bytes` rounded up to EC_GPU_PITCH_ALIGN. */
int64_t ec_gpu_pitch_bytes(int64_t row_bytes);

/* Device memory for intermediate planes that one frame in flight needs; 0: none. */
size_t ec_kernels_scratch_bytes(const struct ec_plan *plan, int32_t width_px, int32_t height_px);

/* Device memory, zeroed before the first frame, that frames hand on to each other; 0: none. With it a frame's kernels must wait
 * for those of the frame before. */
size_t ec_kernels_state_bytes(const struct ec_plan *plan, int32_t width_px, int32_t height_px);

/* Queues the whole frame on `stream`. d_plan is a copy of *plan in device memory, d_scratch is ec_kernels_scratch_bytes() long
 * and this frame's alone until the stream has passed it. */
enum ec_status ec_kernels_run(const struct ec_plan *plan, const struct ec_plan *d_plan, void *d_scratch,
                              const struct ec_gpu_frame *frame, cudaStream_t stream, struct ec_error *error);

/* Queues a copy of frame->d_in to the plane d_to with every sample shifted right; the frame's size, 16-bit samples. d_to may be
 * the same plane. */
enum ec_status ec_kernels_unpack(const struct ec_gpu_frame *frame, void *d_to, int64_t to_pitch_bytes, int32_t shift,
                                 cudaStream_t stream, struct ec_error *error);

/* Queues the map (edge/packed.h) of a plane of ours: rows of d_from start on EC_GPU_PITCH_ALIGN boundaries, `wide`: uint16_t.
 */
enum ec_status ec_kernels_pack(const void *d_from, int64_t from_pitch_bytes, bool wide, void *d_to, int64_t to_pitch_bytes,
                               int32_t width_px, int32_t height_px, cudaStream_t stream, struct ec_error *error);

/* Whether this build holds code for the current device. */
cudaError_t ec_kernels_probe(void);

#ifdef __cplusplus
}
#endif
#endif
