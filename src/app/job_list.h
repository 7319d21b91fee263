/* The inputs of a batch and the names of their outputs. */
#ifndef EC_APP_JOB_LIST_H
#define EC_APP_JOB_LIST_H

#include "app/options.h"

struct app_job {
    char *input, *output; /* output NULL: a folder without videos */
};

/* Zero-initialised: empty. */
struct app_job_list {
    struct app_job *jobs;
    int count;
};

/* One job for each input, or for each video in a folder (sorted by name; folders in it are left alone). */
enum ec_status app_job_list_make(struct app_job_list *list, const struct app_options *options, struct ec_error *error);
void app_job_list_free(struct app_job_list *list);

/* The input of another job, or of this one, that writing `job`'s output would destroy; NULL: none. */
const char *app_job_list_victim(const struct app_job_list *list, const struct app_job *job);

#endif
