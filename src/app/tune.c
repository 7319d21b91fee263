#include "app/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench_trial.h"
#include "app/tuning.h"

/* A choice must be better than the default by more than measurements scatter. */
#define WORTHWHILE 0.985
#define LANE_TRIALS 5
#define LANE_FRAMES 2000

struct tuner {
    const struct app_context *context;
    const struct bench_picture *picture;
    struct ec_pipeline_params params;
    FILE *table;
    struct app_tuning found;
    struct ec_device_info device;
};

/* Microseconds a frame, four in flight, of one choice; NaN: its bytes are not the default's, which *expected holds (NULL: this
 * is the default, and fills it). */
static enum ec_status measure_choice(struct tuner *t, const struct ec_tuning *choice, uint8_t **expected, double *us,
                                     struct ec_error *error)
{
    struct bench_trial *trial = NULL;
    struct ec_throughput throughput;
    *us = NAN;
    t->params.device.tuning = *choice;
    enum ec_status status = bench_trial_open(&trial, &ec_backend_cuda, &t->params, t->picture, error);
    if (status == EC_OK)
        status = bench_trial_run(trial, error);
    if (status != EC_OK)
        goto done;
    const size_t bytes = (size_t)trial->out.pitch_bytes * (size_t)trial->out.height_px;
    if (!*expected && (*expected = malloc(bytes)))
        memcpy(*expected, trial->out.data, bytes);
    if (!*expected) {
        status =
            ec_fail(error, EC_ERROR_MEMORY, "out of memory for a result of %dx%d", t->picture->width_px, t->picture->height_px);
    } else if (memcmp(*expected, trial->out.data, bytes) == 0) {
        status = trial->ops->throughput(trial->device, &trial->plan, &trial->in, &throughput, error);
        *us = status == EC_OK ? throughput.parallel.frame_us.median : NAN;
    }
    ec_backend_cuda.describe(trial->device, &t->device);
done:
    bench_trial_close(&trial);
    return status;
}

/* What the backend can choose from for this operator. */
static enum ec_status list_choices(struct tuner *t, struct ec_tuning *choices, int *count, struct ec_error *error)
{
    struct bench_trial *trial = NULL;
    t->params.device.tuning = (struct ec_tuning){0};
    const enum ec_status status = bench_trial_open(&trial, &ec_backend_cuda, &t->params, t->picture, error);
    *count = status == EC_OK && trial->ops->tunings ? trial->ops->tunings(&trial->plan, choices) : 0;
    bench_trial_close(&trial);
    return status;
}

static enum ec_status tune_operator(struct tuner *t, enum ec_operator op, enum ec_norm norm, struct ec_error *error)
{
    struct ec_tuning choices[EC_TUNINGS_MAX];
    uint8_t *expected = NULL;
    double usual = NAN, best = NAN;
    t->params.edge.op = op;
    t->params.edge.norm = norm;
    int count = 0;
    struct ec_tuning *kept = &t->found.operators[op][norm];
    enum ec_status status = list_choices(t, choices, &count, error);
    if (status == EC_OK)
        status = measure_choice(t, &(struct ec_tuning){0}, &expected, &usual, error);
    best = usual;
    for (int i = 0; i < count && status == EC_OK; i++) {
        double us;
        status = measure_choice(t, &choices[i], &expected, &us, error);
        if (status == EC_OK && isnan(us))
            ec_log(&t->context->logger, EC_LOG_WARNING, "%s in blocks of %d threads with %d rows each gives other bytes",
                   ec_operator_name(op), choices[i].block_threads, choices[i].rows_per_thread);
        if (us < best && us < usual * WORTHWHILE) {
            best = us;
            *kept = choices[i];
        }
        if (app_signals_caught(t->context->signals))
            status = EC_STOPPED;
    }
    free(expected);
    if (status != EC_OK)
        return status;
    fprintf(t->table, "%-14s %-3s %9.2f", ec_operator_name(op), norm == EC_NORM_L1 ? "l1" : "l2", usual);
    if (kept->block_threads)
        fprintf(t->table, kept->rows_per_thread ? "  %9.2f  %d threads, %d rows each\n" : "  %9.2f  %d threads\n", best,
                kept->block_threads, kept->rows_per_thread);
    else
        fprintf(t->table, "  %9s  the default of %d choices\n", "-", count);
    fflush(t->table);
    return EC_OK;
}

