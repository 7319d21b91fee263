/* Where --stats goes: a file, or standard output. */
#ifndef EC_APP_STATS_FILE_H
#define EC_APP_STATS_FILE_H

#include <jansson.h>

#include "edge/error.h"
#include "edgecam/pipeline.h"

struct app_stats_file;

/* Finds out at once whether `name` ("-": standard output) can be written, without touching what it holds; refuses a file that
 * is one of the inputs. EC_ERROR_OUTPUT, EC_ERROR_ARGUMENT or EC_ERROR_MEMORY otherwise. */
enum ec_status app_stats_file_open(struct app_stats_file **out, const char *name, const char *const *inputs, int input_count,
                                   struct ec_error *error);
/* Writes one object (several runs: one after another). A failure is logged and returned. */
enum ec_status app_stats_file_add(struct app_stats_file *file, const struct ec_pipeline_params *params,
                                  const struct ec_stats *stats, const struct ec_logger *logger);
/* As above; takes the reference to `object` (NULL: memory ran out). */
enum ec_status app_stats_file_add_json(struct app_stats_file *file, json_t *object, const struct ec_logger *logger);
/* A file that got no object and did not exist before is removed. NULL is fine. */
void app_stats_file_close(struct app_stats_file **file);

#endif
