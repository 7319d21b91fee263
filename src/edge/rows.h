/* Row functions of the CPU backend: plain loops over one row, compiled once for each instruction set.
 *
 * A row pointer points to the pixel x = 0; where a function reads neighbours, the row is extended on both sides beforehand.
 * Rows do not overlap. `n` is the width in pixels. `void` rows are pixels of the kind (uint8_t or uint16_t) unless said
 * otherwise. */
#ifndef EC_EDGE_ROWS_H
#define EC_EDGE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "edge/plan.h"

#define EC_BLUR_SLACK 3
#define EC_BLUR_PAIRS_MAX_SIZE 31

#define EC_TALL_ROWS 8
#define EC_TALL_COLUMNS 64
#define EC_CANNY_COLUMNS_MAX 512

/* An operator of 2x2 or 3x3 pixels on EC_TALL_ROWS rows at once: finished pixels to `out` from EC_TALL_ROWS + 2 rows of input,
 * of which the first is the one above the first row of the output. n is a multiple of EC_TALL_COLUMNS; a pixel more is read on
 * either side. Responses are clamped to the depth, which is all there is to plain finishes (ec_rows_plain); where thresholds
 * come after it (ec_rows_compares) that is left to `compare`. Pixels may have any value. */
typedef void ec_rows_tall(void *const *out, const void *const *rows, int n, const struct ec_plan *plan);

/* What magnitudes m of Canny count: those above `low`, up to the largest 16-bit integer for norm l1 and the largest 32-bit one
 * for l2. With l1 the key of a magnitude is m - low - 1; with l2 that is its key times 2^shift plus its rest, which has `shift`
 * bits. So those that count have keys from 0 on; those above the high threshold have one above high_key, or that one and a rest
 * above high_rest. */
struct ec_canny_limits {
    int32_t low;
    int high_key, high_rest, shift;
    int sum; /* where |gx| + |gy| is up to here the magnitude does not count */
    int32_t boost; /* see ec_stable_raise_i32 */
    int lowered_sum; /* the same as `sum` where the magnitude is raised */
};

/* One row of Canny's intermediate results: those of 64 columns count where `flag` is set in `active`. Elsewhere keys are below
 * 0, as they are on either side. */
struct ec_canny_lines {
    int16_t *keys, *rests; /* rests: with bits above `shift` that do not count; NULL with l1 */
    void *courses; /* directions, of the instruction set's own kind */
    uint16_t flag; /* a bit of its own in each row; 0: nothing counts */
};

/* EC_TALL_ROWS rows of it, after the two above them. */
struct ec_canny_group {
    const struct ec_canny_limits *limits;
    enum ec_norm norm;
    int max; /* pixels are at most this, or mean this */
    struct ec_canny_lines rows[EC_TALL_ROWS + 2];
    uint16_t *active; /* by 64 columns */
    ptrdiff_t odd; /* from a row's keys or rests to those of odd columns, for bytes */
    const uint64_t *raised[EC_TALL_ROWS]; /* rows of bits: whose magnitudes are raised; all NULL: none */
};

/* Rows of output that a convolution takes at once, from that many rows of input and all but one of the kernel's. */
#define EC_GROUP_ROWS 2
#define EC_GROUP_INPUT_ROWS (EC_KERNEL_MAX_SIZE + EC_GROUP_ROWS - 1)

/* A convolution of bytes with weights up to EC_DOT_MAX in size. */
#define EC_DOT_MAX 64
#define EC_DOT_DIVISOR_MAX (1 << 14)
#define EC_DOT_PAIRS_MAX (EC_GROUP_INPUT_ROWS * (EC_KERNEL_MAX_SIZE + 1) / 2)
#define EC_DOT_FOURS_MAX (EC_KERNEL_MAX_SIZE * (EC_KERNEL_MAX_SIZE + 3) / 4)

struct ec_dot_taps {
    int size;
    int32_t divisor; /* up to EC_DOT_DIVISOR_MAX where sums become bytes */
    /* For each pair of neighbours in each row of input, row after row: the weights of each row of output, the first lowest,
     * twice in a word. 0 where there is none. */
    int pair_count;
    int32_t pairs[EC_DOT_PAIRS_MAX][EC_GROUP_ROWS];
    /* So many of them from a multiple of that on make sums that, added to `start`, fit 16 bits. 0: not even those of a row. */
    int pairs_that_fit, start;
    int32_t fours[EC_DOT_FOURS_MAX]; /* each row of weights, four to a word, the first lowest */
};

