/* Where the file sink's bytes go: nothing that exists is harmed, nothing half-written stays. */
#include "sink_support.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static const char names[] = "ls -A | tr '\\n' ' '";

static void existing_target_needs_a_wish(void **state)
{
    struct ground *g = *state;
    shell(g, "echo precious > out.mkv && chmod 640 out.mkv");
    ground_output(g, "out.mkv");
    assert_int_equal(EC_ERROR_OUTPUT, ground_run(g, &ec_sink_file, 1, NULL));
    assert_non_null(strstr(g->error.text, "out.mkv exists; use -y to replace it"));
    assert_shell(g, "precious", "cat out.mkv");
    g->params.overwrite = true;
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 1, NULL));
    assert_shell(g, "-rw-r----- matroska,webm",
                 "echo $(ls -l out.mkv | cut -c1-10) $(ffprobe -v error -show_entries format=format_name -of default=nk=1:nw=1 "
                 "out.mkv)");
    assert_shell(g, "out.mkv", names);
}

static void links_are_followed_and_kept(void **state)
{
    struct ground *g = *state;
    shell(g, "mkdir far && echo old > far/real.mkv && ln -s far/real.mkv out.mkv && ln -s nowhere dangling.mkv");
    g->params.overwrite = true;
    ground_output(g, "out.mkv");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 1, NULL));
    assert_shell(g, "far/real.mkv", "readlink out.mkv");
    assert_true(atoi(shell(g, "stat -c %%s far/real.mkv")) > 100);
    assert_shell(g, "real.mkv", "ls -A far");
    g->params.overwrite = false;
    ground_output(g, "dangling.mkv");
    assert_int_equal(EC_ERROR_OUTPUT, ground_run(g, &ec_sink_file, 1, NULL));
}

static void input_is_never_the_output(void **state)
{
    struct ground *g = *state;
    char input[128];
    shell(g, "echo film > in.mkv && ln in.mkv hard.mkv && ln -s in.mkv soft.mkv");
    snprintf(input, sizeof input, "%s/in.mkv", g->directory);
    g->params.input = input;
    g->params.overwrite = true;
    for (int i = 0; i < 3; i++) {
        const char *const outputs[] = {"in.mkv", "hard.mkv", "soft.mkv"};
        ground_output(g, outputs[i]);
        assert_int_equal(EC_ERROR_OUTPUT, ground_run(g, &ec_sink_file, 1, NULL));
        assert_non_null(strstr(g->error.text, "is the input itself"));
    }
    assert_shell(g, "film", "cat in.mkv");
    g->params.input = g->params.output = "frames_%03d.png";
    assert_int_equal(EC_ERROR_OUTPUT, ground_run(g, &ec_sink_file, 1, NULL));
}

static void impossible_places(void **state)
{
    struct ground *g = *state;
    const struct {
        const char *name, *cause;
    } places[] = {{"none/out.mkv", "there is no directory"}, {"folder.mkv", "it is a directory"}, {"file/out.mkv", "director"}};
    shell(g, "mkdir folder.mkv && touch file");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        ground_output(g, places[i].name);
        assert_int_equal(EC_ERROR_OUTPUT, ground_run(g, &ec_sink_file, 1, NULL));
        assert_non_null(strstr(g->error.text, places[i].name));
        assert_non_null(strstr(g->error.text, places[i].cause));
    }
    char longest[400];
    snprintf(longest, sizeof longest, "%0300d.mkv", 0);
    ground_output(g, longest);
    assert_int_equal(EC_ERROR_OUTPUT, ground_run(g, &ec_sink_file, 1, NULL));
    assert_shell(g, "file folder.mkv", names);
}

