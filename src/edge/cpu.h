/* The CPU backend's own door, for tests that choose the instruction set. */
#ifndef EC_EDGE_CPU_H
#define EC_EDGE_CPU_H

#include "edge/backend.h"
#include "edge/rows.h"

/* Opens a device of ec_backend_cpu that uses this table of row functions. threads: 1 to EC_CPU_MAX_THREADS, or 0 for one a
 * core. On failure *out is NULL and *error says why. */
enum ec_status ec_cpu_open_rows(struct ec_device **out, int threads, const struct ec_rows *rows, struct ec_error *error);

#define EC_CPU_MAX_THREADS 1024

#endif
