/* Several inputs, and the videos in folders, each into a file of its own in one folder. */
#ifndef EC_APP_BATCH_H
#define EC_APP_BATCH_H

#include "app/run.h"

/* --jobs inputs at a time, on as many threads, this one among them; the cores this process may use are shared out among them,
 * and with --gpu all several jobs take one GPU each in turn.
 * One bad input does not stop the rest. Where each output goes, see job_names.h; --resume leaves out what the folder's journal
 * knows as finished, and replaces what it knows as out of date.
 * EC_OK, or EC_ERROR_FRAMES when an input failed, EC_STOPPED when a signal ended it, EC_ERROR_OUTPUT when DIR cannot be made,
 * EC_ERROR_ARGUMENT when --stats, --report or --trace do not go with the inputs, EC_ERROR_MEMORY. */
enum ec_status app_batch(const struct app_context *context);

#endif
