/* The one question before anything is written: is that file the input? */
#ifndef EC_PIPELINE_SAME_FILE_H
#define EC_PIPELINE_SAME_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether `input`, as the command line names it ("-": standard input, "file:" may stand before a name), is the regular file
 * that *target describes, through whatever link. NULL input: no. */
bool ec_is_input_file(const char *input, const struct stat *target);

#endif
