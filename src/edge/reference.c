/* The definition: every step on a whole plane, every pixel on its own, all arithmetic from arith.h. */
#include <stdlib.h>

#include "edge/arith.h"
#include "edge/backend.h"
#include "edge/canny_reference.h"

struct plane {
    int32_t *values;
    int width, height;
};

static bool plane_open(struct plane *plane, int width, int height)
{
    *plane = (struct plane){.width = width, .height = height};
    plane->values = calloc((size_t)width * (size_t)height, sizeof *plane->values);
    return plane->values;
}

static void plane_close(struct plane *plane)
{
    free(plane->values);
    plane->values = NULL;
}

static int32_t *plane_at(const struct plane *plane, int x, int y)
{
    return plane->values + (size_t)y * (size_t)plane->width + x;
}

/* The value at (x, y), which may lie outside. */
static int32_t fetch(const struct plane *plane, int x, int y, enum ec_border border)
{
    const int column = ec_border_index(x, plane->width, border);
    const int row = ec_border_index(y, plane->height, border);
    return column < 0 || row < 0 ? 0 : *plane_at(plane, column, row);
}

static void load(struct plane *plane, const struct ec_image *in, const struct ec_luma_map *luma, bool limited_range)
{
    for (int y = 0; y < plane->height; y++) {
        const uint8_t *row = (const uint8_t *)in->data + y * in->pitch_bytes;
        for (int x = 0; x < plane->width; x++) {
            const int32_t value = in->depth_bits == 8 ? row[x] : ((const uint16_t *)(const void *)row)[x];
            const int32_t pixel = ec_min_i32(value, luma->max);
            *plane_at(plane, x, y) = limited_range ? ec_luma_expand(pixel, luma) : pixel;
        }
    }
}

static void store(struct ec_image *out, int x, int y, uint32_t value)
{
    uint8_t *row = (uint8_t *)out->data + y * out->pitch_bytes;
    if (out->depth_bits == 8)
        row[x] = (uint8_t)value;
    else
        ((uint16_t *)(void *)row)[x] = (uint16_t)value;
}

/* Both sums are exact, so the order of the directions does not matter. */
static bool blur(struct plane *out, const struct plane *in, const struct ec_blur_taps *taps, enum ec_border border)
{
    uint64_t *sums = calloc((size_t)in->width * (size_t)in->height, sizeof *sums);
    if (!sums)
        return false;
    const int before = taps->size / 2;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int i = 0; i < taps->size; i++)
                sums[(size_t)y * (size_t)in->width + x] +=
                    (uint64_t)taps->weights[i] * (uint32_t)fetch(in, x + i - before, y, border);

    for (int y = 0; y < in->height; y++) {
        for (int x = 0; x < in->width; x++) {
            uint64_t sum = 0;
            for (int j = 0; j < taps->size; j++) {
                const int row = ec_border_index(y + j - before, in->height, border);
                if (row >= 0)
                    sum += taps->weights[j] * sums[(size_t)row * (size_t)in->width + x];
            }
            *plane_at(out, x, y) = ec_blur_round(sum, taps->fraction_bits);
        }
    }
    free(sums);
    return true;
}

static uint32_t convolve(const struct ec_plan *plan, const int32_t *window)
{
    const struct ec_convolution_taps *taps = &plan->convolution;
    const int count = taps->size * taps->size;
    if (taps->integer) {
        int64_t sum = 0;
        for (int k = 0; k < count; k++)
            sum += (int64_t)taps->integer_weights[k] * window[k];
        return ec_finish(ec_divide_half_even(sum, taps->divisor), &plan->finish);
    }
    float sum = 0;
    for (int k = 0; k < count; k++)
        sum = fmaf(taps->float_weights[k], (float)window[k], sum);
    return ec_finish_float(sum, &plan->finish);
}

static uint32_t respond(const struct ec_plan *plan, const struct plane *in, int x, int y)
{
    int32_t window[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE] = {0};
    const int size = plan->window_size;
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++)
            window[j * size + i] = fetch(in, x + i - plan->window_before, y + j - plan->window_before, plan->border);
    return plan->op == EC_OPERATOR_CONVOLUTION ? convolve(plan, window) : ec_finish(ec_respond(plan, window), &plan->finish);
}

enum ec_status ec_reference_run(const struct ec_plan *plan, const struct ec_image *in, bool limited_range, struct ec_image *out,
                                struct ec_error *error)
{
    struct plane input = {0}, blurred = {0}, blurred_wide = {0};
    const int width = in->width_px, height = in->height_px;
    enum ec_status status = EC_ERROR_MEMORY;
    if (!plane_open(&input, width, height))
        goto fail;
    load(&input, in, &plan->luma, limited_range);
    if (plan->blur.size && (!plane_open(&blurred, width, height) || !blur(&blurred, &input, &plan->blur, plan->border)))
        goto fail;
    if (plan->blur_wide.size &&
        (!plane_open(&blurred_wide, width, height) || !blur(&blurred_wide, &input, &plan->blur_wide, plan->border)))
        goto fail;

    const struct plane *source = plan->blur.size ? &blurred : &input;
    if (plan->op == EC_OPERATOR_CANNY) {
        status = ec_canny_reference(plan, source->values, out) ? EC_OK : EC_ERROR_MEMORY;
        goto fail;
    }
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (plan->op == EC_OPERATOR_DOG)
                store(out, x, y,
                      ec_finish(ec_abs_i32(*plane_at(&blurred, x, y) - *plane_at(&blurred_wide, x, y)), &plan->finish));
            else
                store(out, x, y, respond(plan, source, x, y));
        }
    }
    status = EC_OK;
fail:
    if (status != EC_OK)
        ec_fail(error, status, "there is no memory for a %dx%d image", width, height);
    plane_close(&input);
    plane_close(&blurred);
    plane_close(&blurred_wide);
    return status;
}
