/* The command line as data: the table of options, and what a parsed command line asks for. */
#ifndef EC_APP_OPTIONS_H
#define EC_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "app/values.h"
#include "edgecam/pipeline.h"

enum app_task { APP_RUN = 0, APP_BENCH, APP_DOCTOR, APP_LIST, APP_HELP, APP_VERSION };
enum app_progress_kind { APP_PROGRESS_AUTO = 0, APP_PROGRESS_BAR, APP_PROGRESS_JSON, APP_PROGRESS_NONE };

enum { APP_JOBS_MAX = 64 };

/* Strings are the command line's own, or kept in `owned`. */
struct app_options {
    enum app_task task;
    /* `input` is the first of `inputs`; with out_dir each input gets its own copy of these parameters. */
    struct ec_pipeline_params pipeline;
    const char **inputs;
    int input_count;
    const char *out_dir; /* NULL: one input, one run */
    int jobs; /* inputs at a time; 0: one */
    bool resume;
    char *recipe; /* every option that has a bearing on the outputs, and the version of the program */
    const char *stats, *report; /* file name, "-": standard output, NULL: none */
    enum app_progress_kind progress;
    enum ec_log_level log_level;
    enum ec_operator operators[EC_OPERATOR_COUNT]; /* more than one for a benchmark only */
    int operator_count;
    bool bench_kernels; /* measure the detectors alone */
    bool tune; /* find what this GPU does best, instead */
    const char *demo; /* WxH@FPS, "" for the usual one, NULL: not asked for */

    bool has_webcam, has_backend, has_gpu;
    const char *webcam; /* NULL: the usual camera */
    struct ec_option *input_options, *encoder_options;
    float *kernel_weights;
    char **owned;
    int owned_count;
};

/* Fills *options from the command line; `--help`, `--version` and `--list` need no input. On failure EC_ERROR_ARGUMENT (or
 * _MEMORY) with one sentence in *error. The caller calls app_options_free in either case. */
enum ec_status app_options_parse(struct app_options *options, int argc, char **argv, struct ec_error *error);
void app_options_free(struct app_options *options);

/* Keeps a malloc'd string until app_options_free; NULL (after malloc failed too) in, or no memory: NULL and *error. */
char *app_options_keep(struct app_options *options, char *text, struct ec_error *error);

/* Adds one KEY=VALUE for the demuxer, as --input-opt does. */
enum ec_status app_options_add_input_option(struct app_options *options, const char *pair, struct ec_error *error);

enum app_argument { APP_ARGUMENT_NONE = 0, APP_ARGUMENT_REQUIRED, APP_ARGUMENT_OPTIONAL };
enum app_group { APP_GROUP_INPUT = 0, APP_GROUP_EDGES, APP_GROUP_OUTPUT, APP_GROUP_RUN, APP_GROUP_REPORT, APP_GROUP_COUNT };

struct app_option;
typedef enum ec_status app_option_setter(struct app_options *options, const struct app_option *option, const char *value,
                                         struct ec_error *error);

struct app_option {
    const char *name;
    char letter; /* 0: long form only */
    enum app_argument argument;
    enum app_group group;
    const char *metavar;
    const char *help; /* NULL: the line of the option before it tells of both; empty: for tests, not shown */
    app_option_setter *set;
    size_t offset; /* of the member of struct app_options that `set` fills, if it fills one */
    double low, high; /* of a number */
    const struct app_word *words;
    bool harmless; /* among the options of input, edges and output: the output's bytes do not depend on it */
};

extern const struct app_option app_option_table[];
extern const int app_option_count;

extern const struct app_word app_words_operators[], app_words_norms[], app_words_borders[], app_words_backends[];
extern const struct app_word app_words_styles[];

#endif
