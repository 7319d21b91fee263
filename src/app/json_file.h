/* Where a report goes, one JSON object a line: a file, or standard output. */
#ifndef EC_APP_JSON_FILE_H
#define EC_APP_JSON_FILE_H

#include <jansson.h>

#include "edge/error.h"

struct app_json_file;

struct app_json_file_params {
    const char *option, *what; /* for messages: "--stats", "statistics" */
    const char *name; /* "-": standard output */
    const char *const *inputs; /* files that it must not be */
    int input_count;
};

/* Finds out at once whether the file can be written, without touching what it holds; refuses a file that is one of the inputs.
 * Strings of *params must live until close. EC_ERROR_OUTPUT, EC_ERROR_ARGUMENT or EC_ERROR_MEMORY otherwise. */
enum ec_status app_json_file_open(struct app_json_file **out, const struct app_json_file_params *params,
                                  struct ec_error *error);
/* Writes one line, any thread; takes the reference to `object` (NULL: memory ran out). A failure is logged and returned. */
enum ec_status app_json_file_add(struct app_json_file *file, json_t *object, const struct ec_logger *logger);
/* A file that got no object and did not exist before is removed. NULL is fine. */
void app_json_file_close(struct app_json_file **file);

#endif
