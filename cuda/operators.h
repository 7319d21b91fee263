/* The kernels behind ec_kernels_run, one file each; every function queues its launches on `stream` and returns the first error.
 * Luma expansion, clamping and the border rule happen in the loads, the finish in the stores. */
#ifndef EC_CUDA_OPERATORS_H
#define EC_CUDA_OPERATORS_H

#include "kernels.h"

/* The input plane of one step. `expand`: limited range, still to be expanded. */
struct ec_gpu_source {
    const void *data;
    int64_t pitch_bytes;
    int64_t plane_bytes; /* from channel to channel; 0: there is one plane */
    int32_t width_px, height_px;
    int32_t max; /* larger values count as this */
    enum ec_border border;
    bool expand;
    bool vector; /* rows start on 16-byte boundaries */
    bool padded; /* bytes up to the next such boundary may be read */
    struct ec_luma_map luma;
};

/* The output plane. `wide`: uint16_t pixels, else bytes. */
struct ec_gpu_target {
    void *data;
    int64_t pitch_bytes;
    bool wide;
    bool vector, padded; /* as above; padding may be written */
    int32_t saturation; /* responses from here on finish the same */
    struct ec_finish finish;
};

struct ec_gpu_queue {
    const struct ec_plan *plan, *d_plan;
    cudaStream_t stream;
    struct ec_error *error;
    void *d_state; /* of the frame, as in ec_gpu_frame */
    struct ec_gpu_note *note;
    const struct ec_gpu_source *picture; /* as it came, before any blur */
};

/* 3x3 gradients of bytes, two pixels a register; only where ec_gradient_pairs_fits(). */
bool ec_gradient_pairs_fits(const struct ec_plan *plan, const struct ec_gpu_source *in, const struct ec_gpu_target *out);
enum ec_status ec_gradient_pairs(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in,
                                 const struct ec_gpu_target *out);

/* The same of 9 and 10 bits; only where ec_gradient_pairs_deep_fits(). */
bool ec_gradient_pairs_deep_fits(const struct ec_plan *plan, const struct ec_gpu_source *in, const struct ec_gpu_target *out);
enum ec_status ec_gradient_pairs_deep(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in,
                                      const struct ec_gpu_target *out);

/* Every 2x2 and 3x3 operator, any depth. */
enum ec_status ec_neighbours(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in, const struct ec_gpu_target *out);

/* Gradients of aperture 5 and 7. */
enum ec_status ec_gradient_wide(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in,
                                const struct ec_gpu_target *out);

/* Any convolution. */
enum ec_status ec_convolution(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in,
                              const struct ec_gpu_target *out);

/* Convolution of size 3 to 9 whose sums, if integers, are exact in single precision; only where ec_convolution_float_fits(). */
bool ec_convolution_float_fits(const struct ec_plan *plan, const struct ec_gpu_source *in);
enum ec_status ec_convolution_float(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in,
                                    const struct ec_gpu_target *out);

/* The same of size 3 on bytes in whole vectors; only where ec_convolution_strips_fits(). */
bool ec_convolution_strips_fits(const struct ec_plan *plan, const struct ec_gpu_source *in, const struct ec_gpu_target *out);
enum ec_status ec_convolution_strips(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in,
                                     const struct ec_gpu_target *out);

/* Convolution of bytes with signed bytes; only where ec_convolution_bytes_fits(). */
bool ec_convolution_bytes_fits(const struct ec_plan *plan);
enum ec_status ec_convolution_bytes(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in,
                                    const struct ec_gpu_target *out);

size_t ec_canny_state_bytes(const struct ec_plan *plan, int32_t width_px, int32_t height_px);

/* Canny; the scratch memory starts on a boundary of 128 bytes. */
size_t ec_canny_scratch_bytes(const struct ec_plan *plan, int32_t width_px, int32_t height_px);
enum ec_status ec_canny(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in, const struct ec_gpu_target *out,
                        void *d_scratch);

/* Bytes between the rows of the row sums that ec_blur leaves in `sums`. */
int64_t ec_blur_sums_pitch_bytes(int32_t width_px, bool deep);

/* Gaussian with plan->blur into a plane of the input's pixels whose rows start on 16-byte boundaries. */
enum ec_status ec_blur(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in, void *sums, void *blurred,
                       int64_t blurred_pitch_bytes);

/* |G(wide) - narrow|, finished: `narrow` is ec_blur's result with plan->blur. */
enum ec_status ec_blur_difference(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in, void *sums,
                                  const void *narrow, int64_t narrow_pitch_bytes, const struct ec_gpu_target *out);

/* The Gaussian of bytes without a plane of sums, only where ec_blur_bytes_fits(): blurred pixels, or with `narrow` their
 * finished difference from it. */
bool ec_blur_bytes_fits(const struct ec_blur_taps *taps);
enum ec_status ec_blur_bytes(const struct ec_gpu_queue *queue, const struct ec_blur_taps *taps, const struct ec_gpu_source *in,
                             const void *narrow, int64_t narrow_pitch_bytes, const struct ec_gpu_target *out);

#endif
