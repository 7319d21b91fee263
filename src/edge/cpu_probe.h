/* What the CPU backend asks of the machine. */
#ifndef EC_EDGE_CPU_PROBE_H
#define EC_EDGE_CPU_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "edge/error.h"

/* CLOCK_MONOTONIC in ns. */
int64_t ec_cpu_clock_ns(void);

/* The processor's own name, cut to `size`. */
void ec_cpu_brand(char *out, size_t size);

/* "<processor>, <threads> threads, <instruction set>", cut to `size`. */
void ec_cpu_name(char *out, size_t size, int threads, const char *rows_name);

/* Memory to rotate over so that every block comes from memory, not from a cache. */
size_t ec_cpu_rotation_bytes(void);

/* Median rate of memcpy for blocks of `bytes`, in 1e9 bytes copied a second, on this thread. Blocks take turns over more memory
 * than a last-level cache holds, so that they come from memory as frames do. */
enum ec_status ec_cpu_measure_copy(size_t bytes, double *gb_per_s, struct ec_error *error);

#endif