/* The same for weights up to 2^24 in size, each 2^EC_SPLIT_BITS times its high part plus its low one: two neighbours in a word,
 * of 16 bits each. */
#define EC_SPLIT_BITS 12

struct ec_split_taps {
    int size, pair_count;
    int32_t high[EC_DOT_PAIRS_MAX][EC_GROUP_ROWS], low[EC_DOT_PAIRS_MAX][EC_GROUP_ROWS];
};

/* A convolution in floats: for each pixel of each row of input, row after row, its weights for each row of output. */
struct ec_fused_taps {
    int size, count;
    float weights[EC_GROUP_INPUT_ROWS * EC_KERNEL_MAX_SIZE][EC_GROUP_ROWS];
};

/* A Gaussian of bytes across pairs of rows, then down: of an odd size up to EC_BLUR_PAIRS_MAX_SIZE, with weights below 128. */
#define EC_BLUR_FOURS_MAX ((EC_BLUR_PAIRS_MAX_SIZE + 6) / 4)

struct ec_blur_pair_taps {
    int size;
    /* Across, for every four bytes from the first on that one of four neighbouring columns looks at: the weights of each of
     * these columns, the first lowest. */
    int four_count;
    int32_t fours[EC_BLUR_FOURS_MAX][4];
    /* Or of two neighbouring bytes, or of one, so that products fit 16 bits with a sign: the weights twice in a word, and the
     * column of the first of them. */
    int term_count, columns[EC_BLUR_PAIRS_MAX_SIZE];
    int32_t terms[EC_BLUR_PAIRS_MAX_SIZE];
    /* Down, for two rows of output from size / 2 + 1 pairs of rows: the weights of the rows of each pair, the first lowest. */
    int32_t down[2][EC_BLUR_PAIRS_MAX_SIZE / 2 + 1];
};

/* A convolution of bytes by integers close to its weights, EC_NEAR_ROWS rows of output at once: for each pair of rows of input,
 * a word of 16-bit weights q for each row of output, that of the upper row lowest. 0 where there is none. The sum of q times
 * pixel, added to `start`, fits 32 bits; times `unit`, added to `constant`, it is less than `radius` away from the convolution
 * as defined: of integers before it is rounded, in floats after its last step. */
#define EC_NEAR_ROWS 4
#define EC_NEAR_INPUT_ROWS (EC_KERNEL_MAX_SIZE + EC_NEAR_ROWS - 1)
#define EC_NEAR_PAIRS_MAX (EC_NEAR_INPUT_ROWS / 2)

struct ec_near_taps {
    int size;
    int32_t start;
    float unit, constant, radius;
    int32_t pairs[EC_NEAR_PAIRS_MAX][EC_KERNEL_MAX_SIZE][EC_NEAR_ROWS];
    /* Weights that are nearly column[j] * row[i] besides, so that sums of sums in floats are less than `separable_radius` away.
     */
    bool separable;
    float column[EC_KERNEL_MAX_SIZE], row[EC_KERNEL_MAX_SIZE], separable_radius;
};

/* As many results as a vector may have, at most. */
#define EC_NEAR_COLUMNS 64

/* So many pixels of those rows at most are computed by themselves at once. */
#define EC_NEAR_PLACES 64

struct ec_place {
    int row, x;
};

/* Gradients of a row of pixels for Canny; sums: |gx| + |gy|. */
struct ec_canny_gradients {
    int32_t *gx, *gy, *sums;
};

/* The functions for one width of pixels, and of the integers that hold a 3x3 response. */
struct ec_row_kind {
    size_t pixel_bytes;
    size_t gradient_bytes; /* of an element of gradient_down's results for a 3x3 gradient; 4 for a larger one */
    size_t blur_bytes; /* of an element of blur_down's result */
    bool blur_biased; /* a sum of 0 is the least 16-bit integer there */
    int32_t narrow_max; /* largest absolute sum that sum_narrow holds */
    ec_rows_tall *const (*tall)[2]; /* by operator and norm, NULL where rows one at a time do; all may be NULL */

    /* Values clamped to the depth, and expanded where the input has limited range. */
    void (*prepare)(void *out, const void *in, int n, const struct ec_luma_map *luma, bool limited_range);
    void (*to_float)(float *out, const void *in, int n);
    void (*to_short)(int16_t *out, const void *in, int n); /* of pixels below 2^15 */

