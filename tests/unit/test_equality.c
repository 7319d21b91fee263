/* The CPU backend, with every table of row functions that this machine runs, equals the reference on the whole list, or, with
 * an argument N, on every Nth case of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cases.h"
#include "edge/cpu.h"

#define TABLES_MAX 8

static const int thread_counts[] = {1, 2, 5};

static void every_table_equals_the_reference(void **state)
{
    const size_t *thin = *state;
    struct ec_device *devices[TABLES_MAX][3] = {{0}};
    struct ec_error error = {0};
    int tables = 0;
    for (; ec_rows_name(tables); tables++) {
        const struct ec_rows *rows = ec_rows_select(ec_rows_name(tables));
        for (int t = 0; rows && t < 3; t++)
            assert_int_equal(ec_cpu_open_rows(&devices[tables][t], thread_counts[t], rows, &error), EC_OK);
        if (!rows)
            print_message("this processor does not run %s\n", ec_rows_name(tables));
    }

    struct ec_case_list list;
    struct ec_plan *plan = malloc(sizeof *plan);
    assert_true(ec_case_list_open(&list, *thin) && plan);
    size_t compared = 0, wrong = 0;
    for (size_t i = 0; i < list.count; i++) {
        const struct ec_case *test = &list.cases[i];
        struct ec_case_images images;
        assert_true(ec_case_plan(test, plan));
        assert_true(ec_case_images_open(&images, test, plan));
        for (int table = 0; table < tables; table++) {
            struct ec_device *device = devices[table][i % 3];
            if (device) {
                wrong += !ec_case_run(&ec_backend_cpu, device, test, plan, &images, ec_rows_name(table));
                compared++;
            }
        }
        ec_case_images_close(&images);
        if (wrong > 20)
            break;
    }
    print_message("%zu comparisons on %zu cases, %zu differ\n", compared, list.count, wrong);
    assert_true(list.count > 5000 / *thin);
    assert_true(compared >= list.count);
    assert_int_equal(wrong, 0);

    ec_case_list_close(&list);
    free(plan);
    for (int table = 0; table < tables; table++)
        for (int t = 0; t < 3; t++)
            if (devices[table][t])
                ec_backend_cpu.close(&devices[table][t]);
}

int main(int argc, char **argv)
{
    size_t thin = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(every_table_equals_the_reference, &thin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
