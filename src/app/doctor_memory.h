/* The memory that the program may use: a part of --doctor. */
#ifndef EC_APP_DOCTOR_MEMORY_H
#define EC_APP_DOCTOR_MEMORY_H

#include "edge/finding.h"

void doctor_memory(const struct ec_examiner *examiner);

#endif
