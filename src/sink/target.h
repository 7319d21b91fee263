/* Where an output's bytes go, so that a half-written file never bears the output's name. */
#ifndef EC_SINK_TARGET_H
#define EC_SINK_TARGET_H

#include <pthread.h>
#include <stdbool.h>

#include "edge/error.h"

enum ec_target_kind {
    EC_TARGET_FILE = 0, /* a hidden temporary beside the target, renamed by commit */
    EC_TARGET_DIRECT, /* a device, fifo or socket: opened as it is */
    EC_TARGET_SERIES, /* the muxer makes the files itself (out_%03d.png) */
    EC_TARGET_STDOUT,
};

/* Readable by its users, changed by the functions below only. */
struct ec_target {
    enum ec_target_kind kind;
    bool overwrite;
    char *name; /* as the person gave it, for messages */
    char *path; /* final place; symbolic links are resolved */
    pthread_mutex_t lock; /* between ec_target_abandon and the others */
    char *temporary; /* EC_TARGET_FILE until committed, else NULL */
    char *url; /* what FFmpeg opens: always with a protocol, so that "a:b.mp4" is a file */
};

/* Finds, before anything is written, what makes `name` unfit: it is the input, exists without `overwrite`, is a directory or
 * read-only, or its directory is missing or read-only (EC_ERROR_OUTPUT, naming it). Creates the temporary. `series`: the
 * muxer writes several files named after `name`. `input` is the pipeline's; standard input and URLs are told apart. */
enum ec_status ec_target_open(struct ec_target **out, const char *name, const char *input, bool series, bool overwrite,
                              struct ec_error *error);

/* Gives the completed temporary its final name; without `overwrite` a file that appeared meanwhile stays (EC_ERROR_OUTPUT). */
enum ec_status ec_target_commit(struct ec_target *target, struct ec_error *error);

/* Removes a temporary that was not committed, while it may still be written to; any thread. It cannot be committed then. */
void ec_target_abandon(struct ec_target *target);

/* Removes a temporary that was not committed. */
void ec_target_close(struct ec_target **target);

#endif
