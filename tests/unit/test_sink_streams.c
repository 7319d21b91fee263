/* The file sink's other streams: sound that fits is copied bit by bit, the rest is converted with a notice or left out. */
#include "sink_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libavcodec/avcodec.h>

#define PICTURE "-f lavfi -i testsrc=size=32x24:rate=25:duration=1 "
#define SOUND "-f lavfi -i 'sine=frequency=440:duration=1' "

static const char audio_md5[] = "ffmpeg -v error -i '%s' -map 0:a -c copy -f md5 -";
static const char codecs[] = "ffprobe -v error -show_entries stream=codec_name -of csv=p=0 '%s' | tr '\\n' ' '";

static void sound_is_copied(void **state)
{
    struct ground *g = *state;
    ground_input(g, "in.mp4",
                 PICTURE SOUND SOUND "-map 0 -map 1 -map 2 -c:a aac -metadata:s:a:1 language=fra -metadata title=Road");
    char expected[64];
    for (int i = 0; i < 3; i++) {
        const char *const names[] = {"out.mp4", "out.mkv", "out.mov"};
        ground_output(g, names[i]);
        av_seek_frame(g->input, -1, INT64_MIN, AVSEEK_FLAG_BACKWARD);
        assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 25, NULL));
        snprintf(expected, sizeof expected, "%s", shell(g, audio_md5, "in.mp4"));
        assert_shell(g, expected, audio_md5, g->output);
        assert_shell(g, "fra", "ffprobe -v error -select_streams a:1 -show_entries stream_tags=language -of csv=p=0 '%s'",
                     g->output);
        assert_shell(g, "Road", "ffprobe -v error -show_entries format_tags=title:format_tags=TITLE -of default=nk=1:nw=1 '%s'",
                     g->output);
    }
    assert_string_equal("", g->log);
    const char packets[] = "ffprobe -v error -select_streams a:0 -show_entries packet=pts,duration -of csv=p=0 '%s' | md5sum";
    snprintf(expected, sizeof expected, "%s", shell(g, packets, "in.mp4"));
    assert_shell(g, expected, packets, "out.mp4");
    assert_shell(g, "1.000000", "ffprobe -v error -show_entries format=duration -of csv=p=0 out.mp4");
}

static void sound_is_copied_between_framings(void **state)
{
    struct ground *g = *state;
    ground_input(g, "in.ts", PICTURE SOUND "-c:a aac");
    ground_output(g, "out.mp4");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 25, NULL));
    char expected[64];
    const char decoded[] = "ffmpeg -v error -i '%s' -map 0:a -f md5 -";
    snprintf(expected, sizeof expected, "%s", shell(g, decoded, "in.ts"));
    assert_shell(g, expected, decoded, "out.mp4");
}

static void expect_converted(struct ground *g, const char *name, const char *codec)
{
    char expected[96];
    ground_output(g, name);
    g->log[0] = 0;
    av_seek_frame(g->input, -1, INT64_MIN, AVSEEK_FLAG_BACKWARD);
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 25, NULL));
    assert_shell(g, codec,
                 "ffprobe -v error -select_streams a -show_entries stream=codec_name -of default=nk=1:nw=1 '%s' | tail -1",
                 name);
    snprintf(expected, sizeof expected, "is converted to %s\n", codec);
    assert_non_null(strstr(g->log, expected));
    const double seconds = atof(shell(g,
                                      "ffmpeg -v error -i '%s' -map 0:a -f wav - | ffprobe -v error -f wav -i - -show_entries "
                                      "packet=pts_time -of csv=p=0 | tail -1",
                                      name));
    assert_true(seconds > 0.9 && seconds < 1.1);
    /* The tone is still there: a sine of 1/8 of full scale has -21 dB, 3 less on each of two channels. */
    const double level =
        atof(shell(g, "ffmpeg -i '%s' -map 0:a -af volumedetect -f null - 2>&1 | sed -n 's/.*mean_volume: //p'", name));
    assert_true(level > -25 && level < -20);
}

static void sound_is_converted(void **state)
{
    struct ground *g = *state;
    ground_input(g, "in.mov", PICTURE SOUND "-c:a pcm_s16le");
    expect_converted(g, "a.mp4", "aac");
    expect_converted(g, "b.webm", "opus");
    expect_converted(g, "c.ts", "aac");
    expect_converted(g, "d.ogv", "vorbis");
}

static void compressed_sound_is_converted(void **state)
{
    struct ground *g = *state;
    ground_input(g, "in.mp4", PICTURE SOUND "-c:a aac -ac 2");
    expect_converted(g, "b.webm", "opus");
}

/* A gap stays a gap: sound that starts late or pauses is not pulled forward. */
static void gaps_in_sound_stay(void **state)
{
    struct ground *g = *state;
    ground_input(g, "in.mkv", PICTURE SOUND "-af \"aselect='not(between(t,0.3,0.7))'\" -c:a pcm_s16le");
    ground_output(g, "out.mp4");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 25, NULL));
    const char silence[] = "ffmpeg -i '%s' -map 0:a -af aresample=async=1,silencedetect=n=-50dB:d=0.1 -f null - 2>&1 | sed -n "
                           "'s/.*silence_duration: //p'";
    const double seconds = atof(shell(g, silence, "out.mp4"));
    assert_true(seconds > 0.3 && seconds < 0.5);
}

