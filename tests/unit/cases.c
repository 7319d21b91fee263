#include "cases.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD_BYTES 192
#define GUARD_VALUE 0x5a

static uint32_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}

bool ec_case_plan(const struct ec_case *test, struct ec_plan *plan)
{
    struct ec_error error = {0};
    if (ec_plan_make(plan, &test->params, test->depth_bits, &error) == EC_OK)
        return true;
    fprintf(stderr, "%s: %s\n", test->name, error.text);
    return false;
}

static uint32_t pixel_value(const struct ec_case *test, int channel, int x, int y, uint64_t *random)
{
    const uint32_t max = (1u << test->depth_bits) - 1;
    switch (test->content) {
    case EC_CONTENT_ZERO:
        return 0;
    case EC_CONTENT_MAX:
        return max;
    case EC_CONTENT_RAMP:
        return (uint32_t)(x * (3 + channel) + y * (5 - channel)) * (max / 200 + 1) % (max + 1);
    case EC_CONTENT_IMPULSE:
        return x == test->width_px / 2 + channel && y == test->height_px / 2 ? max : 0;
    case EC_CONTENT_EXTREMES:
        return next_random(random) & 1 ? max : 0;
    case EC_CONTENT_TOO_LARGE:
        return next_random(random) & (test->depth_bits > 8 ? 0xffffu : 0xffu);
    default:
        return next_random(random) & max;
    }
}

static void put_pixel(const struct ec_image *image, int channel, int x, int y, uint32_t value)
{
    unsigned char *row = (unsigned char *)image->data + channel * image->plane_bytes + y * image->pitch_bytes;
    if (image->depth_bits == 8)
        row[x] = (unsigned char)value;
    else
        ((uint16_t *)(void *)row)[x] = (uint16_t)value;
}

static uint32_t get_pixel(const struct ec_image *image, int x, int y)
{
    const unsigned char *row = (const unsigned char *)image->data + y * image->pitch_bytes;
    return image->depth_bits == 8 ? row[x] : ((const uint16_t *)(const void *)row)[x];
}

/* A block for an image of so many planes with guards around each; its address is `offset` pixels past a multiple of 64. */
static unsigned char *open_block(struct ec_image *image, const struct ec_case *test, int planes, int depth_bits, int offset,
                                 int padding, size_t *bytes)
{
    const size_t pixel = depth_bits > 8 ? 2 : 1;
    const size_t pitch = (size_t)(test->width_px + padding) * pixel;
    const size_t plane = pitch * (size_t)test->height_px + GUARD_BYTES;
    const size_t used = GUARD_BYTES + (size_t)offset * pixel + plane * (size_t)planes;
    *bytes = (used + 63) / 64 * 64;
    unsigned char *block = aligned_alloc(64, *bytes);
    if (!block)
        return NULL;
    memset(block, GUARD_VALUE, *bytes);
    *image = (struct ec_image){.data = block + GUARD_BYTES + (size_t)offset * pixel,
                               .width_px = test->width_px,
                               .height_px = test->height_px,
                               .pitch_bytes = (ptrdiff_t)pitch,
                               .depth_bits = depth_bits,
                               .plane_bytes = planes > 1 ? (ptrdiff_t)plane : 0};
    return block;
}

