/* The public detector: the front that checks images, in front of one backend with one engine for the size in use. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "edge/backend.h"

struct ec_edge {
    struct ec_edge_params params;
    float weights[EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE]; /* what params.kernel points to */
    const struct ec_backend *backend;
    struct ec_device *device;
    struct ec_engine *engine; /* for `plan` and this size, NULL before the first image */
    struct ec_plan plan;
    int width_px, height_px;
    struct ec_job_times times; /* of the last image */
};

enum ec_status ec_edge_open(struct ec_edge **out, const struct ec_edge_params *params, const struct ec_device_params *device)
{
    if (!out)
        return EC_ERROR_ARGUMENT;
    *out = NULL;
    if (!params)
        return EC_ERROR_ARGUMENT;

    struct ec_error error = {0};
    enum ec_status status = EC_ERROR_MEMORY;
    struct ec_edge *edge = calloc(1, sizeof *edge);
    if (!edge) {
        ec_fail(&error, status, "there is no memory for a detector");
        goto fail;
    }
    status = ec_plan_make(&edge->plan, params, 8, &error);
    if (status != EC_OK)
        goto fail;
    edge->params = *params;
    if (params->op == EC_OPERATOR_CONVOLUTION) {
        const size_t count = (size_t)params->kernel.size * (size_t)params->kernel.size;
        memcpy(edge->weights, params->kernel.weights, count * sizeof *edge->weights);
    }
    edge->params.kernel.weights = edge->weights;

    const struct ec_device_params defaults = {0};
    status = ec_backend_open(&edge->backend, &edge->device, device ? device : &defaults, &params->logger, &error);
    if (status != EC_OK)
        goto fail;
    *out = edge;
    return EC_OK;
fail:
    ec_log(&params->logger, EC_LOG_ERROR, "%s", error.text);
    ec_edge_close(&edge);
    return status;
}

void ec_edge_close(struct ec_edge **edge)
{
    if (!edge || !*edge)
        return;
    struct ec_edge *e = *edge;
    if (e->engine)
        e->backend->engine_close(&e->engine);
    if (e->device)
        e->backend->close(&e->device);
    free(e);
    *edge = NULL;
}

bool ec_edge_thresholds(const struct ec_edge *edge, double *low, double *high)
{
    if (!edge || !edge->times.has_thresholds)
        return false;
    *low = edge->times.low;
    *high = edge->times.high;
    return true;
}

const char *ec_edge_backend(const struct ec_edge *edge)
{
    return edge ? edge->backend->name : NULL;
}

static size_t row_bytes(const struct ec_image *image)
{
    return (size_t)image->width_px * (image->depth_bits > 8 ? 2 : 1);
}

/* From the first byte of the first row to the last byte of the last one; check_image made sure that it does not overflow. */
static size_t span_bytes(const struct ec_image *image)
{
    return (size_t)(image->height_px - 1) * (size_t)image->pitch_bytes + row_bytes(image);
}

static enum ec_status check_image(const struct ec_image *image, const char *which, bool on_gpu, struct ec_error *error)
{
    if (!image || !image->data)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the %s image has no data", which);
    if (image->width_px < 1 || image->height_px < 1 || image->width_px > EC_IMAGE_MAX_SIDE_PX ||
        image->height_px > EC_IMAGE_MAX_SIDE_PX)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the %s image is %dx%d pixels, expected sides of 1 to %d", which,
                       image->width_px, image->height_px, EC_IMAGE_MAX_SIDE_PX);
    if (image->depth_bits < 8 || image->depth_bits > 16)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the %s image has a depth of %d bits, expected 8 to 16", which,
                       image->depth_bits);
    if (image->pitch_bytes < 0 || (size_t)image->pitch_bytes < row_bytes(image))
        return ec_fail(error, EC_ERROR_ARGUMENT, "the %s image has a pitch of %td bytes, but a row of %d pixels takes %zu",
                       which, image->pitch_bytes, image->width_px, row_bytes(image));
    const size_t room = PTRDIFF_MAX - row_bytes(image);
    if ((size_t)image->pitch_bytes > room / (size_t)image->height_px ||
        UINTPTR_MAX - (uintptr_t)image->data < span_bytes(image))
        return ec_fail(error, EC_ERROR_ARGUMENT,
                       "the %s image with a pitch of %td bytes and %d rows reaches past the address space", which,
                       image->pitch_bytes, image->height_px);
    if (image->depth_bits > 8 && (((uintptr_t)image->data | (uintptr_t)image->pitch_bytes) & 1))
        return ec_fail(error, EC_ERROR_ARGUMENT, "the %s image has 2 bytes a pixel, but its address or pitch is odd", which);
    if (image->plane_bytes < 0 ||
        (UINTPTR_MAX - (uintptr_t)image->data - span_bytes(image)) / (EC_CHANNELS_MAX - 1) < (uintptr_t)image->plane_bytes)
        return ec_fail(error, EC_ERROR_ARGUMENT,
                       "the %s image has planes %td bytes apart, which reaches past the address space", which,
                       image->plane_bytes);
    if (image->depth_bits > 8 && (image->plane_bytes & 1))
        return ec_fail(error, EC_ERROR_ARGUMENT, "the %s image has 2 bytes a pixel, but its planes are %td bytes apart", which,
                       image->plane_bytes);
    if ((unsigned)image->memory > EC_MEMORY_DEVICE_HIGH)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the %s image is in memory of kind %d, neither host (0) nor device (1)", which,
                       (int)image->memory);
    if (image->memory != EC_MEMORY_HOST && !on_gpu)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the %s image is in device memory, which the CPU backend cannot take", which);
    return EC_OK;
}

