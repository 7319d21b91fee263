/* What a strip consists of, for the files that open and run it. */
#ifndef EC_EDGE_STRIP_STATE_H
#define EC_EDGE_STRIP_STATE_H

#include "edge/ring.h"
#include "edge/strip.h"

/* What computes the operator. */
enum ec_family {
    FAMILY_GRADIENT,
    FAMILY_CANNY,
    FAMILY_WINDOW,
    FAMILY_DIFFERENCE,
    FAMILY_DOTS, /* convolutions: sums of bytes with small weights, */
    FAMILY_NARROW, /* of pixels in small integers, */
    FAMILY_SPLIT, /* of bytes with weights in two parts, */
    FAMILY_DOUBLE, /* of pixels in doubles, */
    FAMILY_EXACT, /* of floats that hold every integer sum, */
    FAMILY_SEPARABLE, /* the same in two passes, */
    FAMILY_FUSED, /* and of floats as defined */
};

/* Convolutions by integers close to the weights, where these settle nearly every pixel. */
struct ec_near {
    bool is_used;
    struct ec_near_taps taps;
    struct ec_ring pairs; /* of rows of bytes */
    struct ec_ring low, high, pixels; /* of a block: below and above the sums, and what becomes of both */
    int place_count;
    struct ec_place places[EC_NEAR_PLACES]; /* of the group of rows, still to be computed */
    int paused_groups; /* to come that are computed the other way, as too few pixels were settled */
};

struct ec_strip {
    const struct ec_plan *plan;
    const struct ec_rows *rows;
    const struct ec_row_kind *kind;
    enum ec_family family;
    int width, height;
    bool plain, takes_extended; /* the operator reads extended rows of pixels */
    ec_rows_tall *tall; /* runs several rows at once, or NULL */
    bool canny_tall; /* so does Canny, with what comes with the kind */
    bool grouped; /* a convolution that takes EC_GROUP_ROWS rows at once */

    /* Of the frame that is being run. */
    const struct ec_image *in;
    bool limited_range;
    int channel; /* whose rows are asked for */
    bool blur_begun;
    int blur_top; /* once it has begun: the first row that a Gaussian of several rows at once has looked at */
    int64_t low; /* Canny: magnitudes up to here do not count */
    const struct ec_edge_map *raised; /* Canny: whose kept edges are raised, NULL: none */

    /* Rings with one slot are scratch rows. */
    struct ec_ring input[EC_CHANNELS_MAX], blurred[EC_CHANNELS_MAX];
    struct ec_ring converted; /* rows of floats, for FAMILY_SPLIT of 16-bit integers */
    struct ec_ring blur_pairs[EC_CHANNELS_MAX], blur_sides, blur_spare; /* of bytes, several rows at once */
    struct ec_ring blur_sums, wide_sums, smooth, derive, column_sums;
    struct ec_ring near_row, far_row, response, sums, zeros;
    struct ec_ring side_rows, side_results; /* the columns at the sides, extended, for `tall` */
    struct ec_ring keys, rests, courses, no_keys, no_bits; /* Canny on several rows at once */
    struct ec_ring magnitudes, directions, active, gx, gy, other_gx, other_gy, other_sums, lengths;
    const struct ec_canny_rows *canny;

    /* The kernel without its zeros: where each term stands in the window, its weight. */
    int term_count;
    int term_rows[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE], term_columns[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE];
    float weights[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE];
    const void *terms[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE];
    const float *float_terms[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE];
    struct ec_dot_taps dots;
    struct ec_split_taps split;
    struct ec_fused_taps fused;
    struct ec_blur_pair_taps blur_pair;
    struct ec_near near;
    float column[EC_KERNEL_MAX_SIZE], row[EC_KERNEL_MAX_SIZE];
    const void *windows[EC_CHANNELS_MAX][EC_NEAR_INPUT_ROWS],
        *blur_window[EC_BLUR_MAX_SIZE]; /* rows that the operator, a blur looks at */
};

/* The row of a ring with one slot. */
static inline void *ec_strip_scratch(struct ec_ring *ring)
{
    bool fresh;
    return ec_ring_row(ring, 0, &fresh);
}

/* Begins a frame: nothing that the rings hold counts any more. */
void ec_strip_begin(struct ec_strip *strip, const struct ec_image *in, bool limited_range);

/* Rows first to end - 1 of `out` by strip->tall. */
void ec_strip_run_tall(struct ec_strip *strip, const struct ec_image *out, int first, int end);

/* The same by strip->grouped. */
void ec_strip_run_grouped(struct ec_strip *strip, const struct ec_image *out, int first, int end);

/* The same where strip->near.is_used, which ec_strip_open_near finds out: false if there is no memory. */
bool ec_strip_open_near(struct ec_strip *strip);
void ec_strip_close_near(struct ec_strip *strip);
void ec_strip_run_near(struct ec_strip *strip, const struct ec_image *out, int first, int end);

/* The same for Canny, where strip->canny_tall says so; ec_strip_open_canny_tall: false if there is no memory for its rings. */
bool ec_strip_open_canny_tall(struct ec_strip *strip);
void ec_strip_run_canny_tall(struct ec_strip *strip, const struct ec_canny_thresholds *thresholds, struct ec_edge_map *map,
                             int first, int end);

/* Fills strip->windows[strip->channel] with the operator's input around row y, or around a group of rows that begins there. */
void ec_strip_gather(struct ec_strip *strip, int y, enum ec_border border);

/* Row y of the image, prepared, of the channel whose rows are asked for. */
const void *ec_strip_input(struct ec_strip *strip, int y);

/* Blurred rows of several at once: rows of the input that have to be there together, 0 if that cannot be done; the memory for
 * it, false if there is none; and rows first to last, up to EC_TALL_ROWS + 2, so that ec_strip_row finds them. */
int ec_strip_blur_pair_rows(const struct ec_strip *strip);
bool ec_strip_open_blur_pairs(struct ec_strip *strip);
void ec_strip_blur(struct ec_strip *strip, int first, int last);

/* Row y of the operator's input. */
const void *ec_strip_row(struct ec_strip *strip, int y);

/* Canny's gradients of row y, of the channel whose rows are asked for, to the strip's gx and gy. */
void ec_strip_gradients(struct ec_strip *strip, int y);

#endif