    /* The two passes of a Gaussian; before it goes across, `sums` is extended by half the size and has EC_BLUR_SLACK finite
     * elements more on both sides; EC_RING_SLACK_BYTES more can be read. */
    void (*blur_down)(void *sums, const void *const *rows, int n, const struct ec_blur_taps *taps);
    void (*blur_across)(void *out, const void *sums, int n, const struct ec_blur_taps *taps);

    /* Responses of the operators. Where the plan's finish is plain (ec_rows_plain) finished pixels go to `out`, else responses
     * to `response`, which is scratch otherwise. */
    void (*gradient_down)(void *smooth, void *derive, const void *const *rows, int n, const struct ec_plan *plan);
    void (*gradient_across)(void *out, int32_t *response, const void *smooth, const void *derive, int n,
                            const struct ec_plan *plan);
    void (*canny_gradient)(const struct ec_canny_gradients *out, const void *smooth, const void *derive, int n,
                           const struct ec_plan *plan);
    /* Canny by Sobel 3x3 on several rows; all NULL: one row at a time, by ec_canny_rows.
     * canny_measure: the last EC_TALL_ROWS rows of the group, columns start to start + n - 1, from EC_TALL_ROWS + 2 rows of
     * each channel, the first of which is above the first of the group's. A row pointer points to column `start`, a multiple of
     * 64; two pixels more are read before and one after, and as many as make n a multiple of 64. n is up to
     * EC_CANNY_COLUMNS_MAX, and less than a multiple of 64 only where the image ends. canny_thin: bits of the maxima of rows 1
     * to EC_TALL_ROWS of the group that are above the low and the high threshold. All columns must have been measured and the
     * next 64. course_bytes: of `courses` for 64 columns. */
    void (*canny_measure)(const struct ec_canny_group *group, const void *const *rows, int channels, int start, int n);
    void (*canny_thin)(const struct ec_canny_group *group, uint64_t *const *candidates, uint64_t *const *edges, int start,
                       int n);
    size_t course_bytes;
    void (*window)(void *out, int32_t *response, const void *const *rows, int n, const struct ec_plan *plan);
    void (*difference)(void *out, int32_t *response, const void *a, const void *b, int n, const struct ec_plan *plan);

    /* EC_GROUP_ROWS rows of what rows->sum_group gives, rounded and clamped; NULL where that is. */
    void (*convolve)(void *const *out, const void *const *rows, int n, const struct ec_fused_taps *taps, int max);

    /* Exact sum of weights[k] * terms[k][x] over `count` rows; each weight is an integer. */
    void (*sum_narrow)(float *out, const void *const *terms, const float *weights, int count, int n);
    void (*sum_double)(double *out, const void *const *terms, const float *weights, int count, int n);

    /* Responses to pixels of the output's depth. */
    void (*finish)(void *out, const int32_t *response, int n, const struct ec_finish *finish);
    void (*compare)(void *row, int n, const struct ec_finish *finish); /* in place, pixels with the threshold */
    void (*finish_float)(void *out, const float *response, int n, const struct ec_finish *finish);
};

enum ec_row_kind_index {
    EC_ROWS_8, /* 8-bit pixels, 16-bit responses */
    EC_ROWS_10, /* 9 and 10 bits, 16-bit responses */
    EC_ROWS_16, /* 11 to 16 bits, 32-bit responses */
    EC_ROWS_KINDS
};

/* One row of Canny's intermediate results. `magnitudes` has a 0 on either side; directions count in active blocks only. */
struct ec_canny_row {
    void *magnitudes, *directions; /* enum ec_direction as wide as the magnitudes */
    uint8_t *active; /* for each 64 columns: whether a magnitude is above the low threshold */
};

/* Which pixels of a row are raised (see ec_stable_raise_i32), in bits; NULL: none. */
struct ec_canny_raise {
    const uint64_t *bits;
    int32_t boost;
    int64_t lowered; /* the low threshold before raising */
};

