/* Several inputs, and the videos in folders, one after another, each into a file of its own in one folder. */
#ifndef EC_APP_BATCH_H
#define EC_APP_BATCH_H

#include "app/run.h"

/* Every output is DIR/<name of the input>.<extension>: that of --out-format if it is given, the input's own if it is mkv, mov
 * or webm, else mp4 (mkv where mp4 does not take the chosen codec); names that would meet get -2, -3, ... in front of the
 * extension. One bad input does not stop the rest.
 * EC_OK, or EC_ERROR_FRAMES when an input failed, EC_STOPPED when a signal ended it, EC_ERROR_OUTPUT when DIR cannot be made,
 * EC_ERROR_ARGUMENT when --stats or --trace do not go with the inputs, EC_ERROR_MEMORY. */
enum ec_status app_batch(const struct app_context *context);

#endif
