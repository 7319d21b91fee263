#include "app/run.h"

#include <string.h>

#include "app/progress.h"
#include "app/report.h"

enum ec_status app_run(const struct app_context *c, const struct ec_pipeline_params *params, struct ec_stats *stats)
{
    struct ec_pipeline *pipeline = NULL;
    struct ec_stats last = {0};
    enum ec_status status = ec_pipeline_open(&pipeline, params);
    if (status == EC_OK) {
        const bool writes_file = (params->output && strcmp(params->output, "-") != 0) || params->trace || c->stats;
        app_signals_watch(c->signals, pipeline, writes_file);
        struct app_progress *progress = app_progress_start(pipeline, c->log, c->options->progress, c->options->log_level);
        status = ec_pipeline_run(pipeline);
        app_progress_stop(&progress);
        app_signals_watch(c->signals, NULL, false);
        ec_pipeline_stats(pipeline, &last);
        if (status == EC_OK || status == EC_STOPPED || status == EC_ERROR_FRAMES)
            app_report_summary(&c->logger, params, &last);
        if (status == EC_OK && !c->options->out_dir)
            app_report_bottleneck(&c->logger, &last);
        if (c->stats && app_stats_file_add(c->stats, params, &last, &c->logger) && (status == EC_OK || status == EC_STOPPED))
            status = EC_ERROR_OUTPUT;
        ec_pipeline_close(&pipeline);
    }
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
