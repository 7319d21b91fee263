/* Canny on the CPU: what one frame goes through, and the memory between its steps.
 *
 * Bands of rows are thresholded and thinned, and their edges spread, in parallel; then edges spread from band to band on one
 * thread, and bands of the output are written in parallel. Before all that, automatic thresholds are chosen from the frame, and
 * where it has moved the edges of the frame before are forgotten. */
#ifndef EC_EDGE_CPU_CANNY_H
#define EC_EDGE_CPU_CANNY_H

#include "edge/strip.h"
#include "edge/workers.h"

struct ec_cpu_canny;

/* For frames that run in `bands` bands, of which each ends before row band_ends[i]. These and the plan stay the caller's and
 * alive until ec_cpu_canny_close. False if there is no memory. */
bool ec_cpu_canny_open(struct ec_cpu_canny **out, const struct ec_plan *plan, const struct ec_rows *rows, int width_px,
                       int height_px, const int *band_ends, int bands);
void ec_cpu_canny_close(struct ec_cpu_canny **canny); /* NULL is fine */

/* Runs a frame; strips[i] belongs to worker i. *choice: automatic thresholds, untouched without. */
void ec_cpu_canny_run(struct ec_cpu_canny *canny, struct ec_workers *workers, struct ec_strip *const *strips,
                      const struct ec_image *in, bool limited_range, const struct ec_image *out, struct ec_auto_choice *choice);

#endif
