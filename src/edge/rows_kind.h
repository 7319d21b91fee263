/* The row functions for one kind of pixel, included once for each by rows_table.h, which says what
 *   KIND        is appended to every name
 *   PIXEL       holds a pixel
 *   SUM         holds every 3x3 response and its parts (up to SUM_LIMIT)
 *   FITS_LANES  tells whether SUM is as wide as a lane, HAS_ROOT_OF_LANES whether lanes_root serves its pixels
 *   BY_DOTS     tells whether steps that take neighbouring bytes together serve, and rows_dots.h has the Gaussian, else
 *   BLUR_COUNT  holds a Gaussian's sum in one direction, BLUR_SUM in both, exactly */
#define JOIN_TOKENS(name, kind) name##_##kind
#define JOIN(name, kind) JOIN_TOKENS(name, kind)
#define NAME(name) JOIN(name, KIND)
#define IS_8_BIT (sizeof(PIXEL) == 1)
#define IS_WIDE (sizeof(SUM) == 4)

static void NAME(prepare)(void *out_row, const void *in_row, int n, const struct ec_luma_map *luma, bool limited_range)
{
    PIXEL *restrict out = out_row;
    const PIXEL *restrict in = in_row;
    const PIXEL max = (PIXEL)luma->max, offset = (PIXEL)luma->offset;
    if (!limited_range) {
        for (int x = 0; x < n; x++)
            out[x] = in[x] < max ? in[x] : max;
    } else if (IS_8_BIT) {
        /* 255/219 = 1 + 12/73, and 14365/2^21 is above 2/292 by so little that it rounds 24a + 73 as the division would. */
        int x = 0;
#if BY_DOTS
        for (; x + LANES_BYTES <= n; x += LANES_BYTES)
            lanes_store(out + x, lanes_expand_luma(lanes_load(in + x)));
#endif
        for (; x < n; x++) {
            const uint16_t above = in[x] > offset ? (uint16_t)(in[x] - offset) : 0;
            const uint16_t halved = (uint16_t)(24 * above + 73);
            const uint16_t value = (uint16_t)(above + (((uint32_t)halved * 14365u >> 16) >> 5));
            out[x] = (PIXEL)(value < 255 ? value : 255);
        }
    } else if (!IS_WIDE) {
        /* Up to 10 bits the product is below 2^29. */
        const uint32_t multiplier = luma->multiplier, half = (uint32_t)luma->half;
        for (int x = 0; x < n; x++) {
            const PIXEL pixel = in[x] < max ? in[x] : max;
            const uint32_t above = pixel > offset ? (uint32_t)(pixel - offset) : 0;
            const uint32_t value = (above * multiplier + half) >> luma->shift;
            out[x] = (PIXEL)(value < max ? value : max);
        }
    } else {
        const uint32_t multiplier = luma->multiplier;
        for (int x = 0; x < n; x++) {
            const PIXEL pixel = in[x] < max ? in[x] : max;
            const uint32_t above = pixel > offset ? (uint32_t)(pixel - offset) : 0;
            const uint32_t value = (uint32_t)(((uint64_t)above * multiplier + luma->half) >> luma->shift);
            out[x] = (PIXEL)(value < max ? value : max);
        }
    }
}

static void NAME(to_float)(float *restrict out, const void *in_row, int n)
{
    const PIXEL *restrict in = in_row;
    for (int x = 0; x < n; x++)
        out[x] = (float)in[x];
}

static void NAME(to_short)(int16_t *restrict out, const void *in_row, int n)
{
    const PIXEL *restrict in = in_row;
    for (int x = 0; x < n; x++)
        out[x] = (int16_t)in[x];
}

INLINE void NAME(finish_loop)(void *out_row, const int32_t *restrict response, int n, const struct ec_finish *finish,
                              bool identity, bool narrow)
{
    const struct ec_finish f = {.absolute = finish->absolute,
                                .identity = identity,
                                .has_threshold = finish->has_threshold,
                                .scale = finish->scale,
                                .delta = finish->delta,
                                .threshold = finish->threshold,
                                .max = finish->max,
                                .narrow_shift = narrow ? finish->narrow_shift : 0};
    PIXEL *restrict out = out_row;
    uint8_t *restrict out_narrow = out_row;
    for (int x = 0; x < n; x++) {
        const uint32_t value = ec_finish(response[x], &f);
        if (narrow)
            out_narrow[x] = (uint8_t)value;
        else
            out[x] = (PIXEL)value;
    }
}

