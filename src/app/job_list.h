/* The inputs of a batch, and for each where its output goes. */
#ifndef EC_APP_JOB_LIST_H
#define EC_APP_JOB_LIST_H

#include <sys/types.h>

#include "app/options.h"

struct app_job {
    char *input, *output; /* output NULL: there is nothing to be done, for the reason in `problem` */
    char *problem;
    bool is_file; /* a regular one, known by: */
    dev_t device;
    ino_t inode;
    double bytes; /* 1 where it is no file */
};

/* Zero-initialised: empty. */
struct app_job_list {
    struct app_job *jobs;
    int count;
};

/* One job for each input, or for each video in a folder and the folders in it: sorted by name, hidden ones and the output
 * folder left out, links to folders not followed. Outputs mirror the tree. A folder without videos, or one that cannot be read,
 * is a job with a problem. */
enum ec_status app_job_list_make(struct app_job_list *list, const struct app_options *options, struct ec_error *error);
void app_job_list_free(struct app_job_list *list);

/* The input of another job, or of this one, that writing `job`'s output would destroy; NULL: none. */
const char *app_job_list_victim(const struct app_job_list *list, const struct app_job *job);

#endif
