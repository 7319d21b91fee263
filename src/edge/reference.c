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

static void load(struct plane *plane, const struct ec_image *in, int channel, const struct ec_luma_map *luma,
                 bool limited_range)
{
    for (int y = 0; y < plane->height; y++) {
        const uint8_t *row = (const uint8_t *)in->data + channel * in->plane_bytes + y * in->pitch_bytes;
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

/* One channel up to what the operator takes; `blurred` and `blurred_wide` only where the plan has them. */
struct channel {
    struct plane input, blurred, blurred_wide;
};

static bool channel_open(struct channel *channel, const struct ec_plan *plan, const struct ec_image *in, int index,
                         bool limited_range)
{
    if (!plane_open(&channel->input, in->width_px, in->height_px))
        return false;
    load(&channel->input, in, index, &plan->luma, limited_range);
    if (plan->blur.size && (!plane_open(&channel->blurred, in->width_px, in->height_px) ||
                            !blur(&channel->blurred, &channel->input, &plan->blur, plan->border)))
        return false;
    return !plan->blur_wide.size || (plane_open(&channel->blurred_wide, in->width_px, in->height_px) &&
                                     blur(&channel->blurred_wide, &channel->input, &plan->blur_wide, plan->border));
}

static void channel_close(struct channel *channel)
{
    plane_close(&channel->input);
    plane_close(&channel->blurred);
    plane_close(&channel->blurred_wide);
}

enum ec_status ec_reference_run(const struct ec_plan *plan, const struct ec_image *in, bool limited_range, struct ec_image *out,
                                struct ec_error *error)
{
    struct channel channels[EC_CHANNELS_MAX] = {0};
    const int32_t *pixels[EC_CHANNELS_MAX];
    const int count = in->plane_bytes ? plan->channels : 1;
    enum ec_status status = EC_ERROR_MEMORY;
    for (int c = 0; c < count; c++) {
        if (!channel_open(&channels[c], plan, in, c, limited_range))
            goto fail;
        pixels[c] = plan->blur.size ? channels[c].blurred.values : channels[c].input.values;
    }
    if (plan->op == EC_OPERATOR_CANNY) {
        status = ec_canny_reference(plan, pixels, count, out) ? EC_OK : EC_ERROR_MEMORY;
        goto fail;
    }
    const struct channel *only = &channels[0];
    const struct plane *source = plan->blur.size ? &only->blurred : &only->input;
    for (int y = 0; y < in->height_px; y++) {
        for (int x = 0; x < in->width_px; x++) {
            if (plan->op == EC_OPERATOR_DOG)
                store(out, x, y,
                      ec_finish(ec_abs_i32(*plane_at(&only->blurred, x, y) - *plane_at(&only->blurred_wide, x, y)),
                                &plan->finish));
            else
                store(out, x, y, respond(plan, source, x, y));
        }
    }
    status = EC_OK;
fail:
    if (status != EC_OK)
        ec_fail(error, status, "there is no memory for a %dx%d image", in->width_px, in->height_px);
    for (int c = 0; c < count; c++)
        channel_close(&channels[c]);
    return status;
}
