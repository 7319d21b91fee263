/* What the tests of the CUDA backend share: the device, and how large a run they are asked for. */
#ifndef EC_TEST_GPU_FIXTURE_H
#define EC_TEST_GPU_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "edge/backend.h"

struct fixture {
    struct ec_device *device;
    size_t thin; /* every thin-th case of the common list */
    int width_px, height_px; /* of "large" frames */
    int runs; /* how often Canny must give the same bytes on noise */
};

/* The groups of tests; each returns its number of failures. */
int test_cases(struct fixture *fixture);
int test_engine(struct fixture *fixture);
int test_canny(struct fixture *fixture);
int test_sequence(struct fixture *fixture);
int test_surface(struct fixture *fixture);

/* Noise that depends on `seed`, all values that the depth has. */
void fill_noise(struct ec_image *image, unsigned seed);

/* An image on a block of the device's host memory; fails the test when there is none. */
struct ec_image image_open(struct ec_device *device, int width_px, int height_px, int depth_bits);
void image_close(struct ec_device *device, struct ec_image *image);
size_t image_bytes(const struct ec_image *image);

#endif
