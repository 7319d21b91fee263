/* What `--bench --tune` found on this machine, kept for later runs in the user's cache folder: one file for each card, driver
 * and version of the program, so that a change of any of them starts anew. */
#ifndef EC_APP_TUNING_H
#define EC_APP_TUNING_H

#include "edge/backend.h"
#include "edgecam/pipeline.h"

/* JSON, schema "edgecam.tuning/1": device, driver, version, lanes, operators {name {block_threads, rows_per_thread}}. */
struct app_tuning {
    int lanes; /* 0: not known */
    struct ec_tuning operators[EC_OPERATOR_COUNT][2]; /* by norm, l2 first; zeros: the defaults */
};

/* $XDG_CACHE_HOME/edgecam or ~/.cache/edgecam. The caller frees; NULL: there is no such place, or memory ran out. */
char *app_tuning_folder(void);

/* Name of the file for a card within `folder`. The caller frees; NULL: memory ran out. */
char *app_tuning_path(const char *folder, const struct ec_device_info *device);

/* False and zeros: there is no file for this card, or it is not what this version wrote. */
bool app_tuning_load(struct app_tuning *out, const char *path, const struct ec_device_info *device);

/* Makes the folder, and replaces the file in one step. EC_ERROR_OUTPUT with its name and the cause. */
enum ec_status app_tuning_save(const struct app_tuning *tuning, const char *folder, const char *path,
                               const struct ec_device_info *device, struct ec_error *error);

/* Puts what was found for params->edge into params where the command line left it open. Opens the GPU only if something was
 * ever found here; without, or without a GPU, nothing happens. */
void app_tuning_apply(struct ec_pipeline_params *params);

#endif
