/* The file sink's pictures: every value, every time and every size that went in comes out, by the word of ffmpeg and ffprobe.
 */
#include "sink_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char count_frames[] = "ffprobe -v error -select_streams v -count_frames -show_entries stream=nb_read_frames "
                                   "-of default=nk=1:nw=1 '%s' | tail -1";
static const char picture_times[] = "ffprobe -v error -select_streams v -show_entries frame=pts_time -of csv=p=0 '%s' | "
                                    "tr -s ',\\n' ' '";
static const char stream_entry[] = "ffprobe -v error -select_streams v -show_entries stream=%s -of csv=p=0 '%s'";

static void expect_lossless(struct ground *g, const char *format, const char *decoded)
{
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 5, NULL));
    assert_shell(g, "5", count_frames, g->output);
    assert_shell(g, format, stream_entry, "pix_fmt", g->output);
    char expected[64];
    snprintf(expected, sizeof expected, "MD5=%s", ground_md5(g, 5));
    assert_shell(g, expected,
                 "ffmpeg -v error -i '%s' -f rawvideo -pix_fmt %s - | ffmpeg -v error -f data -i - -map 0 -c copy -f md5 -",
                 g->output, decoded);
}

static void lossless_gray(void **state)
{
    struct ground *g = *state;
    const int sizes[][2] = {{32, 24}, {1, 1}, {1, 7}, {33, 17}, {320, 2}};
    g->params.overwrite = true;
    g->params.codec = "ffv1";
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        g->info.width_px = sizes[i][0];
        g->info.height_px = sizes[i][1];
        ground_output(g, "out.mkv");
        expect_lossless(g, "gray", "gray");
    }
    assert_string_equal("", g->log);
}

static void lossless_deep_gray(void **state)
{
    struct ground *g = *state;
    const struct {
        int depth_bits;
        const char *format;
    } depths[] = {{9, "gray9le"}, {10, "gray10le"}, {12, "gray12le"}, {16, "gray16le"}};
    g->params.overwrite = true;
    g->params.codec = "ffv1";
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        g->depth_bits = depths[i].depth_bits;
        ground_output(g, "out.mkv");
        expect_lossless(g, depths[i].format, depths[i].format);
    }
}

/* 11 bits have no format of their own: they stand in the top of 12, and the lowest bit repeats the highest. */
static void depth_between_formats(void **state)
{
    struct ground *g = *state;
    g->depth_bits = 11;
    g->params.codec = "ffv1";
    ground_output(g, "out.mkv");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 1, NULL));
    assert_shell(g, "gray12le", stream_entry, "pix_fmt", g->output);
    shell(g, "ffmpeg -v error -i out.mkv -f rawvideo -pix_fmt gray12le out.raw");
    char path[128];
    snprintf(path, sizeof path, "%s/out.raw", g->directory);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    struct ec_frame frame = ground_frame(g, 0, 0, 40);
    for (int y = 0; y < g->info.height_px; y++) {
        const uint16_t *row = (const void *)((const uint8_t *)frame.image.data + y * frame.image.pitch_bytes);
        for (int x = 0; x < g->info.width_px; x++) {
            const int low = fgetc(file), value = low | fgetc(file) << 8;
            assert_int_equal(row[x] << 1 | row[x] >> 10, value);
        }
    }
    fclose(file);
    av_buffer_unref(&frame.owner);
}

static void lossless_in_other_containers(void **state)
{
    struct ground *g = *state;
    g->info.width_px = 48;
    ground_output(g, "out.y4m");
    expect_lossless(g, "gray", "gray");
    ground_output(g, "out_%03d.png");
    expect_lossless(g, "gray", "gray");
    ground_output(g, "out.gif");
    expect_lossless(g, "bgra", "gray");
    ground_output(g, "out.avi");
    g->params.codec = "rawvideo";
    expect_lossless(g, "gray", "gray");
}

