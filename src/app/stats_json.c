#include "app/stats_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_STAGE                                                                                                          \
    {                                                                                                                          \
        NAN, NAN                                                                                                               \
    }

const struct ec_stats app_stats_unknown = {
    .width_px = -1,
    .height_px = -1,
    .depth_bits = -1,
    .frames_in = -1,
    .frames_out = -1,
    .frames_dropped = -1,
    .frames_damaged = -1,
    .frames_expected = -1,
    .wall_s = NAN,
    .fps = NAN,
    .realtime_factor = NAN,
    .position_s = NAN,
    .duration_s = NAN,
    .latency_p50_ms = NAN,
    .latency_p95_ms = NAN,
    .latency_p99_ms = NAN,
    .latency_max_ms = NAN,
    .stages = {UNKNOWN_STAGE, UNKNOWN_STAGE, UNKNOWN_STAGE, UNKNOWN_STAGE, UNKNOWN_STAGE},
    .low = {NAN, NAN, NAN},
    .high = {NAN, NAN, NAN},
    .rss_peak_bytes = -1,
    .pinned_bytes = -1,
    .bottleneck_busy_percent = NAN,
};

void app_json_set_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null());
}

void app_json_set_integer(json_t *object, const char *key, int64_t value)
{
    json_object_set_new(object, key, value >= 0 ? json_integer(value) : json_null());
}

/* File names are bytes; JSON is UTF-8. */
static json_t *text_of_bytes(const char *bytes)
{
    static const char foreign[] = "\xEF\xBF\xBD";
    char *text = calloc(strlen(bytes), sizeof foreign);
    if (!text)
        return NULL;
    char *end = text;
    for (; *bytes; bytes++) {
        if ((unsigned char)*bytes < 0x80)
            *end++ = *bytes;
        else
            end = strcpy(end, foreign) + sizeof foreign - 1;
    }
    *end = '\0';
    json_t *value = json_string(text);
    free(text);
    return value;
}

void app_json_set_text(json_t *object, const char *key, const char *text)
{
    json_t *value = NULL;
    if (text && text[0]) {
        value = json_string(text);
        if (!value)
            value = text_of_bytes(text);
    }
    json_object_set_new(object, key, value ? value : json_null());
}

const char *app_bottleneck_name(enum ec_bottleneck bottleneck)
{
    static const char *const names[] = {
        [EC_BOTTLENECK_SOURCE] = "source", [EC_BOTTLENECK_H2D] = "h2d",   [EC_BOTTLENECK_COMPUTE] = "compute",
        [EC_BOTTLENECK_D2H] = "d2h",       [EC_BOTTLENECK_SINK] = "sink",
    };
    return (size_t)bottleneck < sizeof names / sizeof *names ? names[bottleneck] : NULL;
}

static json_t *frames_json(const struct ec_stats *s)
{
    json_t *frames = json_object();
    app_json_set_integer(frames, "in", s->frames_in);
    app_json_set_integer(frames, "out", s->frames_out);
    app_json_set_integer(frames, "dropped", s->frames_dropped);
    app_json_set_integer(frames, "damaged", s->frames_damaged);
    return frames;
}

static json_t *latency_json(const struct ec_stats *s)
{
    json_t *latency = json_object();
    app_json_set_number(latency, "p50", s->latency_p50_ms);
    app_json_set_number(latency, "p95", s->latency_p95_ms);
    app_json_set_number(latency, "p99", s->latency_p99_ms);
    app_json_set_number(latency, "max", s->latency_max_ms);
    return latency;
}

static json_t *stages_json(const struct ec_stats *s)
{
    static const char *const names[EC_STAGE_COUNT] = {
        [EC_STAGE_DECODE] = "decode",       [EC_STAGE_QUEUE_IN] = "queue_in", [EC_STAGE_STAGE] = "stage",
        [EC_STAGE_QUEUE_OUT] = "queue_out", [EC_STAGE_SINK] = "sink",
    };
    json_t *stages = json_object();
    for (int i = 0; i < EC_STAGE_COUNT; i++) {
        json_t *stage = json_object();
        app_json_set_number(stage, "busy_s", s->stages[i].busy_s);
        app_json_set_number(stage, "wait_s", s->stages[i].wait_s);
        json_object_set_new(stages, names[i], stage);
    }
    return stages;
}

