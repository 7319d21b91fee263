/* The first error of a call, as a status and one sentence. */
#ifndef EC_EDGE_ERROR_H
#define EC_EDGE_ERROR_H

#include "edgecam/status.h"

struct ec_error {
    enum ec_status status; /* EC_OK: nothing failed yet */
    char text[480];
};

/* Keeps status and the formatted sentence unless *error already holds one (NULL: neither). Returns `status`. */
enum ec_status ec_fail(struct ec_error *error, enum ec_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One formatted message to a logger; nothing happens without a callback. */
void ec_log(const struct ec_logger *logger, enum ec_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
