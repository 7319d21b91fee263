#include "app/batch.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "app/report_files.h"

static enum ec_status make_folder(const char *name, struct ec_error *error)
{
    struct stat s;
    if (mkdir(name, 0777) == 0)
        return EC_OK;
    if (errno != EEXIST)
        return ec_fail(error, EC_ERROR_OUTPUT, "the folder '%s' cannot be made: %s", name, strerror(errno));
    if (stat(name, &s) != 0 || !S_ISDIR(s.st_mode))
        return ec_fail(error, EC_ERROR_OUTPUT, "--out-dir '%s' is not a folder", name);
    return EC_OK;
}

static enum ec_status run_job(const struct app_context *c, const struct app_job_list *list, const struct app_job *job)
{
    if (!job->output) {
        ec_log(&c->logger, EC_LOG_ERROR, "%s: no videos in this folder", job->input);
        return EC_ERROR_INPUT;
    }
    const char *victim = app_job_list_victim(list, job);
    if (victim) {
        ec_log(&c->logger, EC_LOG_ERROR, "%s: its output '%s' is the input '%s'", job->input, job->output, victim);
        return EC_ERROR_OUTPUT;
    }
    struct ec_pipeline_params params = c->options->pipeline;
    params.input = job->input;
    params.output = job->output;
    return app_run(c, &params, NULL);
}

enum ec_status app_batch(const struct app_context *c)
{
    struct ec_error error = {0};
    struct app_job_list list = {0};
    enum ec_status status = EC_OK;
    int failed = 0, done = 0;
    if (app_job_list_make(&list, c->options, &error) || app_report_files_check_batch(c->options, &list, &error) ||
        make_folder(c->options->out_dir, &error))
        goto fail;

    for (; done < list.count && status != EC_STOPPED; done++) {
        status = run_job(c, &list, &list.jobs[done]);
        failed += status != EC_OK && status != EC_STOPPED;
        if (app_signals_caught(c->signals) != 0)
            status = EC_STOPPED;
    }
    if (list.count > 1 && failed > 0)
        ec_log(&c->logger, EC_LOG_ERROR, "%d of %d inputs failed", failed, list.count);
    app_job_list_free(&list);
    return status == EC_STOPPED ? EC_STOPPED : failed > 0 ? EC_ERROR_FRAMES : EC_OK;

fail:
    ec_log(&c->logger, EC_LOG_ERROR, "%s", error.text);
    app_job_list_free(&list);
    return error.status;
}
