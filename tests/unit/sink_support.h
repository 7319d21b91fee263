/* Frames, inputs and judges for the tests of the sinks. A failed check ends the test. */
#ifndef EC_TEST_SINK_SUPPORT_H
#define EC_TEST_SINK_SUPPORT_H

#include "sink/sink.h"

/* A sink's surroundings: an empty directory that goes away with it, parameters, stream information, and what was logged. */
struct ground {
    char directory[64];
    char output[512]; /* params.output points here */
    char log[4096]; /* notices and worse, a line each */
    struct ec_pipeline_params params;
    struct ec_stream_info info;
    int depth_bits;
    AVFormatContext *input; /* opened by ground_input */
    struct ec_error error;
};

int ground_setup(void **state); /* 32x24, 8 bit, 1/1000 s, 25 frames a second */
int ground_teardown(void **state);

void ground_output(struct ground *g, const char *name); /* inside the directory */

/* Makes a file with the ffmpeg program, arguments as to printf, "%s" last for its name, and opens it as the input. */
void ground_input(struct ground *g, const char *name, const char *arguments);

/* One frame of a pattern that differs in every pixel and frame, with a pitch wider than a row. */
struct ec_frame ground_frame(const struct ground *g, int64_t index, int64_t pts, int64_t duration);

/* Opens the sink, gives it `count` frames (pts[i], or 40 * i without a list) and the input's packets, and finishes it. Returns
 * the first status that is not EC_OK; the sink is closed in any case. */
enum ec_status ground_run(struct ground *g, const struct ec_sink_ops *ops, int count, const int64_t *pts);

/* MD5 of the pattern's frames 0 to count - 1 without padding, 16 bits low byte first. */
const char *ground_md5(const struct ground *g, int count);

/* What a shell command prints, run in the directory, without newlines and spaces at the end. Valid until the next call. */
const char *shell(const struct ground *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define assert_shell(g, expected, ...) assert_string_equal(expected, shell(g, __VA_ARGS__))

#endif