static void irregular_times_are_kept(void **state)
{
    struct ground *g = *state;
    const int64_t pts[] = {0, 3003, 9009, 9010, 90000, 180001};
    g->info.time_base = (AVRational){1, 90000};
    for (int i = 0; i < 3; i++) {
        const char *const names[] = {"out.mp4", "out.mov", "out.nut"};
        ground_output(g, names[i]);
        g->params.codec = i == 2 ? "ffv1" : NULL;
        assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 6, pts));
        assert_shell(g, "0.000000 0.033367 0.100100 0.100111 1.000000 2.000011", picture_times, g->output);
    }
    assert_shell(g, "2.000456", "ffprobe -v error -show_entries format=duration -of csv=p=0 out.mp4");
}

static void late_start_is_kept(void **state)
{
    struct ground *g = *state;
    const int64_t pts[] = {500, 540, 580};
    for (int i = 0; i < 2; i++) {
        const char *const names[] = {"out.mkv", "out.mp4"};
        ground_output(g, names[i]);
        assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 3, pts));
        assert_shell(g, "0.500000 0.540000 0.580000", picture_times, g->output);
    }
}

/* Containers and codecs that count frames: none is lost, and the rate is the input's. */
static void constant_rates(void **state)
{
    struct ground *g = *state;
    const struct {
        const char *name, *codec;
    } outputs[] = {{"a.avi", NULL}, {"b.mpg", NULL}, {"c.mp4", "mpeg4"}, {"d.ts", NULL}, {"e.webm", NULL}, {"f.flv", NULL}};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        ground_output(g, outputs[i].name);
        g->params.codec = outputs[i].codec;
        assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 25, NULL));
        assert_shell(g, "25", count_frames, g->output);
        assert_shell(g, "25/1", "ffprobe -v error -show_entries stream=r_frame_rate -of default=nk=1:nw=1 '%s' | tail -1",
                     g->output);
    }
}

static void odd_sizes_are_padded_where_they_must(void **state)
{
    struct ground *g = *state;
    g->info.width_px = 33;
    g->info.height_px = 17;
    g->params.crf = "0";
    ground_output(g, "out.mp4");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 5, NULL));
    assert_shell(g, "34,18", stream_entry, "width,height", g->output);
    assert_non_null(strstr(g->log, "padded to 34x18"));
    char expected[64];
    snprintf(expected, sizeof expected, "MD5=%s", ground_md5(g, 5));
    const char hash[] = "ffmpeg -v error -i out.mp4 -vf extractplanes=y,crop=%s -f rawvideo -pix_fmt gray - | "
                        "ffmpeg -v error -f data -i - -map 0 -c copy -f md5 -";
    assert_shell(g, expected, hash, "33:17:0:0");
    char last[64];
    snprintf(last, sizeof last, "%s", shell(g, hash, "1:18:32:0"));
    assert_shell(g, last, hash, "1:18:33:0"); /* the last column, twice */

    g->log[0] = 0;
    g->params.pixel_format = "yuv444p";
    ground_output(g, "exact.mp4");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 2, NULL));
    assert_shell(g, "33,17", stream_entry, "width,height", g->output);
    assert_string_equal("", g->log);
}

static void smallest_sizes(void **state)
{
    struct ground *g = *state;
    const struct {
        const char *name, *codec;
    } outputs[] = {{"a.mp4", NULL}, {"b.webm", NULL}, {"c.mkv", "libx265"}, {"d.gif", NULL}, {"e.avi", NULL}, {"f.y4m", NULL}};
    g->info.width_px = g->info.height_px = 1;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        ground_output(g, outputs[i].name);
        g->params.codec = outputs[i].codec;
        assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 3, NULL));
        assert_shell(g, "3", count_frames, g->output);
    }
}

static void colours_and_shape_are_tagged(void **state)
{
    struct ground *g = *state;
    g->info.pixel_aspect = (AVRational){4, 3};
    ground_output(g, "out.mp4");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 2, NULL));
    assert_shell(g, "4:3,yuvj420p,pc,bt709,bt709,bt709", stream_entry,
                 "pix_fmt,color_range,color_space,color_transfer,color_primaries,sample_aspect_ratio", g->output);
}

