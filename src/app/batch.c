#include "app/batch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/batch_report.h"
#include "app/journal.h"
#include "app/report_files.h"
#include "app/stats_json.h"
#include "edge/backend.h"
#include "edge/workers.h"
#include "pipeline/frame.h"

struct batch {
    const struct app_context *context;
    struct app_job_list list;
    struct app_journal *journal;
    struct app_progress *progress;
    int threads; /* for each job; 0: as the parameters say */
    int gpus; /* which jobs take in turn; 0: as the parameters say */
    int64_t begin_ns;
    pthread_mutex_t lock; /* guards what follows */
    int next, workers; /* the next job; threads that take them */
    bool stopped;
    bool report_failed;
    struct app_outcome *outcomes; /* each written by the thread that has its job */
};

/* One job's messages: passed on, and the first that tells of trouble kept. */
struct job_log {
    struct ec_logger logger;
    pthread_mutex_t lock; /* guards what follows */
    enum ec_log_level level;
    char *message;
};

static void take_message(void *opaque, enum ec_log_level level, const char *text)
{
    struct job_log *log = opaque;
    pthread_mutex_lock(&log->lock);
    if (level <= EC_LOG_WARNING && (!log->message || level < log->level)) {
        free(log->message);
        log->message = strdup(text);
        log->level = level;
    }
    pthread_mutex_unlock(&log->lock);
    ec_log(&log->logger, level, "%s", text);
}

static enum ec_status make_folder(const char *name, struct ec_error *error)
{
    struct stat s;
    if (mkdir(name, 0777) == 0)
        return EC_OK;
    if (errno != EEXIST)
        return ec_fail(error, EC_ERROR_OUTPUT, "the folder '%s' cannot be made: %s", name, strerror(errno));
    if (stat(name, &s) != 0 || !S_ISDIR(s.st_mode))
        return ec_fail(error, EC_ERROR_OUTPUT, "'%s' is not a folder", name);
    return EC_OK;
}

/* The folders between --out-dir and the output. */
static enum ec_status make_folders(const char *out_dir, const char *output, struct ec_error *error)
{
    char *path = strdup(output);
    if (!path)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    for (char *slash = strchr(path + strlen(out_dir) + 1, '/'); slash && !error->status; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        make_folder(path, error);
        *slash = '/';
    }
    free(path);
    return error->status;
}

/* Whether the job has to run: *params becomes its, or *error says what stands in the way. */
static bool prepare(const struct batch *b, const struct app_job *job, int worker, struct ec_pipeline_params *params,
                    struct ec_error *error)
{
    const struct app_options *o = b->context->options;
    if (!job->output) {
        ec_fail(error, EC_ERROR_INPUT, "%s: %s", job->input, job->problem);
        return false;
    }
    const char *victim = app_job_list_victim(&b->list, job);
    if (victim) {
        ec_fail(error, EC_ERROR_OUTPUT, "%s: its output '%s' is the input '%s'", job->input, job->output, victim);
        return false;
    }
    const enum app_journal_answer answer = o->resume ? app_journal_ask(b->journal, job) : APP_JOURNAL_UNKNOWN;
    if (answer == APP_JOURNAL_CURRENT || make_folders(o->out_dir, job->output, error))
        return false;
    params->input = job->input;
    params->output = job->output;
    params->overwrite |= answer == APP_JOURNAL_OLD;
    if (b->threads > 0)
        params->device.threads = params->decoder_threads = params->encoder_threads = b->threads;
    if (b->gpus > 0)
        params->device.gpu = worker % b->gpus;
    return true;
}

