/* Statistics as JSON, schema "edgecam.stats/1". */
#ifndef EC_APP_STATS_JSON_H
#define EC_APP_STATS_JSON_H

#include <jansson.h>

#include "edgecam/pipeline.h"

/* One run: input, output, operator, width, height, depth, backend, device; frames {in out dropped damaged}; wall_s, fps,
 * realtime_factor; latency_ms {p50 p95 p99 max}; stages {decode queue_in stage queue_out sink} each {busy_s wait_s};
 * gpu {name driver count lanes engines {h2d compute d2h decode encode} each {busy_percent bytes gb_per_s limit_gb_per_s},
 * overlap_percent, utilization_percent {mean min samples}, memory_bytes, power_w, pcie}; memory {rss_peak_bytes
 * pinned_bytes}; bottleneck, bottleneck_busy_percent, advice. A value that was not measured is null, never 0; without a GPU
 * that is all of `gpu`. The caller owns the object; NULL when memory ran out. */
json_t *app_stats_json(const struct ec_pipeline_params *params, const struct ec_stats *stats);

/* Of a run that never began: nothing was measured, so everything that can be null is. */
extern const struct ec_stats app_stats_unknown;

/* Members of an object: null for NaN, for -1, and for NULL or "". Text that is no UTF-8 gets U+FFFD for each foreign byte. */
void app_json_set_number(json_t *object, const char *key, double value);
void app_json_set_integer(json_t *object, const char *key, int64_t value);
void app_json_set_text(json_t *object, const char *key, const char *text);

/* "source", "h2d", "compute", "d2h" or "sink"; NULL: not known. Static storage. */
const char *app_bottleneck_name(enum ec_bottleneck bottleneck);

#endif
