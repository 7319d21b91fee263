/* --doctor: what this machine offers to the program, and what to do about what it lacks. */
#ifndef EC_APP_DOCTOR_H
#define EC_APP_DOCTOR_H

#include "app/options.h"

/* Findings in groups on standard output, one a line: "ok", "note" or "problem", the fact, and after a problem what to do.
 * Starts child processes: call before any thread starts. EC_OK: edgecam runs here, be it on the CPU only. EC_ERROR_DEVICE: the
 * backend or GPU that the options name does not work. EC_ERROR_OUTPUT: standard output did not take them all; that was said. */
enum ec_status app_doctor(const struct app_options *options);

#endif
