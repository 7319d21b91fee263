#include "app/run.h"

#include <string.h>

#include "app/report.h"
#include "app/stats_json.h"

struct run {
    const struct app_context *context;
    const struct ec_pipeline_params *params;
    struct ec_pipeline *pipeline;
};

static enum ec_status add_stats(const struct run *r, const struct ec_stats *stats)
{
    const struct app_context *c = r->context;
    return c->stats ? app_json_file_add(c->stats, app_stats_json(r->params, stats), &c->logger) : EC_OK;
}

/* The process ends while nobody reads its standard output: what was measured is still worth its file. */
static void last_words(void *opaque)
{
    const struct run *r = opaque;
    struct ec_stats stats;
    if (strcmp(r->context->options->stats ? r->context->options->stats : "-", "-") == 0)
        return;
    ec_pipeline_stats(r->pipeline, &stats);
    add_stats(r, &stats);
}

static enum ec_status run_open(struct run *r, struct app_progress *progress, double weight)
{
    const struct app_context *c = r->context;
    const struct app_watched watched = {
        .pipeline = r->pipeline,
        .writes_file = (r->params->output && strcmp(r->params->output, "-") != 0) || r->params->trace,
        .last_words = last_words,
        .opaque = r,
    };
    app_signals_watch(c->signals, &watched);
    app_progress_join(progress, r->pipeline, weight);
    const enum ec_status status = ec_pipeline_run(r->pipeline);
    app_progress_leave(progress, r->pipeline);
    app_signals_unwatch(c->signals, r->pipeline);
    return status;
}

static enum ec_status run_alone(struct run *r)
{
    const struct app_options *o = r->context->options;
    const struct app_progress_params params = {.log = r->context->log, .kind = o->progress, .level = o->log_level};
    struct app_progress *progress = app_progress_start(&params);
    const enum ec_status status = run_open(r, progress, 0);
    app_progress_stop(&progress);
    return status;
}

enum ec_status app_run(const struct app_context *c, const struct ec_pipeline_params *params, const struct app_run_share *share,
                       struct ec_stats *stats)
{
    struct run run = {.context = c, .params = params};
    struct ec_stats last = app_stats_unknown;
    enum ec_status status = ec_pipeline_open(&run.pipeline, params);
    const bool opened = status == EC_OK;
    if (opened) {
        status = share ? run_open(&run, share->progress, share->weight) : run_alone(&run);
        ec_pipeline_stats(run.pipeline, &last);
        if (status == EC_OK || status == EC_STOPPED || status == EC_ERROR_FRAMES)
            app_report_summary(&params->logger, params, &last);
        if (status == EC_OK && !share)
            app_report_bottleneck(&params->logger, &last);
    }
    /* Of many inputs each gets its line, the one that could not be opened too. */
    if ((opened || share) && add_stats(&run, &last) && (status == EC_OK || status == EC_STOPPED))
        status = EC_ERROR_OUTPUT;
    ec_pipeline_close(&run.pipeline);
    if (stats)
        *stats = last;
    return status;
}

int app_exit_status(enum ec_status status, int signal_number)
{
    if (signal_number != 0 && (status == EC_STOPPED || status == EC_ERROR_FRAMES))
        return 128 + signal_number;
    switch (status) {
    case EC_STOPPED: /* the window was closed, or the reader of standard output had enough */
        return EC_OK;
    case EC_ERROR_MEMORY:
        return EC_ERROR_FRAMES;
    default:
        return (int)status;
    }
}