static void no_audio(void **state)
{
    struct ground *g = *state;
    ground_input(g, "in.mp4", PICTURE SOUND "-c:a aac");
    g->params.no_audio = true;
    ground_output(g, "out.mp4");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 3, NULL));
    assert_shell(g, "h264", codecs, "out.mp4");
    g->params.no_audio = false;
    ground_output(g, "out.y4m");
    av_seek_frame(g->input, -1, INT64_MIN, AVSEEK_FLAG_BACKWARD);
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 3, NULL));
    assert_string_equal("", g->log);
}

static void sound_ends_with_the_wanted_part(void **state)
{
    struct ground *g = *state;
    ground_input(g, "in.mkv", PICTURE SOUND "-c:a pcm_s16le");
    g->info.end_s = 0.4;
    ground_output(g, "out.mkv");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 10, NULL));
    const double last =
        atof(shell(g, "ffprobe -v error -select_streams a -show_entries packet=pts_time -of csv=p=0 out.mkv | tail -1"));
    assert_true(last > 0.3 && last < 0.4);
}

static void subtitles(void **state)
{
    struct ground *g = *state;
    shell(g, "printf '1\\n00:00:00,200 --> 00:00:00,600\\nRoad ahead\\n\\n' > in.srt");
    char arguments[256];
    snprintf(arguments, sizeof arguments, PICTURE "-i %s/in.srt -map 0 -map 1 -c:s srt", g->directory);
    ground_input(g, "in.mkv", arguments);
    const char *const names[] = {"a.mkv", "b.mp4", "c.webm"};
    const char *const kinds[] = {"h264 subrip", "h264 mov_text", "vp9 webvtt"};
    for (int i = 0; i < 3; i++) {
        ground_output(g, names[i]);
        g->log[0] = 0;
        av_seek_frame(g->input, -1, INT64_MIN, AVSEEK_FLAG_BACKWARD);
        assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 25, NULL));
        assert_shell(g, kinds[i], codecs, names[i]);
        assert_true((i == 0) == (strstr(g->log, "is converted to") == NULL));
        assert_non_null(
            strstr(shell(g, "ffmpeg -v error -i %s -map 0:s -f srt -", names[i]), "00:00:00,200 --> 00:00:00,600\nRoad ahead"));
    }
    ground_output(g, "d.avi");
    g->log[0] = 0;
    av_seek_frame(g->input, -1, INT64_MIN, AVSEEK_FLAG_BACKWARD);
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 25, NULL));
    assert_non_null(strstr(g->log, "is left out"));
}

static void chapters_move_with_the_start(void **state)
{
    struct ground *g = *state;
    shell(g,
          "printf ';FFMETADATA1\\n[CHAPTER]\\nTIMEBASE=1/1000\\nSTART=0\\nEND=400\\ntitle=One\\n[CHAPTER]\\nTIMEBASE=1/1000\\n"
          "START=400\\nEND=1000\\ntitle=Two\\n' > in.txt");
    char arguments[256];
    snprintf(arguments, sizeof arguments, PICTURE "-f ffmetadata -i %s/in.txt -map 0 -map_chapters 1", g->directory);
    ground_input(g, "in.mkv", arguments);
    g->info.shift_us = 100000;
    g->info.end_s = 0.8;
    for (int i = 0; i < 2; i++) {
        const char *const names[] = {"out.mkv", "out.mp4"};
        ground_output(g, names[i]);
        assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 20, NULL));
        assert_shell(g, "0.000000,0.300000,One\n0.300000,0.800000,Two",
                     "ffprobe -v error -show_entries chapter=start_time,end_time:chapter_tags=title -of csv=p=0 %s", names[i]);
    }
}

static void what_has_no_place_is_left_out(void **state)
{
    struct ground *g = *state;
    shell(g, "printf 'not a font' > font.ttf");
    char arguments[256];
    snprintf(arguments, sizeof arguments, PICTURE "-attach %s/font.ttf -metadata:s:1 mimetype=application/x-truetype-font",
             g->directory);
    ground_input(g, "in.mkv", arguments);
    ground_output(g, "out.mkv");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 3, NULL));
    assert_string_equal("", g->log);
    assert_shell(g, "h264 ttf", codecs, "out.mkv");
    ground_output(g, "out.mp4");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 3, NULL));
    assert_non_null(strstr(g->log, "is left out"));
    assert_shell(g, "h264", codecs, "out.mp4");
}

static void damaged_sound_costs_a_warning(void **state)
{
    struct ground *g = *state;
    ground_input(g, "in.mkv", PICTURE SOUND "-c:a aac -bsf:a 'noise=amount=50'");
    ground_output(g, "out.webm");
    assert_int_equal(EC_OK, ground_run(g, &ec_sink_file, 25, NULL));
    assert_non_null(strstr(g->log, "is damaged"));
    assert_shell(g, "vp9 opus", codecs, "out.webm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, ground_setup, ground_teardown)
        TEST(sound_is_copied),
        TEST(sound_is_copied_between_framings),
        TEST(sound_is_converted),
        TEST(compressed_sound_is_converted),
        TEST(gaps_in_sound_stay),
        TEST(no_audio),
        TEST(sound_ends_with_the_wanted_part),
        TEST(subtitles),
        TEST(chapters_move_with_the_start),
        TEST(what_has_no_place_is_left_out),
        TEST(damaged_sound_costs_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