/* Canny a row at a time, on magnitudes of a certain type. */
struct ec_canny_rows {
    size_t magnitude_bytes;
    /* Replaces gradients by those of `other` where these are larger, unless neither is above `low`. */
    void (*take_larger)(const struct ec_canny_gradients *gradients, const struct ec_canny_gradients *other, int n, int64_t low);
    /* Columns start to start + n - 1 of *row from n gradients; `start` is a multiple of 64. With norm l1 the magnitudes are the
     * sums and in *row already; with l2 those that are not above `low` may become 0. */
    void (*measure)(const struct ec_canny_row *row, int start, const struct ec_canny_gradients *gradients, int n, int64_t low,
                    const struct ec_canny_raise *raise);
    /* Bits of the maxima above `low`, and of those above `high`, of the row in the middle; bits from n on are 0. */
    void (*maxima)(uint64_t *candidates, uint64_t *edges, const struct ec_canny_row rows[3], int n, int64_t low, int64_t high);
};

enum ec_canny_kind {
    EC_CANNY_L1, /* 32 bits */
    EC_CANNY_L2, /* 32 bits */
    EC_CANNY_L2_WIDE, /* 64 bits */
    EC_CANNY_KINDS
};

struct ec_rows {
    const char *name;
    const struct ec_row_kind *kinds[EC_ROWS_KINDS];
    /* Sum of weights[k] * terms[k][x] over `count` rows. Exact: every partial sum is an integer below 2^24 in size. Fused: the
     * chain of fused multiply-adds from k = 0 up, starting at 0. EC_RING_SLACK_BYTES more of the terms can be read. */
    void (*sum_exact)(float *out, const float *const *terms, const float *weights, int count, int n);
    void (*sum_fused)(float *out, const float *const *terms, const float *weights, int count, int n);
    /* The chain of fused multiply-adds over all weights, row by row, starting at 0, for EC_GROUP_ROWS rows. Rows of floats are
     * extended, and EC_RING_SLACK_BYTES more can be read. NULL: by sum_fused. */
    void (*sum_group)(float *const *out, const void *const *rows, int n, const struct ec_fused_taps *taps);
    /* pair_rows: a word for each column, its pixel of the upper row in the lower half. From such rows, half as many as the size
     * and EC_NEAR_ROWS - 1, extended, sum_near gives numbers below and above what sum_group does, and round_near these rounded
     * and clamped to bytes; up to EC_NEAR_COLUMNS - 1 more than n are written. sum_places: what sum_group gives at `count`
     * places, from extended rows of bytes. find_others: the columns, up to 2^16, of bytes that are not those of `b`, and how
     * many; EC_NEAR_COLUMNS - 1 more are read. NULL: this instruction set has nothing for it. */
    void (*pair_rows)(int32_t *pairs, const uint8_t *upper, const uint8_t *lower, int n);
    void (*sum_near)(float *const *low, float *const *high, const void *const *pairs, int n, const struct ec_near_taps *taps);
    void (*round_near)(uint8_t *const *low, uint8_t *const *high, const void *const *pairs, int n,
                       const struct ec_near_taps *taps);
    void (*sum_places)(float *sums, const void *const *rows, const struct ec_place *places, int count, const float *weights,
                       int size);
    int (*find_others)(uint16_t *columns, const uint8_t *a, const uint8_t *b, int n);
    /* The sums of a convolution of bytes, EC_GROUP_ROWS rows: divided, rounded half to even and clamped to bytes, or as they
     * are. Rows are extended, and EC_RING_SLACK_BYTES more can be read. NULL: this instruction set has nothing for it. */
    void (*sum_dots)(uint8_t *const *out, const void *const *rows, int n, const struct ec_dot_taps *taps);
    void (*sum_dots_wide)(float *const *out, const void *const *rows, int n, const struct ec_dot_taps *taps);
    /* The same of bytes in rows of 16-bit integers, clamped to bytes, or as they are. */
    void (*sum_split)(uint8_t *const *out, const void *const *rows, int n, const struct ec_split_taps *taps);
    void (*sum_split_wide)(double *const *out, const void *const *rows, int n, const struct ec_split_taps *taps);
    /* A Gaussian of bytes. blur_pair: the sums across two rows, to four bytes a column, in an order of its own; as many bytes
     * as it reaches and EC_BLUR_SLACK more are read on either side, and up to LANES_BYTES - 1 where n ends. blur_pairs: two
     * rows of the result from pairs of rows, of which the first looks at all rows but the last, and the second at all but the
     * first. NULL: this instruction set has nothing for it. */
    void (*blur_pair)(void *pairs, const void *const rows[2], int n, const struct ec_blur_pair_taps *taps);
    void (*blur_pairs)(uint8_t *const out[2], const void *const *pairs, int n, const struct ec_blur_pair_taps *taps);
    /* Exact sums to responses: divided by the divisor, rounded half to even. */
    void (*divide_float)(int32_t *response, const float *sums, int n, int64_t divisor);
    void (*divide_double)(int32_t *response, const double *sums, int n, int64_t divisor);
    const struct ec_canny_rows *canny[EC_CANNY_KINDS];
    /* Pixels of a row of bits that are candidates but not edges, and next to an edge of that row, or of one of those `above`
     * and `below` words away; both 0: of that row only. Rows have a word more on either side. */
    void (*find_reached)(uint64_t *reached, const uint64_t *candidates, const uint64_t *edges, ptrdiff_t above, ptrdiff_t below,
                         int words);
    /* Of gradients that stand `step` apart, 1 or EC_AUTO_COLUMN_STEP, the lengths by the plan's norm, rounded, in place of
     * lengths that are less. */
    void (*take_lengths)(int32_t *lengths, const int32_t *gx, const int32_t *gy, int count, int step,
                         const struct ec_plan *plan);
    /* Sobel's gradients of samples 1 to n, bytes EC_AUTO_COLUMN_STEP apart in the middle one of three rows: as many of them as
     * it comes to within a row. Returns n. NULL: this instruction set has nothing for it. */
    int (*sample_sobel)(int32_t *gx, int32_t *gy, const void *const rows[3], int width);
    /* Sums of four bytes next to each other. */
    void (*sum_fours)(uint16_t *sums, const uint8_t *bytes, int sum_count);
    /* Adds to each difference the distances of four sums from those `before`, whose place they take. */
    void (*compare_fours)(uint32_t *differences, uint16_t *before, const uint16_t *now, int difference_count);
    /* n pixels, each `white` where its bit is set, else 0; white is 255 for bytes. */
    void (*expand_bytes)(uint8_t *out, const uint64_t *bits, int n);
    void (*expand_shorts)(uint16_t *out, const uint64_t *bits, int n, uint16_t white);
};