static void any_name_is_a_file(void **state)
{
    struct ground *g = *state;
    char longest[300];
    snprintf(longest, sizeof longest, "%0251d.mkv", 0); /* 255 bytes: all that a name may have */
    const char *const outputs[] = {"http:x.mkv",   "a:b.mkv", "-x.mkv",     "50%.mkv",
                                   "\xff\xfe.mkv", " .mkv",   "file:y.mkv", longest};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char path[400];
        ground_output(g, outputs[i]);
        assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 1, NULL));
        snprintf(path, sizeof path, "%s/%s", g->directory, outputs[i]);
        assert_int_equal(0, access(path, R_OK));
    }
    assert_int_equal(0, chdir(g->directory));
    g->params.output = "udp:here.mkv"; /* a name without a directory */
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 1, NULL));
    assert_int_equal(0, access("udp:here.mkv", R_OK));
    assert_int_equal(0, chdir("/"));
}

static void unfinished_output_leaves_nothing(void **state)
{
    struct ground *g = *state;
    for (int frames = 0; frames < 3; frames++) {
        struct ec_sink *sink = NULL;
        ground_output(g, "out.mp4");
        assert_int_equal(EC_OK,
                         ec_sink_file.open(&sink, &g->params, &g->info, &(struct ec_results){.depth_bits = 8}, &g->error));
        assert_shell(g, "1", "ls -A | grep -c '^[.]edgecam-'");
        for (int i = 0; i < frames; i++) {
            struct ec_frame frame = ground_frame(g, i, 40 * i, 40);
            assert_int_equal(EC_OK, ec_sink_file.frame(sink, &frame, &g->error));
            av_buffer_unref(&frame.owner);
        }
        ec_sink_file.close(&sink);
        assert_null(sink);
        assert_shell(g, "", names);
    }
    assert_int_equal(EC_ERROR_FRAMES, ground_run(g, &ec_sink_file, 0, NULL));
    assert_shell(g, "", names);
}

static void target_that_appears_meanwhile_stays(void **state)
{
    int64_t given_up = 0;
    struct ground *g = *state;
    struct ec_sink *sink = NULL;
    ground_output(g, "out.mkv");
    assert_int_equal(EC_OK, ec_sink_file.open(&sink, &g->params, &g->info, &(struct ec_results){.depth_bits = 8}, &g->error));
    struct ec_frame frame = ground_frame(g, 0, 0, 40);
    assert_int_equal(EC_OK, ec_sink_file.frame(sink, &frame, &g->error));
    av_buffer_unref(&frame.owner);
    shell(g, "echo other > out.mkv");
    assert_int_equal(EC_ERROR_OUTPUT, ec_sink_file.finish(sink, 0, &given_up, &g->error));
    ec_sink_file.close(&sink);
    assert_shell(g, "other", "cat out.mkv");
    assert_shell(g, "out.mkv", names);
}

static void full_device(void **state)
{
    struct ground *g = *state;
    for (int i = 0; i < 4; i++) {
        const char *const formats[] = {"matroska", "yuv4mpegpipe", "mp4", "rawvideo"};
        g->params.output = "/dev/full";
        g->params.output_format = formats[i];
        assert_int_equal(EC_ERROR_OUTPUT, ground_run(g, &ec_sink_file, 30, NULL));
        assert_string_equal("cannot write /dev/full: No space left on device", g->error.text);
        g->params.output = "/dev/null";
        assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 30, NULL));
    }
    assert_shell(g, "", names);
}

static void full_disk_midway(void **state)
{
    struct ground *g = *state;
    struct rlimit before, small;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100000;
    for (int i = 0; i < 3; i++) {
        const char *const outputs[] = {"out.mkv", "out.mp4", "out.y4m"};
        g->info.width_px = g->info.height_px = 256;
        g->params.crf = i < 2 ? "1" : NULL;
        ground_output(g, outputs[i]);
        setrlimit(RLIMIT_FSIZE, &small);
        const enum ec_status status = ground_run(g, &ec_sink_file, 20, NULL);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(EC_ERROR_OUTPUT, status);
        assert_non_null(strstr(g->error.text, ": File too large"));
        assert_shell(g, "", names);
    }
}

