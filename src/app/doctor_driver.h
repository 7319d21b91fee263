/* How NVIDIA's driver is set up, as seen without it: a part of --doctor. */
#ifndef EC_APP_DOCTOR_DRIVER_H
#define EC_APP_DOCTOR_DRIVER_H

#include "edge/finding.h"

/* Card, kernel module, device files, the driver's library, and the variables that hide them. */
void doctor_driver(const struct ec_examiner *examiner);

#endif
