#include "app/bench_report.h"

#include <math.h>

#include "app/stats_json.h"

static double frame_bytes(const struct bench_result *r)
{
    return (double)r->kernels.frame_bytes / 2;
}

/* Milliseconds that `bytes` take at a rate in 1e9 bytes a second. */
static double copy_ms(double bytes, double gb_per_s)
{
    return bytes / (gb_per_s * 1e6);
}

static double copy_ratio(const struct ec_frame_times *t)
{
    return t->frame_us.median / t->copy_us.median;
}

/* Bytes read and written. */
static double kernel_rate(const struct bench_result *r, const struct ec_frame_times *t)
{
    return (double)r->kernels.frame_bytes / t->frame_us.median * 1e-3;
}

/* A GPU is at its best with several frames in flight. */
static const struct ec_frame_times *best_times(const struct bench_result *r)
{
    return isfinite(r->kernels.parallel.frame_us.median) ? &r->kernels.parallel : &r->kernels.serial;
}

static double one_frame_copies_ratio(const struct bench_result *r)
{
    const struct ec_limits *l = &r->backend->limits;
    const double in = (double)r->kernels.in_bytes, out = (double)r->kernels.frame_bytes - in;
    return r->one_frame_ms.median / (copy_ms(in, l->h2d_gb_per_s) + copy_ms(out, l->d2h_gb_per_s));
}

static double if_run(const struct bench_result *r, double value)
{
    return r->has_run ? value : NAN;
}

static double memcpy_ratio(const struct bench_result *r)
{
    return if_run(r, r->frame_ms.median / copy_ms(frame_bytes(r), r->backend->limits.memcpy_gb_per_s));
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
    if (b->info.driver[0])
        fprintf(out, ", driver %s", b->info.driver);
    print_rate(out, "memcpy", b->limits.memcpy_gb_per_s);
    print_rate(out, "device copy", b->limits.device_copy_gb_per_s);
    print_rate(out, "to the device", b->limits.h2d_gb_per_s);
    print_rate(out, "from it", b->limits.d2h_gb_per_s);
    print_rate(out, "both at once, each way", b->limits.both_gb_per_s);
    fputs("\n", out);
}

void bench_print_kernels_header(FILE *out)
{
    fprintf(out, "\n%-24s %-7s  %9s  %6s  %9s  %6s  %8s  %9s  %6s\n", "detector alone, us/frame", "backend", "in turn",
            "x copy", "at once", "x copy", "GB/s", "cached", "x copy");
}

void bench_print_kernels(FILE *out, const struct bench_result *r)
{
    const struct ec_throughput *k = &r->kernels;
    fprintf(out, "%-24s %-7s", r->label, r->backend->ops->name);
    print_cell(out, 9, "%.2f", k->serial.frame_us.median);
    print_cell(out, 6, "%.2f", copy_ratio(&k->serial));
    print_cell(out, 9, "%.2f", k->parallel.frame_us.median);
    print_cell(out, 6, "%.2f", copy_ratio(&k->parallel));
    print_cell(out, 8, "%.1f", kernel_rate(r, best_times(r)));
    print_cell(out, 9, "%.2f", k->cached.frame_us.median);
    print_cell(out, 6, "%.2f", copy_ratio(&k->cached));
    fputs("\n", out);
}

void bench_print_runs_header(FILE *out)
{
    fprintf(out, "\n%-24s %-7s  %8s  %8s  %8s  %8s  %8s  %6s  %8s  %9s  %8s\n", "host to host, ms/frame", "backend", "median",
            "fastest", "slowest", "fps", "x memcpy", "PCIe %", "timing %", "one frame", "x copies");
}

