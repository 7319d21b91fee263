/* How far one run, or the runs of a batch together, have come, and how that is told. */
#ifndef EC_APP_PROGRESS_STATE_H
#define EC_APP_PROGRESS_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "edgecam/stats.h"

/* NaN, -1: not known. */
struct app_progress_state {
    int64_t frames, expected;
    double fps, speed, position_s, duration_s, eta_s, gpu_percent;
    int files_done, files_failed; /* of a batch */
    double weight_done;
};

extern const struct app_progress_state app_progress_state_none;

/* Adds a run, over or not; `weight` is its share of the whole. */
void app_progress_state_add(struct app_progress_state *state, const struct ec_stats *stats, double weight);

/* The sums become those of a batch that has run for `wall_s`: rates over all of it, and the end foretold from the weight done.
 */
void app_progress_state_of_batch(struct app_progress_state *state, double wall_s, double weight);

/* `files` 0: no batch. */
void app_progress_state_line(const struct app_progress_state *state, int files, char *line, size_t size);
/* One line of JSON, malloc'd; NULL when memory ran out. */
char *app_progress_state_json(const struct app_progress_state *state, int files, bool done);

#endif
