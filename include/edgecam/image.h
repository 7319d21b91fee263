/* One plane of gray pixels, or the three of a colour picture. */
#ifndef EDGECAM_IMAGE_H
#define EDGECAM_IMAGE_H

#include <stddef.h>
#include <stdint.h>

enum ec_memory {
    EC_MEMORY_HOST = 0, /* ordinary or page-locked host memory */
    EC_MEMORY_DEVICE, /* memory of the GPU that the detector runs on (a CUDA device pointer) */
    EC_MEMORY_DEVICE_HIGH, /* the same, inputs of depth 9 to 16 only: samples stand in the high bits of their words, as in
                              NVDEC's P010 */
};

/* Largest width and height that any call takes; FFmpeg's own limit is below it. */
#define EC_IMAGE_MAX_SIDE_PX 65536

/* The caller owns `data`. Rows are `pitch_bytes` apart (>= width * bytes a pixel); bytes between the end of a row and the
 * next row are neither read nor written. depth_bits is 8 (one byte a pixel) or 9 to 16 (native-endian uint16_t, aligned to
 * 2 bytes, values below 2^depth_bits; a larger value in an input counts as 2^depth_bits - 1). */
struct ec_image {
    void *data;
    int width_px, height_px;
    ptrdiff_t pitch_bytes;
    int depth_bits;
    enum ec_memory memory;
    /* Inputs of a detector with EC_CHANNELS_RGB only: `data` is the plane of red, green stands so many bytes after it, and blue
     * as many after green, all of one pitch. 0: a gray picture, one plane is all three. */
    ptrdiff_t plane_bytes;
    /* Of an input: when the picture was taken, on any clock. Detectors that look back in time read it; a time that is not after
     * that of the picture before counts as 40 ms after it. */
    int64_t time_ns;
};

#endif
