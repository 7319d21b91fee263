/* The one question before anything is written: is that file the input? */
#ifndef EC_PIPELINE_SAME_FILE_H
#define EC_PIPELINE_SAME_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether `input`, as the command line names it ("-": standard input, "file:" may stand before a name), is the regular file
 * that *target describes, through whatever link. NULL input: no. */
bool ec_is_input_file(const char *input, const struct stat *target);

/* Whether `input` may read the file `path` without being it: a picture pattern that it fits (or that its own pattern meets), an
 * address such as concat:a|b that names it, or a playlist (a text file) that does. Names are compared without their folders, so
 * the answer may be yes too often, never too seldom for those kinds. */
bool ec_input_mentions(const char *input, const char *path);

#endif
