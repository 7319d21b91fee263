#include "app/batch_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/log.h"
#include "app/run.h"
#include "app/stats_json.h"

static const char *const names[] = {
    [APP_OUTCOME_NONE] = "not started", [APP_OUTCOME_DONE] = "done",     [APP_OUTCOME_SKIPPED] = "skipped",
    [APP_OUTCOME_DAMAGED] = "damaged",  [APP_OUTCOME_FAILED] = "failed", [APP_OUTCOME_STOPPED] = "stopped",
};
#define KINDS (sizeof names / sizeof *names)

const struct app_outcome app_outcome_none = {.frames_in = -1, .frames_out = -1, .frames_damaged = -1, .wall_s = NAN};

struct app_outcome app_outcome_of_run(enum ec_status status, const struct ec_stats *stats, char *message)
{
    struct app_outcome outcome = {
        .kind = APP_OUTCOME_FAILED,
        .status = status,
        .frames_in = stats->frames_in,
        .frames_out = stats->frames_out,
        .frames_damaged = stats->frames_damaged,
        .wall_s = stats->wall_s,
        .message = message,
    };
    if (status == EC_OK)
        outcome.kind = APP_OUTCOME_DONE;
    else if (status == EC_STOPPED)
        outcome.kind = APP_OUTCOME_STOPPED;
    else if (status == EC_ERROR_FRAMES && stats->frames_out > 0)
        outcome.kind = APP_OUTCOME_DAMAGED;
    return outcome;
}

bool app_outcome_is_failure(const struct app_outcome *outcome)
{
    return outcome->kind == APP_OUTCOME_FAILED || outcome->kind == APP_OUTCOME_DAMAGED;
}

json_t *app_outcome_json(const struct app_job *job, const struct app_outcome *o)
{
    json_t *object = json_object(), *frames = json_object();
    app_json_set_text(object, "schema", "edgecam.report/1");
    app_json_set_text(object, "input", job->input);
    app_json_set_text(object, "output", job->output);
    app_json_set_text(object, "result", names[o->kind]);
    app_json_set_integer(object, "status", o->kind == APP_OUTCOME_NONE ? -1 : app_exit_status(o->status, 0));
    app_json_set_text(object, "message", o->message);
    app_json_set_integer(frames, "in", o->frames_in);
    app_json_set_integer(frames, "out", o->frames_out);
    app_json_set_integer(frames, "damaged", o->frames_damaged);
    json_object_set_new(object, "frames", frames);
    app_json_set_number(object, "wall_s", o->wall_s);
    return object;
}

static void print_row(struct app_log *log, const char *result, int64_t frames, double wall_s, const char *input)
{
    char numbers[64] = "         -         -       -", line[1024];
    if (frames >= 0 && wall_s > 0)
        snprintf(numbers, sizeof numbers, "%10" PRId64 "%10.2f%8.1f", frames, wall_s, (double)frames / wall_s);
    snprintf(line, sizeof line, "%-11s%s  %s", result, numbers, input);
    app_log_raw(log, line);
}

void app_batch_table(struct app_log *log, const struct app_job_list *list, const struct app_outcome *outcomes, double wall_s)
{
    int64_t frames = 0;
    int counts[KINDS] = {0};
    char all[200];
    snprintf(all, sizeof all, "%d file%s:", list->count, list->count == 1 ? "" : "s");
    app_log_raw(log, "result         frames   seconds     fps  input");
    for (int i = 0; i < list->count; i++) {
        const struct app_outcome *o = &outcomes[i];
        print_row(log, names[o->kind], o->frames_out, o->wall_s, list->jobs[i].input);
        counts[o->kind]++;
        frames += o->frames_out > 0 ? o->frames_out : 0;
    }
    for (size_t k = 0, used = 0; k < KINDS; k++) {
        const size_t length = strlen(all);
        if (counts[k] > 0)
            snprintf(all + length, sizeof all - length, "%s %d %s", used++ ? "," : "", counts[k], names[k]);
    }
    print_row(log, "all", frames, wall_s, all);
}