static void NAME(finish)(void *out, const int32_t *response, int n, const struct ec_finish *finish)
{
    const bool narrow = !IS_8_BIT && finish->narrow_shift;
    if (finish->identity && !narrow)
        NAME(finish_loop)(out, response, n, finish, true, false);
    else if (finish->identity)
        NAME(finish_loop)(out, response, n, finish, true, true);
    else if (!narrow)
        NAME(finish_loop)(out, response, n, finish, false, false);
    else
        NAME(finish_loop)(out, response, n, finish, false, true);
}

static void NAME(compare)(void *row, int n, const struct ec_finish *finish)
{
    PIXEL *restrict pixels = row;
    const PIXEL threshold = (PIXEL)finish->threshold, max = (PIXEL)finish->max;
    for (int x = 0; x < n; x++)
        pixels[x] = pixels[x] >= threshold ? max : 0;
}

static void NAME(finish_float)(void *out_row, const float *restrict response, int n, const struct ec_finish *finish)
{
    const struct ec_finish f = *finish;
    PIXEL *restrict out = out_row;
    uint8_t *restrict out_narrow = out_row;
    if (!IS_8_BIT && f.narrow_shift)
        for (int x = 0; x < n; x++)
            out_narrow[x] = (uint8_t)ec_finish_float(response[x], &f);
    else
        for (int x = 0; x < n; x++)
            out[x] = (PIXEL)ec_finish_float(response[x], &f);
}

INLINE SUM NAME(absolute)(SUM a)
{
    return (SUM)(a < 0 ? -a : a);
}

INLINE SUM NAME(maximum)(SUM a, SUM b)
{
    return a > b ? a : b;
}

INLINE void NAME(put)(PIXEL *out, int32_t *response, int x, SUM m, SUM max, bool plain)
{
    if (plain)
        out[x] = (PIXEL)(m < max ? m : max);
    else
        response[x] = m;
}

/* `cap`: the square of plan->saturation for L2_SMALL. */
INLINE SUM NAME(measure)(SUM gx, SUM gy, enum magnitude magnitude, int32_t cap)
{
    if (magnitude == MAGNITUDE_L1)
        return (SUM)(NAME(absolute)(gx) + NAME(absolute)(gy));
    if (IS_WIDE || magnitude == MAGNITUDE_L2)
        return (SUM)root_medium(gx, gy);
    const int32_t square = gx * gx + gy * gy;
    return (SUM)root_small(square < cap ? square : cap);
}

#if !BY_DOTS
#include "edge/rows_kind_blur.h"
#endif
#include "edge/rows_kind_gradient.h"
#include "edge/rows_kind_sum.h"
#include "edge/rows_kind_window.h"
#if FITS_LANES
#include "edge/rows_kind_tall.h"
#include "edge/rows_kind_tall_bounds.h"
#include "edge/rows_kind_tall_canny.h"
#include "edge/rows_kind_tall_thin.h"
#endif

static const struct ec_row_kind NAME(kind) = {
    .pixel_bytes = sizeof(PIXEL),
    .gradient_bytes = sizeof(SUM),
#if BY_DOTS
    .blur_bytes = sizeof(int16_t),
    .blur_biased = true,
    .blur_down = blur_down_dots,
    .blur_across = blur_across_dots,
#else
    .blur_bytes = sizeof(BLUR_SUM),
    .blur_down = NAME(blur_down),
    .blur_across = NAME(blur_across),
#endif
    .narrow_max = SUM_LIMIT,
#if FITS_LANES
    .tall = NAME(tall),
#endif
    .prepare = NAME(prepare),
    .to_float = NAME(to_float),
    .to_short = NAME(to_short),
    .gradient_down = NAME(gradient_down),
    .gradient_across = NAME(gradient_across),
    .canny_gradient = NAME(canny_gradient),
#if FITS_LANES
    .canny_measure = NAME(canny_measure),
    .canny_thin = NAME(canny_thin),
    .course_bytes = sizeof(struct NAME(courses)),
#endif
    .window = NAME(window),
    .difference = NAME(difference),
#if HAS_DOTS
    .convolve = NAME(convolve),
#endif
    .sum_narrow = NAME(sum_narrow),
    .sum_double = NAME(sum_double),
    .finish = NAME(finish),
    .compare = NAME(compare),
    .finish_float = NAME(finish_float),
};

#undef JOIN_TOKENS
#undef JOIN
#undef NAME
#undef IS_8_BIT
#undef IS_WIDE
#undef KIND
#undef PIXEL
#undef SUM
#undef SUM_LIMIT
#undef FITS_LANES
#undef HAS_ROOT_OF_LANES
#undef BY_DOTS
#undef BLUR_COUNT
#undef BLUR_SUM
#undef BLUR_MULTIPLY_ADD
