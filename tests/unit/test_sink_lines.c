/* The hash and null sinks, and the window's clock. */
#include "sink_support.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sink/pace.h"

static enum ec_status hash_to(struct ground *g, int fd, int frames, const int64_t *pts)
{
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    assert_true(saved >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    const enum ec_status status = ground_run(g, &ec_sink_hash, frames, pts);
    clearerr(stdout);
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    close(saved);
    return status;
}

static void expect_lines(struct ground *g)
{
    const int64_t pts[] = {0, 30003, 1000001};
    char path[128], expected[256], second[33];
    g->info.time_base = (AVRational){1, 30000};
    snprintf(path, sizeof path, "%s/lines", g->directory);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(EC_OK, hash_to(g, fd, 3, pts));
    close(fd);
    snprintf(expected, sizeof expected, "0 0.000000 %s", ground_md5(g, 1));
    assert_shell(g, expected, "head -1 lines");
    assert_shell(g, "0 0.000000\n1 1.000100\n2 33.333367", "cut -d' ' -f1,2 lines");
    assert_shell(g, "3", "grep -cE '^[0-9]+ [0-9]+[.][0-9]{6} [0-9a-f]{32}$' lines");
    snprintf(second, sizeof second, "%s", shell(g, "sed -n 2p lines | cut -d' ' -f3"));
    assert_string_not_equal(second, ground_md5(g, 1));
}

static void hash_of_8_bits(void **state)
{
    expect_lines(*state);
}

static void hash_of_12_bits(void **state)
{
    struct ground *g = *state;
    g->depth_bits = 12;
    expect_lines(g);
}

static void hash_write_errors(void **state)
{
    struct ground *g = *state;
    int ends[2];
    const int full = open("/dev/full", O_WRONLY);
    assert_int_equal(EC_ERROR_OUTPUT, hash_to(g, full, 3, NULL));
    assert_non_null(strstr(g->error.text, "No space left on device"));
    close(full);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(0, pipe(ends));
    close(ends[0]);
    assert_int_equal(EC_STOPPED, hash_to(g, ends[1], 3, NULL));
    close(ends[1]);
}

static void null_takes_everything(void **state)
{
    assert_int_equal(EC_OK, ground_run(*state, &ec_sink_null, 100, NULL));
}

static void pace_follows_timestamps(void **state)
{
    (void)state;
    const int64_t second = 1000000000;
    struct ec_pace pace = {0};
    assert_int_equal(7 * second, ec_pace_due(&pace, 100 * second, 7 * second)); /* the first frame starts it */
    assert_int_equal(8 * second, ec_pace_due(&pace, 101 * second, 7 * second));
    assert_int_equal(8 * second, ec_pace_due(&pace, 101 * second, 8 * second + 1000)); /* a little late: no change */
    assert_int_equal(20 * second, ec_pace_due(&pace, 102 * second, 20 * second)); /* far too late: from now on */
    assert_int_equal(21 * second, ec_pace_due(&pace, 103 * second, 20 * second));
    ec_pace_restart(&pace);
    assert_int_equal(20 * second + 5, ec_pace_due(&pace, 104 * second, 20 * second + 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, ground_setup, ground_teardown)
        TEST(hash_of_8_bits),
        TEST(hash_of_12_bits),
        TEST(hash_write_errors),
        TEST(null_takes_everything),
        cmocka_unit_test(pace_follows_timestamps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
