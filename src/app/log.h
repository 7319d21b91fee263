/* The program's messages: "edgecam: one sentence" lines on standard error, and below them the progress bar, if there is one. */
#ifndef EC_APP_LOG_H
#define EC_APP_LOG_H

#include "edgecam/status.h"

struct app_log;

/* NULL when memory ran out. Messages up to `level` are written; FFmpeg's own come through at EC_LOG_VERBOSE only. FFmpeg has
 * one callback a process, so one log may be open at a time. */
struct app_log *app_log_open(enum ec_log_level level);
void app_log_close(struct app_log **log);

/* A logger that writes here; any thread. It lives as long as `log`. */
struct ec_logger app_log_logger(struct app_log *log);

/* Replaces the last line of the terminal by `text`; NULL or "" removes it. Messages appear above it. Any thread. */
void app_log_bar(struct app_log *log, const char *text);

/* Writes `text` and a newline as they are, regardless of the level (machine-readable lines). Any thread. */
void app_log_raw(struct app_log *log, const char *text);

#endif
