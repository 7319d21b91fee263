/* One thread's part of the CPU backend: bands of rows of a frame, with the scratch memory they need.
 *
 * Rows pass through small rings, so that what one step writes is still in the cache when the next one reads it. */
#ifndef EC_EDGE_STRIP_H
#define EC_EDGE_STRIP_H

#include "edge/auto_arith.h"
#include "edge/edge_map.h"
#include "edge/error.h"
#include "edge/plan.h"
#include "edge/rows.h"
#include "edgecam/image.h"

struct ec_strip;

/* Allocates everything that images of this size need. The plan stays the caller's and alive until ec_strip_close. */
enum ec_status ec_strip_open(struct ec_strip **out, const struct ec_plan *plan, const struct ec_rows *rows, int width_px,
                             int height_px, struct ec_error *error);

/* Computes rows first to end - 1 of `out`. */
void ec_strip_run(struct ec_strip *strip, const struct ec_image *in, bool limited_range, const struct ec_image *out, int first,
                  int end);

/* Canny's gradients and maxima instead: candidates and strong edges of rows first to end - 1 of `map`, whose kept edges are
 * raised. */
void ec_strip_run_canny(struct ec_strip *strip, const struct ec_image *in, bool limited_range,
                        const struct ec_canny_thresholds *thresholds, struct ec_edge_map *map, int first, int end);

/* Or what automatic thresholds are chosen from: adds the pixels of rows first to end - 1 to *counts. */
void ec_strip_count(struct ec_strip *strip, const struct ec_image *in, bool limited_range, struct ec_auto_counts *counts,
                    int first, int end);

/* NULL is fine; sets *strip to NULL. */
void ec_strip_close(struct ec_strip **strip);

#endif