static json_t *engines_json(const struct ec_gpu_stats *gpu)
{
    static const char *const names[EC_ENGINE_COUNT] = {
        [EC_ENGINE_H2D] = "h2d",       [EC_ENGINE_COMPUTE] = "compute", [EC_ENGINE_D2H] = "d2h",
        [EC_ENGINE_DECODE] = "decode", [EC_ENGINE_ENCODE] = "encode",
    };
    json_t *engines = json_object();
    for (int i = 0; i < EC_ENGINE_COUNT; i++) {
        json_t *engine = json_object();
        app_json_set_number(engine, "busy_percent", gpu ? gpu->engines[i].busy_percent : NAN);
        app_json_set_integer(engine, "bytes", gpu ? gpu->engines[i].bytes : -1);
        app_json_set_number(engine, "gb_per_s", gpu ? gpu->engines[i].gb_per_s : NAN);
        app_json_set_number(engine, "limit_gb_per_s", gpu ? gpu->engines[i].limit_gb_per_s : NAN);
        json_object_set_new(engines, names[i], engine);
    }
    return engines;
}

static json_t *gpu_json(const struct ec_stats *s)
{
    const struct ec_gpu_stats *gpu = strcmp(s->backend, "cuda") == 0 ? &s->gpu : NULL;
    json_t *object = json_object(), *utilization = json_object();
    app_json_set_text(object, "name", gpu ? gpu->name : NULL);
    app_json_set_text(object, "driver", gpu ? gpu->driver : NULL);
    app_json_set_integer(object, "count", gpu ? gpu->count : -1);
    app_json_set_integer(object, "lanes", gpu ? gpu->lanes : -1);
    json_object_set_new(object, "engines", engines_json(gpu));
    app_json_set_number(object, "overlap_percent", gpu ? gpu->overlap_percent : NAN);
    app_json_set_number(utilization, "mean", gpu ? gpu->utilization_mean_percent : NAN);
    app_json_set_number(utilization, "min", gpu ? gpu->utilization_min_percent : NAN);
    app_json_set_integer(utilization, "samples", gpu ? gpu->utilization_samples : -1);
    json_object_set_new(object, "utilization_percent", utilization);
    app_json_set_integer(object, "memory_bytes", gpu ? gpu->memory_bytes : -1);
    app_json_set_number(object, "power_w", gpu ? gpu->power_w : NAN);
    app_json_set_text(object, "pcie", gpu ? gpu->pcie : NULL);
    return object;
}

static json_t *range_json(const struct ec_range_stats *range)
{
    json_t *object = json_object();
    app_json_set_number(object, "min", range->min);
    app_json_set_number(object, "mean", range->mean);
    app_json_set_number(object, "max", range->max);
    return object;
}

static json_t *thresholds_json(const struct ec_stats *s)
{
    json_t *thresholds = json_object();
    json_object_set_new(thresholds, "low", range_json(&s->low));
    json_object_set_new(thresholds, "high", range_json(&s->high));
    return thresholds;
}

json_t *app_stats_json(const struct ec_pipeline_params *params, const struct ec_stats *s)
{
    json_t *object = json_object(), *memory = json_object();
    app_json_set_text(object, "schema", "edgecam.stats/1");
    app_json_set_text(object, "input", params->input);
    app_json_set_text(object, "output", params->output);
    app_json_set_text(object, "operator", ec_operator_name(params->edge.op));
    app_json_set_integer(object, "width", s->width_px);
    app_json_set_integer(object, "height", s->height_px);
    app_json_set_integer(object, "depth", s->depth_bits);
    app_json_set_text(object, "backend", s->backend);
    app_json_set_text(object, "device", s->device);
    json_object_set_new(object, "frames", frames_json(s));
    app_json_set_number(object, "wall_s", s->wall_s);
    app_json_set_number(object, "fps", s->fps);
    app_json_set_number(object, "realtime_factor", s->realtime_factor);
    json_object_set_new(object, "latency_ms", latency_json(s));
    json_object_set_new(object, "stages", stages_json(s));
    json_object_set_new(object, "thresholds", thresholds_json(s));
    json_object_set_new(object, "gpu", gpu_json(s));
    app_json_set_integer(memory, "rss_peak_bytes", s->rss_peak_bytes);
    app_json_set_integer(memory, "pinned_bytes", s->pinned_bytes);
    json_object_set_new(object, "memory", memory);
    app_json_set_text(object, "bottleneck", app_bottleneck_name(s->bottleneck));
    app_json_set_number(object, "bottleneck_busy_percent", s->bottleneck_busy_percent);
    app_json_set_text(object, "advice", s->advice);
    return object;
}