/* Two norms where the operator has them. */
static int norms_of(enum ec_operator op)
{
    return op <= EC_OPERATOR_ROBERTS || op == EC_OPERATOR_CANNY ? 2 : 1;
}

/* The fewest lanes within a hundredth of the best rate: every lane costs memory and latency. */
static enum ec_status tune_lanes(struct tuner *t, enum ec_operator op)
{
    static const int tries[] = {2, 3, 4, 6, 8};
    enum { COUNT = sizeof tries / sizeof *tries };
    double fps[COUNT][LANE_TRIALS];
    struct ec_pipeline_params params = t->params;
    params.edge.op = op;
    params.edge.norm = EC_NORM_L2;
    params.max_frames = params.max_frames ? params.max_frames : LANE_FRAMES;
    params.device.tuning = t->found.operators[op][EC_NORM_L2];
    /* In turn, so that a machine that changes meanwhile changes for all. */
    for (int n = -1; n < LANE_TRIALS; n++)
        for (int i = 0; i < COUNT; i++) {
            struct ec_stats stats;
            params.lanes = tries[i];
            const enum ec_status status = bench_run_once(t->context, &params, &stats);
            if (status != EC_OK)
                return status;
            if (n >= 0)
                fps[i][n] = stats.fps;
        }
    double best = 0;
    for (int i = 0; i < COUNT; i++)
        best = fmax(best, ec_spread_of(fps[i], LANE_TRIALS).median);
    for (int i = COUNT - 1; i >= 0; i--)
        if (ec_spread_of(fps[i], LANE_TRIALS).median >= 0.99 * best)
            t->found.lanes = tries[i];
    for (int i = 0; i < COUNT; i++)
        fprintf(t->table, "%d lanes: %.0f fps%s", tries[i], ec_spread_of(fps[i], LANE_TRIALS).median,
                i + 1 < COUNT ? ", " : "");
    fprintf(t->table, "; %d it is\n", t->found.lanes);
    return EC_OK;
}

/* What earlier runs found for other operators stays. */
static void keep_others(struct tuner *t, const char *path)
{
    const struct app_options *o = t->context->options;
    struct app_tuning all;
    if (!app_tuning_load(&all, path, &t->device))
        return;
    for (int i = 0; i < o->operator_count; i++)
        memcpy(all.operators[o->operators[i]], t->found.operators[o->operators[i]], sizeof all.operators[0]);
    all.lanes = t->found.lanes;
    t->found = all;
}

static enum ec_status save(struct tuner *t, struct ec_error *error)
{
    char *folder = app_tuning_folder(), *path = folder ? app_tuning_path(folder, &t->device) : NULL;
    if (path)
        keep_others(t, path);
    enum ec_status status = path ? app_tuning_save(&t->found, folder, path, &t->device, error)
                                 : ec_fail(error, EC_ERROR_OUTPUT,
                                           "there is no folder to keep the result in: neither XDG_CACHE_HOME nor HOME is set");
    if (status == EC_OK)
        fprintf(t->table, "kept in %s\n", path);
    free(path);
    free(folder);
    return status;
}

enum ec_status app_tune(const struct app_context *c, const struct ec_pipeline_params *params,
                        const struct bench_picture *picture, FILE *table)
{
    struct ec_error error = {0};
    struct tuner t = {.context = c, .picture = picture, .params = *params, .table = table};
    enum ec_status status = EC_OK;
    t.params.device.backend = EC_BACKEND_CUDA;
    fprintf(table, "%s, us a frame\n%-18s %9s  %9s  %s\n", params->input, "operator", "default", "best", "choice");
    for (int i = 0; i < c->options->operator_count && status == EC_OK; i++) {
        const enum ec_operator op = c->options->operators[i];
        for (int norm = 0; norm < norms_of(op) && status == EC_OK; norm++)
            status = tune_operator(&t, op, (enum ec_norm)norm, &error);
    }
    if (status == EC_OK)
        status = tune_lanes(&t, c->options->operators[0]);
    if (status == EC_OK)
        status = save(&t, &error);
    if (error.status)
        ec_log(&c->logger, EC_LOG_ERROR, "%s", error.text);
    return status;
}
