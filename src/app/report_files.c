#include "app/report_files.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/same_file.h"

/* The folder that `name` is in, and the name it has there. */
static bool look_at_folder(const char *name, struct stat *folder, const char **last)
{
    char path[PATH_MAX];
    const char *slash = strrchr(name, '/');
    *last = slash ? slash + 1 : name;
    snprintf(path, sizeof path, "%.*s", slash ? (int)(slash - name) + 1 : 1, slash ? name : ".");
    return stat(path, folder) == 0;
}

static bool is_same(const char *a, const char *b)
{
    struct stat s, t;
    const char *last_a, *last_b;
    if (strcmp(a, b) == 0)
        return true;
    const bool a_is_there = stat(a, &s) == 0, b_is_there = stat(b, &t) == 0;
    if (a_is_there != b_is_there)
        return false;
    if (!a_is_there && !(look_at_folder(a, &s, &last_a) && look_at_folder(b, &t, &last_b) && strcmp(last_a, last_b) == 0))
        return false;
    return s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

/* NULL for standard output, which is no file. */
static const char *file_of(const char *name)
{
    return name && strcmp(name, "-") != 0 ? name : NULL;
}

static enum ec_status check_existing(const struct app_options *o, const char *option, const char *name, struct ec_error *error)
{
    struct stat s;
    if (!name || o->pipeline.overwrite || stat(name, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size == 0)
        return EC_OK;
    for (int i = 0; i < o->input_count; i++) {
        if (ec_is_input_file(o->inputs[i], &s))
            return EC_OK; /* -y would not help */
    }
    return ec_fail(error, EC_ERROR_OUTPUT, "%s '%s' exists; use -y to replace it", option, name);
}

enum { FILES = 4 };

enum ec_status app_report_files_check(const struct app_options *o, struct ec_error *error)
{
    const struct {
        const char *option, *name;
    } files[FILES] = {{"-o", file_of(o->pipeline.output)},
                      {"--stats", file_of(o->stats)},
                      {"--trace", o->pipeline.trace},
                      {"--report", file_of(o->report)}};
    for (int i = 0; i < FILES; i++) {
        for (int k = i + 1; k < FILES; k++) {
            if (files[i].name && files[k].name && is_same(files[i].name, files[k].name))
                return ec_fail(error, EC_ERROR_ARGUMENT, "%s and %s both name '%s'", files[i].option, files[k].option,
                               files[k].name);
        }
    }
    for (int i = 1; i < FILES; i++) {
        if (check_existing(o, files[i].option, files[i].name, error))
            return error->status;
    }
    return EC_OK;
}

static enum ec_status check_job(const char *option, const char *name, const struct app_job *job, struct ec_error *error)
{
    if (name && job->output && is_same(name, job->output))
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s '%s' is the output of '%s'", option, name, job->input);
    if (name && is_same(name, job->input))
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s '%s' is the input '%s'", option, name, job->input);
    return EC_OK;
}

enum ec_status app_report_files_check_batch(const struct app_options *o, const struct app_job_list *list,
                                            struct ec_error *error)
{
    if (o->pipeline.trace && list->count > 1)
        return ec_fail(error, EC_ERROR_ARGUMENT, "--trace takes one input, not %d", list->count);
    for (int i = 0; i < list->count; i++) {
        if (check_job("--stats", file_of(o->stats), &list->jobs[i], error) ||
            check_job("--report", file_of(o->report), &list->jobs[i], error) ||
            check_job("--trace", o->pipeline.trace, &list->jobs[i], error))
            return error->status;
    }
    return EC_OK;
}
