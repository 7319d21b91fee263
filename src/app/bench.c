#include "app/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench_report.h"
#include "app/tune.h"

#define BACKENDS 2

/* The pipelines of a benchmark are many: their notices are left out. */
static void forward_problem(void *opaque, enum ec_log_level level, const char *text)
{
    const struct ec_logger *logger = opaque;
    if (level <= EC_LOG_WARNING)
        ec_log(logger, level, "%s", text);
}

/* The backends that were asked for, or else that work here. */
static enum ec_status choose_backends(struct bench_backend backends[BACKENDS], int *count, const struct app_context *c,
                                      const struct ec_pipeline_params *params, const struct bench_picture *picture)
{
    static const struct {
        enum ec_backend_kind kind;
        const struct ec_backend *ops;
    } known[BACKENDS] = {{EC_BACKEND_CPU, &ec_backend_cpu}, {EC_BACKEND_CUDA, &ec_backend_cuda}};
    const enum ec_backend_kind wanted = params->device.backend;
    for (int i = 0; i < BACKENDS; i++) {
        if (wanted != EC_BACKEND_AUTO && wanted != known[i].kind)
            continue;
        struct ec_error error = {0};
        struct ec_device_params device = params->device;
        device.backend = known[i].kind;
        backends[*count] = (struct bench_backend){.kind = known[i].kind, .ops = known[i].ops};
        if (bench_backend_measure(&backends[*count], &device, picture, &params->logger, &error) == EC_OK) {
            (*count)++;
        } else if (wanted == EC_BACKEND_AUTO && known[i].kind == EC_BACKEND_CUDA) {
            ec_log(&c->logger, EC_LOG_NOTICE, "only the CPU is measured: %s", error.text);
        } else {
            ec_log(&c->logger, EC_LOG_ERROR, "%s", error.text);
            return error.status;
        }
    }
    return EC_OK;
}

/* Each line at once: the next one takes a while. */
static enum ec_status flush(FILE *table, const struct app_context *c)
{
    if (fflush(table) == 0)
        return EC_OK;
    ec_log(&c->logger, EC_LOG_ERROR, "the table cannot be written to standard output: %s", strerror(errno));
    return EC_ERROR_OUTPUT;
}

struct bench {
    struct bench_picture picture;
    struct bench_backend backends[BACKENDS];
    struct bench_result results[BACKENDS * EC_OPERATOR_COUNT];
    int backend_count, result_count;
};

static enum ec_status measure_kernels(struct bench *b, const struct app_context *c, const struct ec_pipeline_params *params,
                                      FILE *table)
{
    bench_print_kernels_header(table);
    for (int i = 0; i < c->options->operator_count; i++) {
        for (int k = 0; k < b->backend_count; k++) {
            struct ec_error error = {0};
            struct bench_result *result = &b->results[b->result_count];
            if (bench_kernels_measure(result, &b->backends[k], c->options->operators[i], params, &b->picture, &error)) {
                ec_log(&c->logger, EC_LOG_ERROR, "%s", error.text);
                return error.status;
            }
            bench_print_kernels(table, result);
            b->result_count++;
            if (flush(table, c))
                return EC_ERROR_OUTPUT;
            if (app_signals_caught(c->signals))
                return EC_STOPPED;
        }
    }
    return EC_OK;
}

static enum ec_status measure_runs(struct bench *b, const struct app_context *c, const struct ec_pipeline_params *params,
                                   FILE *table)
{
    bench_print_runs_header(table);
    for (int i = 0; i < b->result_count; i++) {
        const enum ec_status status = bench_run_measure(&b->results[i], c, params, &b->picture);
        if (status)
            return status;
        bench_print_run(table, &b->results[i]);
        if (flush(table, c))
            return EC_ERROR_OUTPUT;
    }
    return EC_OK;
}

static enum ec_status measure(struct bench *b, const struct app_context *c, const struct ec_pipeline_params *params)
{
    struct ec_error error = {0};
    FILE *table = c->options->stats && strcmp(c->options->stats, "-") == 0 ? stderr : stdout;
    if (bench_picture_parse(&b->picture, params->input, &error)) {
        ec_log(&c->logger, EC_LOG_ERROR, "%s", error.text);
        return error.status;
    }
    if (c->options->tune)
        return app_tune(c, params, &b->picture, table);
    enum ec_status status = choose_backends(b->backends, &b->backend_count, c, params, &b->picture);
    if (status)
        return status;
    fprintf(table, "%s, medians\n", params->input);
    for (int i = 0; i < b->backend_count; i++)
        bench_print_limits(table, &b->backends[i]);
    status = measure_kernels(b, c, params, table);
    if (status == EC_OK && !c->options->bench_kernels)
        status = measure_runs(b, c, params, table);
    if (status == EC_OK && c->stats)
        status = app_json_file_add(
            c->stats, bench_json(b->backends, b->backend_count, b->results, b->result_count, params, &b->picture), &c->logger);
    return status;
}

enum ec_status app_bench(const struct app_context *c)
{
    struct ec_logger logger = c->logger;
    struct ec_pipeline_params params = c->options->pipeline;
    struct bench *bench = calloc(1, sizeof *bench);
    if (!bench) {
        ec_log(&c->logger, EC_LOG_ERROR, "out of memory for a benchmark");
        return EC_ERROR_MEMORY;
    }
    params.output = NULL;
    params.display = params.hash = params.realtime = false;
    params.null_sink = true;
    params.logger = params.edge.logger = (struct ec_logger){.message = forward_problem, .opaque = &logger};
    const enum ec_status status = measure(bench, c, &params);
    free(bench);
    return status;
}
