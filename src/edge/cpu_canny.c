#include "edge/cpu_canny.h"

#include <stdlib.h>

#include "edge/auto_clock.h"
#include "edge/cpu_still.h"

struct ec_cpu_canny {
    const struct ec_plan *plan;
    struct ec_edge_map map;
    const int *band_ends;
    int bands;
    struct ec_auto_counts *counts; /* of each band; NULL: the thresholds are the plan's */
    struct ec_auto_state automatic;
    struct ec_auto_clock clock;
    struct ec_cpu_still still; /* where the plan looks back */
    /* Of the frame that is being run. */
    struct ec_strip *const *strips;
    const struct ec_image *in, *out;
    bool limited_range;
    struct ec_canny_thresholds thresholds;
};

bool ec_cpu_canny_open(struct ec_cpu_canny **out, const struct ec_plan *plan, const struct ec_rows *rows, int width_px,
                       int height_px, const int *band_ends, int bands)
{
    struct ec_cpu_canny *canny = calloc(1, sizeof *canny);
    *out = canny;
    if (!canny)
        return false;
    canny->plan = plan;
    canny->band_ends = band_ends;
    canny->bands = bands;
    bool ok = ec_edge_map_open(&canny->map, rows, width_px, height_px, plan->stable_boost > 0);
    if (plan->stable_boost)
        ok = ok && ec_cpu_still_open(&canny->still, rows, width_px, height_px);
    if (plan->automatic.kind != EC_AUTO_OFF) {
        canny->counts = calloc((size_t)bands, sizeof *canny->counts);
        ok = ok && canny->counts;
    }
    if (!ok)
        ec_cpu_canny_close(out);
    return ok;
}

void ec_cpu_canny_close(struct ec_cpu_canny **canny)
{
    if (!*canny)
        return;
    ec_edge_map_close(&(*canny)->map);
    ec_cpu_still_close(&(*canny)->still);
    free((*canny)->counts);
    free(*canny);
    *canny = NULL;
}

static int band_start(const struct ec_cpu_canny *canny, int band)
{
    return band ? canny->band_ends[band - 1] : 0;
}

static void count_pixels(void *opaque, int worker, int band)
{
    struct ec_cpu_canny *canny = opaque;
    canny->counts[band] = (struct ec_auto_counts){0};
    ec_strip_count(canny->strips[worker], canny->in, canny->limited_range, &canny->counts[band], band_start(canny, band),
                   band_start(canny, band + 1));
}

static void choose_thresholds(struct ec_cpu_canny *canny, struct ec_workers *workers, struct ec_auto_choice *choice)
{
    ec_workers_run(workers, count_pixels, canny, canny->bands);
    struct ec_auto_counts *sum = &canny->counts[0];
    for (int band = 1; band < canny->bands; band++) {
        for (int i = 0; i < EC_AUTO_GRAYS; i++)
            sum->grays[i] += canny->counts[band].grays[i];
        for (int i = 0; i < EC_AUTO_MAGNITUDES; i++)
            sum->magnitudes[i] += canny->counts[band].magnitudes[i];
    }
    const uint32_t weight = ec_auto_clock_weight(&canny->clock, canny->plan->automatic.time_ns, canny->in->time_ns);
    ec_auto_choose(choice, &canny->automatic, sum, canny->plan, weight);
    canny->thresholds = choice->thresholds;
}

static void find_motion(void *opaque, int worker, int band)
{
    (void)worker;
    struct ec_cpu_canny *canny = opaque;
    const int rows = ec_cpu_still_rows(&canny->still);
    ec_cpu_still_run(&canny->still, canny->plan, canny->in, &canny->map, rows * band / canny->bands,
                     rows * (band + 1) / canny->bands);
}

static void find_edges(void *opaque, int worker, int band)
{
    struct ec_cpu_canny *canny = opaque;
    const int first = band_start(canny, band), end = band_start(canny, band + 1);
    ec_strip_run_canny(canny->strips[worker], canny->in, canny->limited_range, &canny->thresholds, &canny->map, first, end);
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

void ec_cpu_canny_run(struct ec_cpu_canny *canny, struct ec_workers *workers, struct ec_strip *const *strips,
                      const struct ec_image *in, bool limited_range, const struct ec_image *out, struct ec_auto_choice *choice)
{
    canny->strips = strips;
    canny->in = in;
    canny->out = out;
    canny->limited_range = limited_range;
    canny->thresholds = canny->plan->canny;
    if (canny->counts)
        choose_thresholds(canny, workers, choice);
    if (canny->plan->stable_boost)
        ec_workers_run(workers, find_motion, canny, canny->bands);
    ec_workers_run(workers, find_edges, canny, canny->bands);
    for (int band = 1; band < canny->bands; band++)
        ec_edge_map_join(&canny->map, band_start(canny, band));
    ec_workers_run(workers, write_edges, canny, canny->bands);
    if (canny->plan->stable_boost)
        ec_edge_map_keep(&canny->map);
}