bool ec_case_images_open(struct ec_case_images *images, const struct ec_case *test, const struct ec_plan *plan)
{
    *images = (struct ec_case_images){0};
    const int planes = test->gray ? 1 : plan->channels;
    images->in_block =
        open_block(&images->in, test, planes, plan->depth_bits, test->in_offset_px, test->in_padding_px, &images->in_bytes);
    images->out_block = open_block(&images->out, test, 1, plan->output_depth_bits, test->out_offset_px, test->out_padding_px,
                                   &images->out_bytes);
    images->expected_block = open_block(&images->expected, test, 1, plan->output_depth_bits, test->out_offset_px,
                                        test->out_padding_px, &images->out_bytes);
    images->inverted_block = open_block(&images->inverted, test, planes, plan->depth_bits, test->in_offset_px,
                                        test->in_padding_px, &images->in_bytes);
    images->in_copy = malloc(images->in_bytes);
    struct ec_error error = {0};
    if (!images->in_block || !images->out_block || !images->expected_block || !images->in_copy || !images->inverted_block)
        goto fail;
    uint64_t random = test->seed;
    for (int c = 0; c < planes; c++)
        for (int y = 0; y < test->height_px; y++)
            for (int x = 0; x < test->width_px; x++)
                put_pixel(&images->in, c, x, y, pixel_value(test, c, x, y, &random));
    memcpy(images->in_copy, images->in_block, images->in_bytes);
    for (size_t i = 0; i < images->in_bytes; i++)
        images->inverted_block[i] = (unsigned char)~images->in_block[i];
    if (ec_reference_run(plan, &images->in, test->limited_range, &images->expected, &error) != EC_OK)
        goto fail;
    return true;
fail:
    fprintf(stderr, "%s: the images cannot be made%s%s\n", test->name, error.status ? ": " : "", error.text);
    ec_case_images_close(images);
    return false;
}

void ec_case_images_close(struct ec_case_images *images)
{
    free(images->in_block);
    free(images->in_copy);
    free(images->inverted_block);
    free(images->out_block);
    free(images->expected_block);
    *images = (struct ec_case_images){0};
}

void ec_case_images_reset(struct ec_case_images *images)
{
    memset(images->out_block, GUARD_VALUE, images->out_bytes);
}

bool ec_case_images_equal(const struct ec_case_images *images, const struct ec_case *test, const char *label)
{
    if (memcmp(images->in_copy, images->in_block, images->in_bytes) != 0) {
        fprintf(stderr, "%s: %s: the input was written to\n", label, test->name);
        return false;
    }
    if (memcmp(images->expected_block, images->out_block, images->out_bytes) == 0)
        return true;
    for (int y = 0; y < test->height_px; y++) {
        for (int x = 0; x < test->width_px; x++) {
            const uint32_t got = get_pixel(&images->out, x, y), expected = get_pixel(&images->expected, x, y);
            if (got != expected) {
                fprintf(stderr, "%s: %s: pixel (%d, %d) is %u, expected %u\n", label, test->name, x, y, got, expected);
                return false;
            }
        }
    }
    fprintf(stderr, "%s: %s: bytes outside the output were written\n", label, test->name);
    return false;
}

bool ec_case_run(const struct ec_backend *backend, struct ec_device *device, const struct ec_case *test,
                 const struct ec_plan *plan, struct ec_case_images *images, const char *label)
{
    struct ec_error error = {0};
    struct ec_engine *engine = NULL;
    enum ec_status status = backend->engine_open(&engine, device, plan, test->width_px, test->height_px, 1, &error);
    const struct ec_image *frames[] = {&images->inverted, &images->in};
    for (int k = 0; k < 2 && status == EC_OK; k++) {
        ec_case_images_reset(images);
        status = backend->submit(engine, frames[k], test->limited_range, &images->out, &error);
        if (status == EC_OK)
            status = backend->collect(engine, NULL, &error);
    }
    if (engine)
        backend->engine_close(&engine);
    if (status == EC_OK)
        return ec_case_images_equal(images, test, label);
    fprintf(stderr, "%s: %s: %s\n", label, test->name, error.text);
    return false;
}

bool ec_case_run_compare(const struct ec_backend *backend, struct ec_device *device, const struct ec_case *test,
                         const char *label)
{
    struct ec_case_images images;
    struct ec_plan *plan = malloc(sizeof *plan);
    bool equal = plan && ec_case_plan(test, plan) && ec_case_images_open(&images, test, plan);
    if (equal) {
        equal = ec_case_run(backend, device, test, plan, &images, label);
        ec_case_images_close(&images);
    }
    free(plan);
    return equal;
}
