/* Windows and cameras: parts of --doctor. */
#ifndef EC_APP_DOCTOR_DISPLAY_H
#define EC_APP_DOCTOR_DISPLAY_H

#include "edge/finding.h"

/* Whether a window could be opened, tried in a child process within some seconds: a display server that does not answer holds
 * nobody up. Call while this process has one thread. */
void doctor_display(const struct ec_examiner *examiner);
void doctor_cameras(const struct ec_examiner *examiner);

#endif
