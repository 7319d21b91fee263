/* What the front has checked and derived from ec_edge_params for one depth, in the form every backend runs: plain data, no
 * pointers, so it can be copied to a device as it is. Backends never re-check it.
 *
 * A frame goes through: luma map -> blur -> (second blur, DOG only) -> operator -> finish. */
#ifndef EC_EDGE_PLAN_H
#define EC_EDGE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "edgecam/edge.h"

#define EC_CHANNELS_MAX 3

/* y' = ((max(y - offset, 0) * multiplier + half) >> shift), clamped to max; see ec_luma_expand. */
struct ec_luma_map {
    int32_t offset, max;
    uint32_t multiplier;
    int32_t shift;
    uint64_t half;
};

struct ec_gradient_taps {
    int32_t size; /* 3, 5 or 7 */
    int32_t smooth[7], derive[7];
};

/* 4 * sigma on each side for deep pixels, 1.6 times wider for DOG. */
#define EC_BLUR_MAX_SIZE (2 * 4 * 52 + 3)

/* cv2's fixed-point Gaussian: symmetric weights that sum to 2^fraction_bits. size 0: no blur. */
struct ec_blur_taps {
    int32_t size, fraction_bits;
    uint32_t weights[EC_BLUR_MAX_SIZE];
};

struct ec_convolution_taps {
    int32_t size;
    bool integer; /* integer_weights and divisor count, else float_weights */
    bool wide_sum; /* the exact sum needs 64 bits */
    int64_t divisor;
    int32_t integer_weights[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE];
    float float_weights[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE];
    /* An integer kernel of rank one as column[j] * row[i], so that two passes give the same exact sum. */
    bool separable;
    int32_t column[EC_KERNEL_MAX_SIZE], row[EC_KERNEL_MAX_SIZE];
};

struct ec_finish {
    bool absolute, identity /* scale 1, delta 0 */, has_threshold;
    float scale, delta;
    int32_t threshold; /* smallest integral response that counts */
    int32_t max; /* 2^depth - 1 */
    int32_t narrow_shift; /* depth - 8 where deeper pixels become 8-bit output, else 0 */
};

/* In units of Canny's magnitude (the square of the length for l2), low <= high: larger magnitudes are candidates, and strong.
 */
struct ec_canny_thresholds {
    int64_t low, high;
};

struct ec_canny_auto {
    enum ec_auto kind; /* OFF: the thresholds are those of the plan */
    int64_t time_ns; /* in which they follow the picture to 1 - 1/e */
    int32_t gain; /* of the aperture's gradients, against those of aperture 3 */
    int32_t magnitude_shift; /* a bin of magnitudes is so many bits wide, at depth 8 */
};

struct ec_plan {
    enum ec_operator op;
    enum ec_norm norm;
    enum ec_border border; /* Canny's own is EC_BORDER_REPLICATE, whatever this is */
    int32_t depth_bits, output_depth_bits;
    struct ec_tuning tuning; /* the CUDA backend only, which takes it from the device */
    bool packed; /* the CUDA backend only: results go to the host as maps (packed.h), of images whose depth_bits is 1 */
    int32_t channels; /* planes of the input, 1 or 3; 3: Canny */
    struct ec_luma_map luma;
    struct ec_blur_taps blur, blur_wide; /* blur_wide: the second Gaussian of DOG */
    int32_t window_size; /* of the operator: 2, 3, 5, 7, or the kernel's; 1 for DOG */
    int32_t window_before; /* pixels of the window left of and above the centre */
    struct ec_gradient_taps gradient;
    struct ec_convolution_taps convolution;
    struct ec_canny_thresholds canny;
    struct ec_canny_auto automatic;
    int32_t stable_boost; /* Canny: what the magnitude of an edge gains in the next frame, in 256ths; 0: nothing looks back */
    struct ec_finish finish;
    /* Any magnitude from here on finishes the same, so a backend may saturate a response to it. At most 2^30;
     * INT32_MAX for a convolution, whose responses may be larger. */
    int32_t saturation;
};

struct ec_error;

/* Checks params and fills *plan for input of depth_bits. EC_ERROR_ARGUMENT with one sentence in *error otherwise. */
enum ec_status ec_plan_make(struct ec_plan *plan, const struct ec_edge_params *params, int depth_bits, struct ec_error *error);

#endif
