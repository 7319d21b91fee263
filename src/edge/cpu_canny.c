#include "edge/cpu_canny.h"

#include <stdlib.h>

struct ec_cpu_canny {
    struct ec_edge_map map;
    /* Of the frame that is being run. */
    struct ec_strip *const *strips;
    const struct ec_image *in, *out;
    bool limited_range;
    int bands;
};

bool ec_cpu_canny_open(struct ec_cpu_canny **out, const struct ec_rows *rows, int width_px, int height_px)
{
    struct ec_cpu_canny *canny = calloc(1, sizeof *canny);
    if (canny) {
        if (!ec_edge_map_open(&canny->map, rows, width_px, height_px))
            ec_cpu_canny_close(&canny);
    }
    *out = canny;
    return canny;
}

void ec_cpu_canny_close(struct ec_cpu_canny **canny)
{
    if (!*canny)
        return;
    ec_edge_map_close(&(*canny)->map);
    free(*canny);
    *canny = NULL;
}

static int band_start(const struct ec_cpu_canny *canny, int band)
{
    return (int)((int64_t)canny->map.height * band / canny->bands);
}

static void find_edges(void *opaque, int worker, int band)
{
    struct ec_cpu_canny *canny = opaque;
    const int first = band_start(canny, band), end = band_start(canny, band + 1);
    ec_strip_run_canny(canny->strips[worker], canny->in, canny->limited_range, &canny->map, first, end);
    ec_edge_map_spread(&canny->map, first, end);
}

static void write_edges(void *opaque, int worker, int band)
{
    (void)worker;
    const struct ec_cpu_canny *canny = opaque;
    const struct ec_edge_map *map = &canny->map;
    const uint16_t white = (uint16_t)((1u << canny->out->depth_bits) - 1);
    for (int y = band_start(canny, band); y < band_start(canny, band + 1); y++) {
        void *row = (uint8_t *)canny->out->data + y * canny->out->pitch_bytes;
        const uint64_t *bits = map->edges + y * map->stride;
        if (canny->out->depth_bits == 8)
            map->rows->expand_bytes(row, bits, map->width);
        else
            map->rows->expand_shorts(row, bits, map->width, white);
    }
}

void ec_cpu_canny_run(struct ec_cpu_canny *canny, struct ec_workers *workers, struct ec_strip *const *strips, int bands,
                      const struct ec_image *in, bool limited_range, const struct ec_image *out)
{
    canny->strips = strips;
    canny->in = in;
    canny->out = out;
    canny->limited_range = limited_range;
    canny->bands = bands;
    ec_workers_run(workers, find_edges, canny, bands);
    for (int band = 1; band < bands; band++)
        ec_edge_map_join(&canny->map, band_start(canny, band));
    ec_workers_run(workers, write_edges, canny, bands);
}