void bench_print_run(FILE *out, const struct bench_result *r)
{
    fprintf(out, "%-24s %-7s", r->label, r->backend->ops->name);
    print_cell(out, 8, "%.3f", r->frame_ms.median);
    print_cell(out, 8, "%.3f", r->frame_ms.smallest);
    print_cell(out, 8, "%.3f", r->frame_ms.largest);
    print_cell(out, 8, "%.1f", 1e3 / r->frame_ms.median);
    print_cell(out, 8, "%.2f", memcpy_ratio(r));
    print_cell(out, 6, "%.1f", if_run(r, r->pcie_percent.median));
    print_cell(out, 8, "%+.1f", if_run(r, r->timing_percent.median));
    print_cell(out, 9, "%.3f", r->one_frame_ms.median);
    print_cell(out, 8, "%.2f", one_frame_copies_ratio(r));
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

static void set_spread(json_t *object, const char *key, struct ec_spread spread)
{
    json_t *inner = json_object();
    app_json_set_number(inner, "median", spread.median);
    app_json_set_number(inner, "min", spread.smallest);
    app_json_set_number(inner, "max", spread.largest);
    json_object_set_new(object, key, inner);
}

static void set_times(json_t *object, const char *key, const struct bench_result *r, const struct ec_frame_times *t)
{
    json_t *inner = json_object();
    set_spread(inner, "frame_us", t->frame_us);
    set_spread(inner, "copy_us", t->copy_us);
    app_json_set_number(inner, "copy_ratio", copy_ratio(t));
    app_json_set_number(inner, "gb_per_s", kernel_rate(r, t));
    json_object_set_new(object, key, inner);
}

static void set_run(json_t *object, const struct bench_result *r, const struct ec_pipeline_params *params)
{
    static const struct ec_spread none = {NAN, NAN, NAN};
    json_t *two_way = json_array(), *upload = json_array();
    struct ec_pipeline_params run = *params;
    run.edge.op = r->op;
    app_json_set_integer(object, "frames", r->has_run ? r->frames : -1);
    set_spread(object, "frame_ms", r->has_run ? r->frame_ms : none);
    app_json_set_number(object, "fps", if_run(r, 1e3 / r->frame_ms.median));
    app_json_set_number(object, "memcpy_ratio", memcpy_ratio(r));
    set_spread(object, "pcie_percent", r->has_run ? r->pcie_percent : none);
    set_spread(object, "timing_percent", r->has_run ? r->timing_percent : none);
    for (int i = 0; i <= BENCH_REPETITIONS; i++) {
        if (!r->has_run || !isfinite(r->link[i].both_gb_per_s))
            continue;
        json_array_append_new(two_way, json_real(r->link[i].both_gb_per_s));
        json_array_append_new(upload, json_real(r->link[i].h2d_gb_per_s));
    }
    json_object_set_new(object, "two_way_gb_per_s", two_way);
    json_object_set_new(object, "upload_gb_per_s", upload);
    json_object_set_new(object, "map", json_boolean(r->is_map));
    json_object_set_new(object, "stats", r->has_run ? app_stats_json(&run, &r->stats) : json_null());
}

static json_t *result_json(const struct bench_result *r, const struct ec_pipeline_params *params)
{
    json_t *object = json_object(), *kernels = json_object();
    app_json_set_text(object, "label", r->label);
    app_json_set_text(object, "operator", ec_operator_name(r->op));
    app_json_set_text(object, "backend", r->backend->ops->name);
    set_times(kernels, "serial", r, &r->kernels.serial);
    set_times(kernels, "parallel", r, &r->kernels.parallel);
    set_times(kernels, "cached", r, &r->kernels.cached);
    json_object_set_new(object, "kernels", kernels);
    app_json_set_number(object, "kernel_ms", best_times(r)->frame_us.median * 1e-3);
    app_json_set_number(object, "device_copy_ratio", r->backend->kind == EC_BACKEND_CUDA ? copy_ratio(best_times(r)) : NAN);
    set_spread(object, "one_frame_ms", r->one_frame_ms);
    app_json_set_number(object, "one_frame_copies_ratio", one_frame_copies_ratio(r));
    set_run(object, r, params);
    return object;
}

json_t *bench_json(const struct bench_backend *backends, int backend_count, const struct bench_result *results,
                   int result_count, const struct ec_pipeline_params *params, const struct bench_picture *picture)
{
    json_t *object = json_object(), *backend_list = json_array(), *result_list = json_array();
    app_json_set_text(object, "schema", "edgecam.bench/1");
    app_json_set_integer(object, "width", picture->width_px);
    app_json_set_integer(object, "height", picture->height_px);
    app_json_set_integer(object, "depth", picture->depth_bits);
    app_json_set_integer(object, "repetitions", BENCH_REPETITIONS);
    for (int i = 0; i < backend_count; i++)
        json_array_append_new(backend_list, backend_json(&backends[i]));
    for (int i = 0; i < result_count; i++)
        json_array_append_new(result_list, result_json(&results[i], params));
    json_object_set_new(object, "backends", backend_list);
    json_object_set_new(object, "results", result_list);
    return object;
}
