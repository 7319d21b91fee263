/* One frame cut into bands of rows, so that its own upload, kernels and download overlap: the result of the first band is on
 * its way back while the last one is still coming. For --low-latency; it costs launches, so throughput is better without.
 *
 * The kernels take a band, with as many rows more on either side as the operators reach, for a whole picture; the rows that its
 * made-up edges falsify are left behind. Each band has its own place in the lane's output plane, so no band overwrites
 * another's rows. */
#ifndef EC_CUDA_BANDS_H
#define EC_CUDA_BANDS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "edge/error.h"
#include "edge/plan.h"

#define EC_BANDS_MAX 4

struct ec_band {
    int32_t first, rows; /* of the result */
    int32_t top, height; /* of what the kernels are given */
    int64_t out_offset; /* of row `top` in the lane's output plane, in bytes */
};

struct ec_band_plan {
    int32_t count; /* 1: the frame is not cut */
    size_t out_bytes;
    struct ec_band bands[EC_BANDS_MAX];
};

/* Cuts a frame of height_px rows, unless the operator looks at the whole picture or the bands would be mostly overlap. */
void ec_band_plan_make(struct ec_band_plan *bands, const struct ec_plan *plan, int32_t height_px, int64_t out_pitch_bytes);

/* The events of one lane, zero-initialised. */
struct ec_band_marks {
    cudaEvent_t uploaded[EC_BANDS_MAX], computed[EC_BANDS_MAX]; /* order only */
    cudaEvent_t started[EC_BANDS_MAX], ended[EC_BANDS_MAX];
};

bool ec_band_marks_open(struct ec_band_marks *marks, int32_t count, struct ec_error *error);
void ec_band_marks_close(struct ec_band_marks *marks);

#endif
