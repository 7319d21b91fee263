#include "app/bench.h"

#include <stdio.h>
#include <string.h>

#include "app/bench_report.h"

#define BACKENDS 2

/* The pipelines of a benchmark are many: their notices are left out. */
static void forward_problem(void *opaque, enum ec_log_level level, const char *text)
{
    const struct ec_logger *logger = opaque;
    if (level <= EC_LOG_WARNING)
        ec_log(logger, level, "%s", text);
}

/* The limits are measured with blocks of one frame; its size is in the name of the input, "cycle:WxH@FPS". */
static size_t block_bytes(const char *input)
{
    unsigned width = 0, height = 0;
    if (sscanf(input, "cycle:%5ux%5u", &width, &height) != 2 || width == 0 || height == 0)
        return 4096;
    return (size_t)width * height;
}

/* The backends that were asked for, or else that work here. */
static enum ec_status choose_backends(struct bench_backend backends[BACKENDS], int *count, const struct app_context *c,
                                      const struct ec_pipeline_params *params)
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
        if (bench_backend_measure(&backends[*count], &device, block_bytes(params->input), &params->logger, &error) == EC_OK) {
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

enum ec_status app_bench(const struct app_context *c)
{
    struct ec_logger logger = c->logger;
    struct bench_backend backends[BACKENDS];
    struct bench_result results[BACKENDS * EC_OPERATOR_COUNT];
    int backend_count = 0, result_count = 0;
    FILE *table = c->options->stats && strcmp(c->options->stats, "-") == 0 ? stderr : stdout;
    struct ec_pipeline_params params = c->options->pipeline;
    params.output = NULL;
    params.display = params.hash = params.realtime = false;
    params.null_sink = true;
    params.logger = (struct ec_logger){.message = forward_problem, .opaque = &logger};

    enum ec_status status = choose_backends(backends, &backend_count, c, &params);
    if (status)
        return status;
    fprintf(table, "%s, medians of %d runs\n", params.input, BENCH_REPETITIONS);
    for (int b = 0; b < backend_count; b++)
        bench_print_limits(table, &backends[b]);
    bench_print_header(table);
    for (int i = 0; i < c->options->operator_count; i++) {
        for (int b = 0; b < backend_count; b++) {
            struct bench_result *result = &results[result_count];
            status = bench_result_measure(result, &backends[b], c->options->operators[i], c, &params);
            if (status)
                return status;
            bench_print_result(table, result);
            fflush(table);
            result_count++;
        }
    }
    if (c->stats)
        return app_stats_file_add_json(c->stats, bench_json(backends, backend_count, results, result_count, &params),
                                       &c->logger);
    return EC_OK;
}