/* Runs the sink with standard output on `fd`. */
static enum ec_status run_to(struct ground *g, int fd, int frames)
{
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    assert_true(saved >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    const enum ec_status status = ground_run(g, &ec_sink_file, frames, NULL);
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    close(saved);
    return status;
}

static void standard_output(void **state)
{
    struct ground *g = *state;
    const char *const formats[] = {NULL, "matroska", "mpegts", "mp4", "nut", "rawvideo"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/piped", g->directory);
        const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        assert_true(fd >= 0);
        g->params.output = "-";
        g->params.output_format = formats[i];
        assert_int_equal(EC_OK, run_to(g, fd, 5));
        close(fd);
        if (formats[i] && strcmp(formats[i], "rawvideo") == 0)
            assert_shell(g, "3840", "stat -c %%s piped");
        else
            assert_shell(
                g, "5",
                "ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of default=nk=1:nw=1 piped | tail -1");
    }
    char expected[64];
    snprintf(expected, sizeof expected, "%s  -", ground_md5(g, 5));
    assert_shell(g, expected, "md5sum < piped");
}

static void reader_that_leaves_is_no_error(void **state)
{
    struct ground *g = *state;
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(0, pipe(ends));
    close(ends[0]);
    const char *const formats[] = {NULL, "matroska", "mp4", "rawvideo"};
    for (int i = 0; i < 4; i++) {
        g->params.output = "-";
        g->params.output_format = formats[i];
        assert_int_equal(EC_STOPPED, run_to(g, ends[1], 5));
        assert_int_equal(EC_OK, g->error.status);
    }
    close(ends[1]);
}

static void fifo_is_opened_directly(void **state)
{
    struct ground *g = *state;
    shell(g, "mkfifo out.mkv && (cat out.mkv > copy.mkv; touch done) > /dev/null 2>&1 &");
    shell(g, "for i in $(seq 100); do test -p out.mkv && break; sleep 0.05; done");
    ground_output(g, "out.mkv");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 5, NULL));
    shell(g, "for i in $(seq 100); do test -e done && break; sleep 0.05; done");
    assert_shell(g, "5", "ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 copy.mkv");
    assert_shell(g, "fifo", "stat -c %%F out.mkv");
}

static void series_of_pictures(void **state)
{
    struct ground *g = *state;
    ground_output(g, "a:b_%03d.png");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 3, NULL));
    assert_shell(g, "a:b_001.png a:b_002.png a:b_003.png", names);
    assert_int_equal(EC_ERROR_OUTPUT, ground_run(g, &ec_sink_file, 3, NULL));
    assert_non_null(strstr(g->error.text, "a:b_001.png exists"));
    g->params.overwrite = true;
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 3, NULL));
    ground_output(g, "none/p_%03d.png");
    assert_int_equal(EC_ERROR_OUTPUT, ground_run(g, &ec_sink_file, 3, NULL));
}

static void one_picture(void **state)
{
    struct ground *g = *state;
    ground_output(g, "one.png");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 1, NULL));
    assert_shell(g, "one.png", names);
    g->params.overwrite = true;
    assert_int_equal(EC_ERROR_OUTPUT, ground_run(g, &ec_sink_file, 2, NULL));
    g->info.frames = 2;
    assert_int_equal(EC_ERROR_ARGUMENT, ground_run(g, &ec_sink_file, 2, NULL));
    assert_shell(g, "png,gray", "ffprobe -v error -show_entries stream=codec_name,pix_fmt -of csv=p=0 one.png");
    assert_shell(g, "one.png", names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, ground_setup, ground_teardown)
        TEST(existing_target_needs_a_wish),
        TEST(links_are_followed_and_kept),
        TEST(input_is_never_the_output),
        TEST(impossible_places),
        TEST(any_name_is_a_file),
        TEST(unfinished_output_leaves_nothing),
        TEST(target_that_appears_meanwhile_stays),
        TEST(full_device),
        TEST(full_disk_midway),
        TEST(standard_output),
        TEST(reader_that_leaves_is_no_error),
        TEST(fifo_is_opened_directly),
        TEST(series_of_pictures),
        TEST(one_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
