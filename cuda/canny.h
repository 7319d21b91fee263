/* What the two halves of Canny on the GPU share: where its intermediate results stand in a frame's scratch memory.
 *
 * Memory traffic of a frame of n pixels: the input once, 6 bitmaps of n/8 bytes written and about 12 read, the output once.
 * Labels are 2n bytes, touched only in words with candidates whose fate is still open after the bitmaps have been spread. */
#ifndef EC_CUDA_CANNY_H
#define EC_CUDA_CANNY_H

#include "operators.h"

/* Bit x % 64 of word x / 64 of a row is pixel x; bits past the width are 0. Edges are candidates too. */
struct ec_canny_bits {
    uint64_t *candidates, *edges;
    uint32_t *labels; /* 32 for each word, see canny_edges.cu */
    uint64_t *kept; /* from frame to frame: the last one's edges; NULL: the plan does not look back */
    uint16_t *cells; /* from frame to frame: the last one's sums, see canny_still.cu */
    int32_t width_px, height_px;
    int32_t words; /* of a row */
};

/* How a frame's automatic thresholds come about; device memory. */
struct ec_canny_choosing {
    struct ec_auto_counts counts;
    struct ec_auto_choice choice;
};

/* Fills choosing->choice from the operator's input. */
enum ec_status ec_canny_choose(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in,
                               struct ec_canny_choosing *choosing);

/* Gradients and maxima: fills both bitmaps. d_thresholds: device memory, NULL: those of the plan. */
enum ec_status ec_canny_maxima(const struct ec_gpu_queue *queue, const struct ec_gpu_source *in,
                               const struct ec_canny_thresholds *d_thresholds, const struct ec_canny_bits *bits);

/* Clears the kept edges where queue->picture has moved. */
enum ec_status ec_canny_still(const struct ec_gpu_queue *queue, const struct ec_canny_bits *bits);

/* Hysteresis, and pixels: the largest value where an edge is, else 0. */
enum ec_status ec_canny_edges(const struct ec_gpu_queue *queue, const struct ec_canny_bits *bits,
                              const struct ec_gpu_target *out);

#endif