/* Two images with one pitch may stand side by side in one buffer, so that their spans cross but no row does. */
static bool images_overlap(const struct ec_image *a, const struct ec_image *b)
{
    if ((a->memory == EC_MEMORY_HOST) != (b->memory == EC_MEMORY_HOST))
        return false;
    if ((uintptr_t)a->data > (uintptr_t)b->data) {
        const struct ec_image *first = b;
        b = a;
        a = first;
    }
    const uintptr_t distance = (uintptr_t)b->data - (uintptr_t)a->data;
    if (distance >= span_bytes(a))
        return false;
    if (a->pitch_bytes != b->pitch_bytes)
        return true;
    const size_t shift = distance % (size_t)a->pitch_bytes;
    return shift < row_bytes(a) || shift + row_bytes(b) > (size_t)a->pitch_bytes;
}

static enum ec_status check_images(const struct ec_edge *edge, const struct ec_image *in, const struct ec_image *out,
                                   struct ec_error *error)
{
    const bool on_gpu = edge->backend == &ec_backend_cuda;
    enum ec_status status = check_image(in, "input", on_gpu, error);
    if (status == EC_OK)
        status = check_image(out, "output", on_gpu, error);
    if (status != EC_OK)
        return status;
    if (out->memory == EC_MEMORY_DEVICE_HIGH || (in->memory == EC_MEMORY_DEVICE_HIGH && in->depth_bits == 8))
        return ec_fail(error, EC_ERROR_ARGUMENT, "samples in the high bits are for inputs deeper than 8 bits only");
    if (in->width_px != out->width_px || in->height_px != out->height_px)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the output image is %dx%d pixels, but the input is %dx%d", out->width_px,
                       out->height_px, in->width_px, in->height_px);
    const int wanted = edge->params.output_depth_bits;
    if (wanted ? out->depth_bits != wanted : out->depth_bits != 8 && out->depth_bits != in->depth_bits)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the output image has a depth of %d bits, expected %d", out->depth_bits,
                       wanted ? wanted : in->depth_bits);
    struct ec_image plane = *in;
    for (int c = 0; c < edge->plan.channels; c++) {
        if (images_overlap(&plane, out))
            return ec_fail(error, EC_ERROR_ARGUMENT, "the input and the output image overlap");
        plane.data = (char *)plane.data + in->plane_bytes;
    }
    return EC_OK;
}

/* Makes edge->engine fit the images; keeps the one there is if it does already. */
static enum ec_status prepare(struct ec_edge *edge, const struct ec_image *in, const struct ec_image *out,
                              struct ec_error *error)
{
    if (edge->engine && edge->width_px == in->width_px && edge->height_px == in->height_px &&
        edge->plan.depth_bits == in->depth_bits && edge->plan.output_depth_bits == out->depth_bits)
        return EC_OK;
    if (edge->engine)
        edge->backend->engine_close(&edge->engine);

    struct ec_edge_params params = edge->params;
    params.output_depth_bits = out->depth_bits == 8 ? 8 : 0;
    enum ec_status status = ec_plan_make(&edge->plan, &params, in->depth_bits, error);
    if (status != EC_OK)
        return status;
    edge->width_px = in->width_px;
    edge->height_px = in->height_px;
    return edge->backend->engine_open(&edge->engine, edge->device, &edge->plan, edge->width_px, edge->height_px, 1, error);
}

enum ec_status ec_edge_run(struct ec_edge *edge, const struct ec_image *in, struct ec_image *out)
{
    if (!edge)
        return EC_ERROR_ARGUMENT;
    struct ec_error error = {0};
    enum ec_status status = check_images(edge, in, out, &error);
    if (status == EC_OK)
        status = prepare(edge, in, out, &error);
    if (status == EC_OK) {
        status = edge->backend->submit(edge->engine, in, edge->params.range == EC_RANGE_LIMITED, out, &error);
        if (status == EC_OK)
            status = edge->backend->collect(edge->engine, &edge->times, &error);
        if (status != EC_OK)
            edge->backend->engine_close(&edge->engine);
    }
    if (status != EC_OK)
        ec_log(&edge->params.logger, EC_LOG_ERROR, "%s", error.text);
    return status;
}
