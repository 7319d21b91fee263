/* The tuner and what it keeps, on the stand-in for the CUDA runtime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "app/tune.h"
#include "app/tuning.h"

struct setup {
    char folder[64]; /* stands for the user's cache folder */
    struct app_options options;
    struct app_context context;
    struct bench_picture picture;
};

static struct setup *open_setup(void)
{
    static struct setup s;
    s = (struct setup){.folder = "tune.XXXXXX",
                       .options.operators = {EC_OPERATOR_LAPLACIAN},
                       .options.operator_count = 1,
                       .options.pipeline = {.input = "cycle:16x8@25:8", .max_frames = 3, .null_sink = true}};
    struct ec_error error = {0};
    char path[300];
    assert_non_null(mkdtemp(s.folder));
    assert_non_null(getcwd(path, 200));
    strcat(path, "/");
    strcat(path, s.folder);
    assert_int_equal(setenv("XDG_CACHE_HOME", path, 1), 0);
    s.context.options = &s.options;
    s.context.signals = app_signals_open();
    assert_non_null(s.context.signals);
    assert_int_equal(bench_picture_parse(&s.picture, s.options.pipeline.input, &error), EC_OK);
    return &s;
}

static void close_setup(struct setup *s)
{
    char command[100];
    app_signals_close(&s->context.signals);
    snprintf(command, sizeof command, "rm -r %s", s->folder);
    assert_int_equal(system(command), 0);
}

static void what_was_found_is_used_by_later_runs(void **state)
{
    (void)state;
    struct setup *s = open_setup();
    FILE *table = tmpfile();
    char text[2000] = {0};
    struct ec_pipeline_params params = {.device.backend = EC_BACKEND_CUDA};
    app_tuning_apply(&params);
    assert_int_equal(params.lanes, 0);
    assert_int_equal(app_tune(&s->context, &s->options.pipeline, &s->picture, table), EC_OK);
    rewind(table);
    assert_true(fread(text, 1, sizeof text - 1, table) > 0);
    assert_non_null(strstr(text, "laplacian"));
    assert_non_null(strstr(text, "lanes"));
    assert_non_null(strstr(text, "kept in "));
    fclose(table);

    /* What was found for other operators is still there after another run. */
    struct ec_device *device = NULL;
    struct ec_device_info info;
    struct app_tuning kept;
    struct ec_error error = {0};
    assert_int_equal(ec_backend_cuda.open(&device, &params.device, NULL, &error), EC_OK);
    ec_backend_cuda.describe(device, &info);
    ec_backend_cuda.close(&device);
    char *folder = app_tuning_folder(), *path = app_tuning_path(folder, &info);
    assert_true(app_tuning_load(&kept, path, &info));
    kept.operators[EC_OPERATOR_SCHARR][EC_NORM_L1] = (struct ec_tuning){256, 6};
    assert_int_equal(app_tuning_save(&kept, folder, path, &info, &error), EC_OK);
    s->options.operators[0] = EC_OPERATOR_LOG; /* nothing to choose: soon done */
    table = tmpfile();
    assert_int_equal(app_tune(&s->context, &s->options.pipeline, &s->picture, table), EC_OK);
    fclose(table);
    assert_true(app_tuning_load(&kept, path, &info));
    assert_int_equal(kept.operators[EC_OPERATOR_SCHARR][EC_NORM_L1].block_threads, 256);
    free(path);
    free(folder);

    app_tuning_apply(&params);
    assert_true(params.lanes >= 2 && params.lanes <= 8);
    params.lanes = 5;
    app_tuning_apply(&params);
    assert_int_equal(params.lanes, 5);
    params = (struct ec_pipeline_params){.device.backend = EC_BACKEND_CPU};
    app_tuning_apply(&params);
    assert_int_equal(params.lanes, 0);
    close_setup(s);
}

static void files_of_others_are_left_alone(void **state)
{
    (void)state;
    struct setup *s = open_setup();
    struct ec_device_info device = {.name = "Card \"5\"/7", .driver = "1.2, CUDA 9.9"}, other = device;
    struct app_tuning in = {.lanes = 6}, out;
    struct ec_error error = {0};
    in.operators[EC_OPERATOR_SCHARR][EC_NORM_L1] = (struct ec_tuning){256, 4};
    char *folder = app_tuning_folder(), *path = app_tuning_path(folder, &device);
    assert_false(app_tuning_load(&out, path, &device));
    assert_int_equal(app_tuning_save(&in, folder, path, &device, &error), EC_OK);
    assert_true(app_tuning_load(&out, path, &device));
    assert_memory_equal(&out, &in, sizeof in);
    snprintf(other.driver, sizeof other.driver, "1.3");
    assert_false(app_tuning_load(&out, path, &other));
    assert_int_equal(out.lanes, 0);

    static const char *const hostile[] = {
        "", "[", "7", "[1]", "{\"schema\":3}", "{\"schema\":\"edgecam.tuning/1\",\"device\":[]}",
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        FILE *file = fopen(path, "w");
        fputs(hostile[i], file);
        fclose(file);
        assert_false(app_tuning_load(&out, path, &device));
    }
    in.lanes = 99; /* more than any run has */
    in.operators[EC_OPERATOR_SCHARR][EC_NORM_L1] = (struct ec_tuning){-5, 1 << 20};
    assert_int_equal(app_tuning_save(&in, folder, path, &device, &error), EC_OK);
    assert_true(app_tuning_load(&out, path, &device));
    assert_int_equal(out.lanes, 0);
    assert_int_equal(out.operators[EC_OPERATOR_SCHARR][EC_NORM_L1].rows_per_thread, 0);
    assert_int_equal(app_tuning_save(&in, "/proc/none", "/proc/none/x.json", &device, &error), EC_ERROR_OUTPUT);
    assert_non_null(strstr(error.text, "/proc/none/x.json"));
    free(path);
    free(folder);
    close_setup(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_found_is_used_by_later_runs),
                                       cmocka_unit_test(files_of_others_are_left_alone)};
    shim_machine.driver_version = shim_machine.runtime_version;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
