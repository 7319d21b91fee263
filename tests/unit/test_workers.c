/* The thread pool: every piece once, never two under one number, nothing left running. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "edge/bands.h"
#include "edge/workers.h"

#define PIECES_MAX 300
#define WORKERS_MAX 9

struct record {
    int pieces[PIECES_MAX]; /* how often each ran; plain, as no piece may run twice */
    atomic_int inside[WORKERS_MAX]; /* pieces that run under a number now */
    atomic_int clashes, out_of_range;
    int count;
};

static void note(void *opaque, int worker, int piece)
{
    struct record *record = opaque;
    if (worker < 0 || worker >= record->count || piece < 0 || piece >= PIECES_MAX) {
        atomic_fetch_add(&record->out_of_range, 1);
        return;
    }
    if (atomic_fetch_add(&record->inside[worker], 1) != 0)
        atomic_fetch_add(&record->clashes, 1);
    record->pieces[piece]++;
    atomic_fetch_sub(&record->inside[worker], 1);
}

static void every_piece_runs_once(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 5, WORKERS_MAX};
    for (int c = 0; c < 4; c++) {
        struct ec_error error = {0};
        struct ec_workers *workers = NULL;
        assert_int_equal(ec_workers_open(&workers, counts[c], &error), EC_OK);
        for (int pieces = 1; pieces <= PIECES_MAX; pieces += pieces < 20 ? 1 : 40) {
            struct record record = {.count = counts[c]};
            for (int round = 1; round <= 20; round++) {
                ec_workers_run(workers, note, &record, pieces);
                for (int piece = 0; piece < PIECES_MAX; piece++)
                    assert_int_equal(record.pieces[piece], piece < pieces ? round : 0);
            }
            assert_int_equal(atomic_load(&record.clashes), 0);
            assert_int_equal(atomic_load(&record.out_of_range), 0);
        }
        ec_workers_close(&workers);
        assert_null(workers);
    }
}

static void closing_needs_no_run(void **state)
{
    (void)state;
    struct ec_workers *workers = NULL;
    ec_workers_close(&workers);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(ec_workers_open(&workers, 4, NULL), EC_OK);
        ec_workers_close(&workers);
    }
}

static void bands_share_out_every_row(void **state)
{
    (void)state;
    static const int blur_sizes[] = {0, 9, 419};
    int ends[4096];
    for (int threads = 1; threads <= 64; threads *= 4)
        for (int height = 1; height <= 3000; height += height < 100 ? 1 : 97)
            for (int i = 0; i < 3; i++) {
                const struct ec_plan plan = {.window_size = 3, .blur = {.size = blur_sizes[i]}};
                const int count = ec_bands_make(NULL, &plan, height, threads);
                assert_true(count >= 1 && count <= 4096);
                assert_int_equal(ec_bands_make(ends, &plan, height, threads), count);
                assert_int_equal(ends[count - 1], height);
                for (int band = 0; band + 1 < count; band++) {
                    assert_int_equal(ends[band] % EC_BAND_STEP, 0);
                    assert_true(ends[band] > (band ? ends[band - 1] : 0) && ends[band + 1] > ends[band]);
                }
                assert_true(threads > 1 ? count >= threads || height < 16 * threads + 16 : count == 1);
            }
}

static void there_is_a_core(void **state)
{
    (void)state;
    assert_true(ec_workers_cores() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_piece_runs_once), cmocka_unit_test(closing_needs_no_run),
                                       cmocka_unit_test(bands_share_out_every_row), cmocka_unit_test(there_is_a_core)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