static void pixel_format_wishes(void **state)
{
    struct ground *g = *state;
    g->params.overwrite = true;
    ground_output(g, "out.mp4");
    g->params.pixel_format = "gbrp";
    assert_int_equal(EC_ERROR_ARGUMENT, ground_run(g, &ec_sink_file, 1, NULL));
    assert_non_null(strstr(g->error.text, "yuv420p, "));
    g->params.pixel_format = "nonsense";
    assert_int_equal(EC_ERROR_ARGUMENT, ground_run(g, &ec_sink_file, 1, NULL));
    g->depth_bits = 10;
    g->params.pixel_format = NULL;
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 1, NULL));
    assert_shell(g, "yuv420p10le", stream_entry, "pix_fmt", g->output);
}

/* By way of swscale: gray stays the same gray in every channel. */
static void packed_and_rgb_formats_are_exact(void **state)
{
    struct ground *g = *state;
    char expected[64];
    snprintf(expected, sizeof expected, "MD5=%s", ground_md5(g, 1));
    g->params.codec = "rawvideo";
    g->params.overwrite = true;
    for (int i = 0; i < 3; i++) {
        const char *const formats[] = {"rgb24", "bgr0", "gbrp"};
        g->params.pixel_format = formats[i];
        ground_output(g, "out.nut");
        assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 1, NULL));
        for (int c = 0; c < 3; c++)
            assert_shell(g, expected,
                         "ffmpeg -v error -i out.nut -vf format=gbrp,extractplanes=%c -f rawvideo - | "
                         "ffmpeg -v error -f data -i - -map 0 -c copy -f md5 -",
                         "rgb"[c]);
    }
}

static void options(void **state)
{
    struct ground *g = *state;
    const struct ec_option unknown = {"nosuch", "1"}, muxer = {"movflags", "+frag_keyframe"}, refused = {"b", "many"};
    g->params.overwrite = true;
    g->params.encoder_option_count = 1;
    ground_output(g, "out.mp4");
    g->params.encoder_options = &unknown;
    assert_int_equal(EC_ERROR_ARGUMENT, ground_run(g, &ec_sink_file, 1, NULL));
    assert_non_null(strstr(g->error.text, "nosuch"));
    g->params.encoder_options = &refused;
    assert_int_equal(EC_ERROR_ARGUMENT, ground_run(g, &ec_sink_file, 1, NULL));
    assert_shell(g, "", "ls -A");
    g->params.encoder_options = &muxer;
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 1, NULL));
    g->params.encoder_option_count = 0;
    g->params.preset = "nosuch";
    assert_int_equal(EC_ERROR_ARGUMENT, ground_run(g, &ec_sink_file, 1, NULL));
    g->params.preset = "ultrafast";
    g->params.crf = "30";
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 1, NULL));
    g->params.codec = "mpeg4";
    assert_int_equal(EC_ERROR_ARGUMENT, ground_run(g, &ec_sink_file, 1, NULL));
    g->params.codec = "nosuch";
    assert_int_equal(EC_ERROR_ARGUMENT, ground_run(g, &ec_sink_file, 1, NULL));
    ground_output(g, "out.nosuch");
    assert_int_equal(EC_ERROR_ARGUMENT, ground_run(g, &ec_sink_file, 1, NULL));
    g->params.output_format = "nosuch";
    assert_int_equal(EC_ERROR_ARGUMENT, ground_run(g, &ec_sink_file, 1, NULL));
}

static void hardware_encoder_falls_back(void **state)
{
    struct ground *g = *state;
    g->params.codec = "h264_nvenc";
    g->params.preset = "p4";
    g->params.crf = "20";
    ground_output(g, "out.mp4");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 3, NULL));
    assert_shell(g, "h264,3", stream_entry, "codec_name,nb_frames", g->output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, ground_setup, ground_teardown)
        TEST(lossless_gray),
        TEST(lossless_deep_gray),
        TEST(depth_between_formats),
        TEST(lossless_in_other_containers),
        TEST(irregular_times_are_kept),
        TEST(late_start_is_kept),
        TEST(constant_rates),
        TEST(odd_sizes_are_padded_where_they_must),
        TEST(smallest_sizes),
        TEST(colours_and_shape_are_tagged),
        TEST(pixel_format_wishes),
        TEST(packed_and_rgb_formats_are_exact),
        TEST(options),
        TEST(hardware_encoder_falls_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
