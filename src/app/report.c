#include "app/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/stats_json.h"
#include "edge/error.h"

static void append(char *line, size_t size, const char *format, double value)
{
    const size_t used = strlen(line);
    if (isfinite(value))
        snprintf(line + used, size - used, format, value);
}

void app_report_summary(const struct ec_logger *logger, const struct ec_pipeline_params *params, const struct ec_stats *s)
{
    char line[400];
    snprintf(line, sizeof line, "%lld frame%s", (long long)s->frames_out, s->frames_out == 1 ? "" : "s");
    append(line, sizeof line, " in %.2f s", s->wall_s);
    append(line, sizeof line, ", %.1f fps", s->fps);
    append(line, sizeof line, ", %.2f times real time", s->realtime_factor);
    ec_log(logger, EC_LOG_NOTICE, "%s%s%s: %s by %s on %s%s%s%s", params->input, params->output ? " -> " : "",
           params->output ? params->output : "", line, ec_operator_name(params->edge.op), s->backend, s->device[0] ? " (" : "",
           s->device, s->device[0] ? ")" : "");
    if (s->frames_dropped > 0)
        ec_log(logger, EC_LOG_WARNING, "%s: %lld frame%s dropped, being overtaken by newer ones", params->input,
               (long long)s->frames_dropped, s->frames_dropped == 1 ? " was" : "s were");
}

void app_report_bottleneck(const struct ec_logger *logger, const struct ec_stats *s)
{
    const char *bottleneck = app_bottleneck_name(s->bottleneck);
    if (bottleneck && isfinite(s->bottleneck_busy_percent))
        ec_log(logger, EC_LOG_NOTICE, "the %s set the pace, busy %.0f %% of the time", bottleneck, s->bottleneck_busy_percent);
    if (s->advice[0])
        ec_log(logger, EC_LOG_NOTICE, "%s", s->advice);
}