/* The fastest table that this processor runs, or with a name that one; NULL if there is none of that name or it cannot run
 * here. */
const struct ec_rows *ec_rows_select(const char *name);

/* Name of table `index` of those that were compiled in, fastest first; NULL past the end. Static storage. */
const char *ec_rows_name(int index);

static inline const struct ec_row_kind *ec_rows_kind(const struct ec_rows *rows, int depth_bits)
{
    return rows->kinds[depth_bits == 8 ? EC_ROWS_8 : depth_bits <= 10 ? EC_ROWS_10 : EC_ROWS_16];
}

/* Whether finishing is nothing but clamping to the depth. */
static inline bool ec_rows_plain(const struct ec_finish *finish)
{
    return finish->identity && !finish->has_threshold && !finish->narrow_shift && !finish->absolute;
}

/* Whether it is that and comparing with a threshold that a clamped response can reach. */
static inline bool ec_rows_compares(const struct ec_finish *finish)
{
    return finish->identity && finish->has_threshold && finish->threshold <= finish->max && !finish->narrow_shift &&
           !finish->absolute;
}

/* The function that runs a plan on several rows at once; NULL if there is none. */
static inline ec_rows_tall *ec_rows_tall_of(const struct ec_row_kind *kind, const struct ec_plan *plan)
{
    const bool finishes = ec_rows_plain(&plan->finish) || ec_rows_compares(&plan->finish);
    const bool fits = kind->tall && finishes && plan->gradient.size <= 3;
    return fits ? kind->tall[plan->op][plan->norm] : NULL;
}

/* Whether Canny runs on several rows at once. */
static inline bool ec_rows_canny_is_tall(const struct ec_row_kind *kind, const struct ec_plan *plan)
{
    return kind->canny_measure && plan->op == EC_OPERATOR_CANNY && plan->gradient.size == 3;
}

/* Which type holds Canny's magnitudes where it does not. */
static inline enum ec_canny_kind ec_rows_canny(const struct ec_plan *plan)
{
    static const int weights[8] = {
        [3] = 4, [5] = 48, [7] = 40}; /* of a gradient's positive terms; aperture 7 is divided by 16 */
    const int64_t largest = (int64_t)weights[plan->gradient.size] * ((1 << plan->depth_bits) - 1);
    const int64_t square = 2 * largest * largest * (plan->stable_boost ? 4 : 1);
    return plan->norm == EC_NORM_L1 ? EC_CANNY_L1 : square <= INT32_MAX ? EC_CANNY_L2 : EC_CANNY_L2_WIDE;
}

#endif
