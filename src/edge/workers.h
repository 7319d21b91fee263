/* A pool of threads that share out numbered pieces of work. */
#ifndef EC_EDGE_WORKERS_H
#define EC_EDGE_WORKERS_H

#include "edge/error.h"

struct ec_workers;

/* One piece of work: `worker` is 0 to count - 1, and no two pieces run under the same number at once. */
typedef void ec_workers_task(void *opaque, int worker, int piece);

/* Starts count - 1 threads; the caller of ec_workers_run is worker 0. On failure *out is NULL and *error says why. */
enum ec_status ec_workers_open(struct ec_workers **out, int count, struct ec_error *error);

/* Runs task(opaque, worker, 0 to pieces - 1), each once and in no particular order; returns when all are done, with their
 * writes visible. Not from two threads at once. */
void ec_workers_run(struct ec_workers *workers, ec_workers_task *task, void *opaque, int pieces);

/* Ends the threads and sets *workers to NULL; NULL is fine. */
void ec_workers_close(struct ec_workers **workers);

/* Cores this process may use, at least 1. */
int ec_workers_cores(void);

#endif
