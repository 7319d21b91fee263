#include "app/progress_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/stats_json.h"

const struct app_progress_state app_progress_state_none = {
    .expected = -1, .fps = NAN, .speed = NAN, .position_s = NAN, .duration_s = NAN, .eta_s = NAN, .gpu_percent = NAN};

/* NaN when the end is not known, or nothing has come yet. */
static double eta_s(const struct ec_stats *s)
{
    if (s->frames_expected > 0 && s->fps > 0)
        return fmax(0, (double)(s->frames_expected - s->frames_out) / s->fps);
    if (s->duration_s > 0 && s->realtime_factor > 0)
        return fmax(0, (s->duration_s - s->position_s) / s->realtime_factor);
    return NAN;
}

/* How much of a run is over, 0 to 1; 0 where that is not known. */
static double share_done(const struct ec_stats *s)
{
    if (s->frames_expected > 0)
        return fmin(1, (double)s->frames_out / (double)s->frames_expected);
    return s->duration_s > 0 && s->position_s > 0 ? fmin(1, s->position_s / s->duration_s) : 0;
}

static double sum(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

void app_progress_state_add(struct app_progress_state *state, const struct ec_stats *s, double weight)
{
    state->frames += s->frames_out;
    state->expected = s->frames_expected;
    state->fps = s->fps;
    state->speed = s->realtime_factor;
    state->position_s = sum(state->position_s, s->position_s);
    state->duration_s = s->duration_s;
    state->eta_s = eta_s(s);
    state->gpu_percent = strcmp(s->backend, "cuda") == 0 ? s->gpu.utilization_mean_percent : NAN;
    state->weight_done += weight * share_done(s);
}

void app_progress_state_of_batch(struct app_progress_state *state, double wall_s, double weight)
{
    state->expected = -1;
    state->duration_s = NAN;
    state->fps = wall_s > 0 ? (double)state->frames / wall_s : NAN;
    state->speed = wall_s > 0 ? state->position_s / wall_s : NAN;
    state->eta_s = state->weight_done > 0 ? fmax(0, wall_s * (weight - state->weight_done) / state->weight_done) : NAN;
}

static void append(char *line, size_t size, const char *format, double value)
{
    const size_t used = strlen(line);
    if (isfinite(value))
        snprintf(line + used, size - used, format, value);
}

static void append_clock(char *line, size_t size, const char *label, double seconds)
{
    const size_t used = strlen(line);
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e9)
        return;
    const long whole = lround(seconds);
    if (whole >= 3600)
        snprintf(line + used, size - used, "%s%ld:%02ld:%02ld", label, whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(line + used, size - used, "%s%ld:%02ld", label, whole / 60, whole % 60);
}

void app_progress_state_line(const struct app_progress_state *s, int files, char *line, size_t size)
{
    line[0] = '\0';
    if (files > 0)
        snprintf(line, size, "%d of %d files  ", s->files_done, files);
    if (s->files_failed > 0)
        append(line, size, "%.0f failed  ", s->files_failed);
    append(line, size, "frame %.0f", (double)s->frames);
    if (s->expected > 0)
        append(line, size, " of %.0f", (double)s->expected);
    append_clock(line, size, "  at ", s->position_s);
    append(line, size, "  %.1f fps", s->fps);
    append(line, size, "  %.2fx", s->speed);
    append_clock(line, size, "  ETA ", s->eta_s);
    append(line, size, "  GPU %.0f %%", s->gpu_percent);
}

char *app_progress_state_json(const struct app_progress_state *s, int files, bool done)
{
    json_t *object = json_object();
    app_json_set_integer(object, "frame", s->frames);
    app_json_set_integer(object, "expected", s->expected);
    app_json_set_number(object, "fps", s->fps);
    app_json_set_number(object, "speed", s->speed);
    app_json_set_number(object, "position_s", s->position_s);
    app_json_set_number(object, "duration_s", s->duration_s);
    app_json_set_number(object, "eta_s", done ? 0 : s->eta_s);
    app_json_set_number(object, "gpu_percent", s->gpu_percent);
    if (files > 0) {
        app_json_set_integer(object, "files", files);
        app_json_set_integer(object, "files_done", s->files_done);
        app_json_set_integer(object, "files_failed", s->files_failed);
    }
    json_object_set_new(object, "done", json_boolean(done));
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(object);
    return text;
}
