#include "app/bench_report.h"

#include <math.h>

#include "app/stats_json.h"

static double frame_bytes(const struct bench_result *r)
{
    return (double)r->stats.width_px * r->stats.height_px;
}

/* Milliseconds that `bytes` take at a rate in 1e9 bytes a second. */
static double copy_ms(double bytes, double gb_per_s)
{
    return bytes / (gb_per_s * 1e6);
}

static double memcpy_ratio(const struct bench_result *r)
{
    return r->frame_ms / copy_ms(frame_bytes(r), r->backend->limits.memcpy_gb_per_s);
}

static double device_copy_ratio(const struct bench_result *r)
{
    return r->kernel_ms / copy_ms(frame_bytes(r), r->backend->limits.device_copy_gb_per_s);
}

static double pcie_percent(const struct bench_result *r)
{
    return 100 * copy_ms(frame_bytes(r), r->backend->limits.both_gb_per_s) / r->frame_ms;
}

static void print_rate(FILE *out, const char *name, double gb_per_s)
{
    if (isfinite(gb_per_s))
        fprintf(out, ", %s %.1f GB/s", name, gb_per_s);
}

static void print_cell(FILE *out, int width, const char *format, double value)
{
    char cell[32] = "-";
    if (isfinite(value))
        snprintf(cell, sizeof cell, format, value);
    fprintf(out, "  %*s", width, cell);
}

void bench_print_limits(FILE *out, const struct bench_backend *b)
{
    fprintf(out, "%s: %s", b->ops->name, b->info.name);
    print_rate(out, "memcpy", b->limits.memcpy_gb_per_s);
    print_rate(out, "device copy", b->limits.device_copy_gb_per_s);
    print_rate(out, "to the device", b->limits.h2d_gb_per_s);
    print_rate(out, "from it", b->limits.d2h_gb_per_s);
    print_rate(out, "both at once, each way", b->limits.both_gb_per_s);
    fputs("\n", out);
}

void bench_print_header(FILE *out)
{
    fprintf(out, "%-12s %-7s  %9s  %9s  %9s  %8s  %8s  %9s  %9s  %8s\n", "operator", "backend", "ms/frame", "fastest",
            "slowest", "fps", "x memcpy", "kernel ms", "x devcopy", "PCIe %");
}

void bench_print_result(FILE *out, const struct bench_result *r)
{
    fprintf(out, "%-12s %-7s", ec_operator_name(r->op), r->backend->ops->name);
    print_cell(out, 9, "%.3f", r->frame_ms);
    print_cell(out, 9, "%.3f", r->fastest_ms);
    print_cell(out, 9, "%.3f", r->slowest_ms);
    print_cell(out, 8, "%.1f", 1e3 / r->frame_ms);
    print_cell(out, 8, "%.2f", memcpy_ratio(r));
    print_cell(out, 9, "%.4f", r->kernel_ms);
    print_cell(out, 9, "%.2f", device_copy_ratio(r));
    print_cell(out, 8, "%.1f", pcie_percent(r));
    fputs("\n", out);
}

static json_t *backend_json(const struct bench_backend *b)
{
    json_t *object = json_object(), *limits = json_object();
    app_json_set_text(object, "backend", b->ops->name);
    app_json_set_text(object, "device", b->info.name);
    app_json_set_text(object, "driver", b->info.driver);
    app_json_set_text(object, "pcie", b->info.pcie);
    app_json_set_number(limits, "memcpy_gb_per_s", b->limits.memcpy_gb_per_s);
    app_json_set_number(limits, "device_copy_gb_per_s", b->limits.device_copy_gb_per_s);
    app_json_set_number(limits, "h2d_gb_per_s", b->limits.h2d_gb_per_s);
    app_json_set_number(limits, "d2h_gb_per_s", b->limits.d2h_gb_per_s);
    app_json_set_number(limits, "both_ways_gb_per_s", b->limits.both_gb_per_s);
    json_object_set_new(object, "limits", limits);
    return object;
}

static json_t *result_json(const struct bench_result *r, const struct ec_pipeline_params *params)
{
    json_t *object = json_object(), *frame_ms = json_object();
    struct ec_pipeline_params run = *params;
    run.edge.op = r->op;
    app_json_set_text(object, "operator", ec_operator_name(r->op));
    app_json_set_text(object, "backend", r->backend->ops->name);
    app_json_set_integer(object, "frames", r->frames);
    app_json_set_number(frame_ms, "median", r->frame_ms);
    app_json_set_number(frame_ms, "min", r->fastest_ms);
    app_json_set_number(frame_ms, "max", r->slowest_ms);
    json_object_set_new(object, "frame_ms", frame_ms);
    app_json_set_number(object, "fps", 1e3 / r->frame_ms);
    app_json_set_number(object, "memcpy_ratio", memcpy_ratio(r));
    app_json_set_number(object, "kernel_ms", r->kernel_ms);
    app_json_set_number(object, "device_copy_ratio", device_copy_ratio(r));
    app_json_set_number(object, "pcie_percent", pcie_percent(r));
    json_object_set_new(object, "stats", app_stats_json(&run, &r->stats));
    return object;
}

json_t *bench_json(const struct bench_backend *backends, int backend_count, const struct bench_result *results,
                   int result_count, const struct ec_pipeline_params *params)
{
    json_t *object = json_object(), *backend_list = json_array(), *result_list = json_array();
    app_json_set_text(object, "schema", "edgecam.bench/1");
    app_json_set_integer(object, "width", result_count > 0 ? results[0].stats.width_px : -1);
    app_json_set_integer(object, "height", result_count > 0 ? results[0].stats.height_px : -1);
    app_json_set_integer(object, "depth", result_count > 0 ? results[0].stats.depth_bits : -1);
    app_json_set_integer(object, "repetitions", BENCH_REPETITIONS);
    for (int i = 0; i < backend_count; i++)
        json_array_append_new(backend_list, backend_json(&backends[i]));
    for (int i = 0; i < result_count; i++)
        json_array_append_new(result_list, result_json(&results[i], params));
    json_object_set_new(object, "backends", backend_list);
    json_object_set_new(object, "results", result_list);
    return object;
}
