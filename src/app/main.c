/* The program: the command line -> one of its tasks -> an exit status.
 *
 * A run is app_run (run.c): a pipeline is opened, watched by the signal thread and the progress thread, run on this thread, and
 * its statistics are reported. A batch (batch.c) does that for each input, a benchmark (bench.c) for each operator and
 * backend. Everything else of the program is text. */
#include <libavutil/log.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/batch.h"
#include "app/bench.h"
#include "app/doctor.h"
#include "app/help.h"
#include "app/list.h"
#include "app/options.h"
#include "app/report_files.h"
#include "app/run.h"
#include "app/tuning.h"

static enum ec_status run_task(const struct app_context *c, struct app_options *options)
{
    if (c->options->task == APP_BENCH)
        return app_bench(c);
    app_tuning_apply(&options->pipeline);
    if (c->options->out_dir)
        return app_batch(c);
    return app_run(c, &c->options->pipeline, NULL, NULL);
}

static enum ec_status open_report(struct app_json_file **out, const char *option, const char *what, const char *name,
                                  const struct app_options *options, struct ec_error *error)
{
    const struct app_json_file_params params = {option, what, name, options->inputs, options->input_count};
    return name ? app_json_file_open(out, &params, error) : EC_OK;
}

static int run_videos(struct app_options *options)
{
    struct app_context c = {.options = options};
    struct ec_error error = {0};
    int exit_status = EC_ERROR_FRAMES;
    c.signals = app_signals_open();
    c.log = app_log_open(options->log_level);
    if (!c.signals || !c.log) {
        fputs("edgecam: out of memory\n", stderr);
        goto done;
    }
    c.logger = app_log_logger(c.log);
    options->pipeline.logger = options->pipeline.edge.logger = c.logger;
    options->pipeline.cancel = app_signals_cancel(c.signals);
    options->pipeline.measure_limits = options->stats && options->task == APP_RUN;
    if (app_report_files_check(options, &error) ||
        open_report(&c.stats, "--stats", "statistics", options->stats, options, &error) ||
        open_report(&c.report, "--report", "the report", options->report, options, &error)) {
        ec_log(&c.logger, EC_LOG_ERROR, "%s", error.text);
        exit_status = app_exit_status(error.status, 0);
        goto done;
    }
    const enum ec_status status = run_task(&c, options);
    exit_status = app_exit_status(status, app_signals_caught(c.signals));

done:
    app_json_file_close(&c.stats);
    app_json_file_close(&c.report);
    app_log_close(&c.log);
    app_signals_close(&c.signals);
    return exit_status;
}

int main(int argc, char **argv)
{
    struct app_options options = {0};
    struct ec_error error = {0};
    int exit_status = EC_OK;
    av_log_set_level(AV_LOG_QUIET); /* until there is a log that takes FFmpeg's messages */
    setenv("SVT_LOG", "1", 0); /* the AV1 encoder writes pages on standard error otherwise */
    if (app_options_parse(&options, argc, argv, &error)) {
        fprintf(stderr, "edgecam: %s\n", error.text);
        exit_status = app_exit_status(error.status, 0);
    } else {
        switch (options.task) {
        case APP_HELP:
            app_print_help();
            break;
        case APP_VERSION:
            app_print_version();
            break;
        case APP_LIST:
            app_print_list();
            break;
        case APP_DOCTOR:
            exit_status = app_exit_status(app_doctor(&options), 0);
            break;
        case APP_RUN:
        case APP_BENCH:
            exit_status = run_videos(&options);
        }
    }
    app_options_free(&options);
    if (fflush(stdout) != 0 && exit_status == EC_OK) {
        perror("edgecam: standard output");
        exit_status = EC_ERROR_OUTPUT;
    }
    return exit_status;
}
