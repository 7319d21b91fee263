/* The CUDA backend against the definition and the CPU. Arguments: THIN (every THIN-th case of the common list), WIDTH and
 * HEIGHT of large frames, RUNS of Canny on noise that must all give the same bytes, SKIP a pattern for the names of tests to
 * leave out (initcheck follows every byte of the device's memory, so a test that fills it never ends there). Leaves with 77,
 * which ctest takes for "skipped", where no GPU can be used. */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

void fill_noise(struct ec_image *image, unsigned seed)
{
    uint64_t state = seed * 2654435761u + 1;
    const uint32_t mask = (1u << image->depth_bits) - 1;
    for (int y = 0; y < image->height_px; y++) {
        uint8_t *row = (uint8_t *)image->data + y * image->pitch_bytes;
        for (int x = 0; x < image->width_px; x++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const uint32_t v = (uint32_t)(state >> 40) & mask;
            if (image->depth_bits == 8)
                row[x] = (uint8_t)v;
            else
                ((uint16_t *)(void *)row)[x] = (uint16_t)v;
        }
    }
}

size_t image_bytes(const struct ec_image *image)
{
    return (size_t)image->pitch_bytes * (size_t)image->height_px;
}

struct ec_image image_open(struct ec_device *device, int width_px, int height_px, int depth_bits)
{
    struct ec_image image = {.width_px = width_px,
                             .height_px = height_px,
                             .pitch_bytes = (ptrdiff_t)width_px * (depth_bits > 8 ? 2 : 1),
                             .depth_bits = depth_bits};
    image.data = ec_backend_cuda.host_alloc(device, image_bytes(&image));
    assert_non_null(image.data);
    return image;
}

void image_close(struct ec_device *device, struct ec_image *image)
{
    ec_backend_cuda.host_free(device, image->data, image_bytes(image));
    image->data = NULL;
}

static void show_message(void *opaque, enum ec_log_level level, const char *text)
{
    (void)opaque;
    fprintf(stderr, "%d: %s\n", (int)level, text);
}

int main(int argc, char **argv)
{
    struct fixture fixture = {.thin = argc > 1 ? strtoul(argv[1], NULL, 10) : 1,
                              .width_px = argc > 2 ? atoi(argv[2]) : 3840,
                              .height_px = argc > 3 ? atoi(argv[3]) : 2160,
                              .runs = argc > 4 ? atoi(argv[4]) : 10};
    const struct ec_device_params params = {.backend = EC_BACKEND_CUDA};
    const struct ec_logger logger = {.message = show_message};
    struct ec_error error = {0};
    if (fixture.thin < 1 || fixture.width_px < 1 || fixture.height_px < 1 || fixture.runs < 1) {
        fprintf(stderr, "usage: %s [THIN [WIDTH HEIGHT [RUNS [SKIP]]]]\n", argv[0]);
        return 2;
    }
    if (argc > 5)
        cmocka_set_skip_filter(argv[5]);
    if (ec_backend_cuda.open(&fixture.device, &params, &logger, &error) != EC_OK) {
        fprintf(stderr, "skipped: %s\n", error.text);
        return 77;
    }
    int failed = test_cases(&fixture);
    failed += test_engine(&fixture);
    failed += test_canny(&fixture);
    failed += test_sequence(&fixture);
    failed += test_surface(&fixture);
    ec_backend_cuda.close(&fixture.device);
    return failed != 0;
}