static struct app_outcome run_job(struct batch *b, const struct app_job *job, int worker)
{
    const struct app_context *c = b->context;
    struct job_log log = {.logger = c->logger, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct ec_pipeline_params params = c->options->pipeline;
    struct ec_stats stats = app_stats_unknown;
    struct ec_error error = {0};
    enum ec_status status = EC_OK;
    params.logger = params.edge.logger = (struct ec_logger){.message = take_message, .opaque = &log};
    if (prepare(b, job, worker, &params, &error)) {
        const struct app_run_share share = {.progress = b->progress, .weight = job->bytes};
        status = app_run(c, &params, &share, &stats);
        if (stats.frames_out > 0 && (status == EC_OK || status == EC_ERROR_FRAMES || status == EC_STOPPED))
            app_journal_add(b->journal, job, status != EC_STOPPED, &c->logger);
    } else if (error.status == EC_OK) {
        return (struct app_outcome){.kind = APP_OUTCOME_SKIPPED, .frames_in = -1, .frames_out = -1, .frames_damaged = -1};
    } else {
        status = error.status;
        ec_log(&params.logger, EC_LOG_ERROR, "%s", error.text);
        if (c->stats)
            app_json_file_add(c->stats, app_stats_json(&params, &stats), &c->logger);
    }
    return app_outcome_of_run(status, &stats, log.message);
}

/* The index of a job that nobody has taken; -1: there is none, or it is over. */
static int take_job(struct batch *b)
{
    pthread_mutex_lock(&b->lock);
    b->stopped |= app_signals_caught(b->context->signals) != 0;
    const int taken = b->stopped || b->next == b->list.count ? -1 : b->next++;
    pthread_mutex_unlock(&b->lock);
    return taken;
}

static void end_job(struct batch *b, int index, struct app_outcome outcome)
{
    const struct app_context *c = b->context;
    const struct app_job *job = &b->list.jobs[index];
    const bool failed = c->report && app_json_file_add(c->report, app_outcome_json(job, &outcome), &c->logger) != EC_OK;
    app_progress_file(b->progress, app_outcome_is_failure(&outcome), job->bytes);
    pthread_mutex_lock(&b->lock);
    b->outcomes[index] = outcome;
    b->stopped |= outcome.kind == APP_OUTCOME_STOPPED;
    b->report_failed |= failed;
    pthread_mutex_unlock(&b->lock);
}

static void *work(void *opaque)
{
    struct batch *b = opaque;
    pthread_mutex_lock(&b->lock);
    const int worker = b->workers++;
    pthread_mutex_unlock(&b->lock);
    for (int index = take_job(b); index >= 0; index = take_job(b))
        end_job(b, index, run_job(b, &b->list.jobs[index], worker));
    return NULL;
}

/* This thread works too; fewer threads than wished for do the same work. */
static void run_jobs(struct batch *b, int jobs)
{
    pthread_t threads[APP_JOBS_MAX];
    int count = 0;
    while (count + 1 < jobs && pthread_create(&threads[count], NULL, work, b) == 0)
        count++;
    work(b);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static enum ec_status conclude(struct batch *b)
{
    const struct app_context *c = b->context;
    int failed = 0;
    for (int i = 0; i < b->list.count; i++) {
        failed += app_outcome_is_failure(&b->outcomes[i]);
        if (c->report && b->outcomes[i].kind == APP_OUTCOME_NONE &&
            app_json_file_add(c->report, app_outcome_json(&b->list.jobs[i], &b->outcomes[i]), &c->logger))
            b->report_failed = true;
    }
    if (b->list.count > 1 && c->options->log_level >= EC_LOG_NOTICE)
        app_batch_table(c->log, &b->list, b->outcomes, (double)(ec_now_ns() - b->begin_ns) / 1e9);
    if (b->list.count > 1 && failed > 0)
        ec_log(&c->logger, EC_LOG_ERROR, "%d of %d inputs failed", failed, b->list.count);
    if (b->stopped)
        return EC_STOPPED;
    return failed > 0 ? EC_ERROR_FRAMES : b->report_failed ? EC_ERROR_OUTPUT : EC_OK;
}

static enum ec_status open_batch(struct batch *b, struct ec_error *error)
{
    const struct app_options *o = b->context->options;
    if (app_job_list_make(&b->list, o, error) || app_report_files_check_batch(o, &b->list, error) ||
        make_folder(o->out_dir, error) || app_journal_open(&b->journal, o->out_dir, o->recipe, error))
        return error->status;
    b->outcomes = malloc((size_t)(b->list.count ? b->list.count : 1) * sizeof *b->outcomes);
    if (!b->outcomes)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the list of inputs");
    struct app_progress_params progress = {.log = b->context->log, .kind = o->progress, .level = o->log_level};
    for (int i = 0; i < b->list.count; i++) {
        b->outcomes[i] = app_outcome_none;
        progress.weight += b->list.jobs[i].bytes;
    }
    progress.files = b->list.count;
    b->progress = app_progress_start(&progress);
    return EC_OK;
}

static void close_batch(struct batch *b)
{
    for (int i = 0; b->outcomes && i < b->list.count; i++)
        free(b->outcomes[i].message);
    free(b->outcomes);
    app_journal_close(&b->journal);
    app_job_list_free(&b->list);
    pthread_mutex_destroy(&b->lock);
}

/* What each of several jobs gets: its part of the cores, and where all GPUs are to work one of them. */
static enum ec_status share_out(struct batch *b, int jobs, struct ec_error *error)
{
    const struct ec_device_params *device = &b->context->options->pipeline.device;
    const int cores = ec_workers_cores() / jobs;
    if (device->threads == 0)
        b->threads = cores > 1 ? cores : 1;
    if (device->gpu != EC_GPU_ALL)
        return EC_OK;
    struct ec_device *all = NULL;
    struct ec_device_info info = {0};
    if (ec_backend_cuda.open(&all, device, &b->context->logger, error) == EC_OK) {
        ec_backend_cuda.describe(all, &info);
        ec_backend_cuda.close(&all);
        b->gpus = info.gpu_count;
    }
    return error->status;
}

enum ec_status app_batch(const struct app_context *c)
{
    struct ec_error error = {0};
    struct batch batch = {.context = c, .begin_ns = ec_now_ns(), .lock = PTHREAD_MUTEX_INITIALIZER};
    enum ec_status status = open_batch(&batch, &error);
    const int wished = c->options->jobs > 0 ? c->options->jobs : 1;
    const int jobs = wished < batch.list.count ? wished : batch.list.count;
    if (status == EC_OK && jobs > 1)
        status = share_out(&batch, jobs, &error);
    if (status == EC_OK) {
        run_jobs(&batch, jobs);
        app_progress_stop(&batch.progress);
        status = conclude(&batch);
    } else {
        app_progress_stop(&batch.progress);
        ec_log(&c->logger, EC_LOG_ERROR, "%s", error.text);
    }
    close_batch(&batch);
    return status;
}
