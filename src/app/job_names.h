/* What the output of an input is called in the folder of a batch. */
#ifndef EC_APP_JOB_NAMES_H
#define EC_APP_JOB_NAMES_H

#include "app/options.h"

/* Zero-initialised: no name is taken. */
struct app_job_names {
    void *taken; /* a tree (search.h) of malloc'd names */
};

/* DIR/FOLDER/NAME.EXTENSION, malloc'd. NAME is the input's; EXTENSION is that of --out-format if it is given, the input's own
 * if it is mkv, mov or webm, else mp4 (mov for transparency, mkv where mp4 does not take the chosen codec). `folder` is where a
 * file of a folder lies in it: "" or "a/b/". Names that would meet get -2, -3, ... in front of the extension. NULL when memory
 * ran out. */
char *app_job_names_make(struct app_job_names *names, const struct app_options *options, const char *folder, const char *input);
void app_job_names_free(struct app_job_names *names);

/* What follows the last dot of a file's name, "" without one. */
const char *app_extension_of(const char *path);
bool app_is_one_of(const char *text, const char *const *list); /* without regard to case; `list` ends with NULL */

#endif
