/* The one list of detector settings, sizes and contents on which every backend must equal ec_reference_run, and the comparison.
 *
 * Images stand in blocks with guard bytes around them and between their rows: a guard byte taken for a pixel changes the
 * result, and one that is written is seen. */
#ifndef EC_TEST_CASES_H
#define EC_TEST_CASES_H

#include <stdbool.h>
#include <stddef.h>

#include "edge/backend.h"

enum ec_content {
    EC_CONTENT_NOISE = 0,
    EC_CONTENT_ZERO,
    EC_CONTENT_MAX,
    EC_CONTENT_RAMP,
    EC_CONTENT_IMPULSE, /* one pixel of the largest value in the middle */
    EC_CONTENT_EXTREMES, /* every pixel 0 or the largest value */
    EC_CONTENT_TOO_LARGE, /* noise over all values of the pixel's type, also those above the depth's largest */
    EC_CONTENT_COUNT
};

struct ec_case {
    char name[224];
    struct ec_edge_params params; /* kernel.weights belongs to the list; range is not used */
    int depth_bits;
    bool limited_range;
    bool gray; /* a detector of three channels is given one plane for all */
    int width_px, height_px;
    enum ec_content content;
    unsigned seed;
    int in_offset_px, out_offset_px; /* from an aligned address to the image */
    int in_padding_px, out_padding_px; /* between the end of a row and the next row */
};

struct ec_case_list {
    struct ec_case *cases;
    size_t count;
    struct ec_case_kernels *kernels;
};

/* Every `thin`-th case, all of them with 1. False if there is no memory. */
bool ec_case_list_open(struct ec_case_list *list, size_t thin);
void ec_case_list_close(struct ec_case_list *list);

/* The plan of a case; false with a message on stderr if it is refused. */
bool ec_case_plan(const struct ec_case *test, struct ec_plan *plan);

struct ec_case_images {
    struct ec_image in, out, expected;
    struct ec_image inverted; /* `in` with every bit the other way round: the frame before */
    unsigned char *in_block, *in_copy, *inverted_block, *out_block, *expected_block;
    size_t in_bytes, out_bytes;
};

/* Fills `in`, computes `expected` by ec_reference_run and covers `out` with guard bytes. False with a message on stderr. */
bool ec_case_images_open(struct ec_case_images *images, const struct ec_case *test, const struct ec_plan *plan);
void ec_case_images_close(struct ec_case_images *images);

/* Covers `out` with guard bytes again. */
void ec_case_images_reset(struct ec_case_images *images);

/* True if `out` equals `expected` and no other byte of any block changed; else tells on stderr what differs first. */
bool ec_case_images_equal(const struct ec_case_images *images, const struct ec_case *test, const char *label);

/* Runs `inverted` and then `in` through an engine with one lane and compares what the second gave; `label` stands in messages.
 */
bool ec_case_run(const struct ec_backend *backend, struct ec_device *device, const struct ec_case *test,
                 const struct ec_plan *plan, struct ec_case_images *images, const char *label);

/* All of the above for one case. */
bool ec_case_run_compare(const struct ec_backend *backend, struct ec_device *device, const struct ec_case *test,
                         const char *label);

#endif
