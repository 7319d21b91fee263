/* A camera or an address that went away and is opened again. */
#ifndef EC_SOURCE_RECONNECT_H
#define EC_SOURCE_RECONNECT_H

#include "source/libav_state.h"

/* Before the input is opened: EC_ERROR_ARGUMENT if it is a file, which does not come back. */
enum ec_status ec_libav_prepare_reconnect(struct ec_source *source, struct ec_error *error);
/* After it: what it has to be like when it is back. */
enum ec_status ec_libav_keep_shapes(struct ec_source *source, struct ec_error *error);

/* Closes what was lost and opens it again, once a second, until it is back: frames go on behind the last one, in the first
 * one's size. Other streams go on if they are the same. False: told to stop. */
bool ec_libav_reconnect(struct ec_source *source);

#endif
