#include "app/options.h"

#include <getopt.h>
#include <libavdevice/avdevice.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/suggest.h"

#define LONG_OPTION 256 /* getopt's value of row i is LONG_OPTION + i */

char *app_options_keep(struct app_options *o, char *text, struct ec_error *error)
{
    char **grown = text ? realloc(o->owned, ((size_t)o->owned_count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(text);
        ec_fail(error, EC_ERROR_MEMORY, "out of memory for the command line");
        return NULL;
    }
    o->owned = grown;
    return o->owned[o->owned_count++] = text;
}

void app_options_free(struct app_options *o)
{
    for (int i = 0; i < o->owned_count; i++)
        free(o->owned[i]);
    free(o->owned);
    free(o->inputs);
    free(o->input_options);
    free(o->encoder_options);
    free(o->kernel_weights);
    free(o->recipe);
    *o = (struct app_options){0};
}

/* False unless two or more options begin with `name`. */
static bool is_ambiguous(const char *name, struct ec_error *error)
{
    char list[320] = "";
    int count = 0;
    for (int i = 0; i < app_option_count; i++) {
        if (strncmp(app_option_table[i].name, name, strlen(name)) != 0)
            continue;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s--%s", count++ ? ", " : "", app_option_table[i].name);
    }
    if (count < 2)
        return false;
    ec_fail(error, EC_ERROR_ARGUMENT, "ambiguous option '--%s': it could be %s", name, list);
    return true;
}

static enum ec_status unknown_option(const char *word, struct ec_error *error)
{
    if (word[0] != '-' || word[1] != '-')
        return ec_fail(error, EC_ERROR_ARGUMENT, "unknown option '%s' (--help lists them all)", word);
    char name[64] = "";
    struct app_suggestion best = {0};
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    if (name[0] && is_ambiguous(name, error))
        return error->status;
    for (int i = 0; i < app_option_count; i++)
        app_suggest(&best, name, app_option_table[i].name);
    if (best.word)
        return ec_fail(error, EC_ERROR_ARGUMENT, "unknown option '--%s': did you mean '--%s'?", name, best.word);
    return ec_fail(error, EC_ERROR_ARGUMENT, "unknown option '--%s' (--help lists them all)", name);
}

static enum ec_status add_input(struct app_options *o, const char *input, struct ec_error *error)
{
    if (input[0] == '\0')
        return ec_fail(error, EC_ERROR_ARGUMENT, "an input has an empty name");
    const char **grown = realloc(o->inputs, ((size_t)o->input_count + 1) * sizeof *grown);
    if (!grown)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the command line");
    o->inputs = grown;
    o->inputs[o->input_count++] = input;
    return EC_OK;
}

static const struct app_option *find_row(int value)
{
    if (value >= LONG_OPTION)
        return &app_option_table[value - LONG_OPTION];
    for (int i = 0; i < app_option_count; i++) {
        if (value != 0 && app_option_table[i].letter == value)
            return &app_option_table[i];
    }
    return NULL;
}

/* "--norm=l1\n--no-audio\n": in the order they were given, for some of them say different things then. */
static enum ec_status add_to_recipe(struct app_options *o, const struct app_option *option, const char *value,
                                    struct ec_error *error)
{
    if (option->harmless || option->group > APP_GROUP_OUTPUT)
        return EC_OK;
    char *longer = NULL;
    if (asprintf(&longer, "%s--%s%s%s\n", o->recipe ? o->recipe : "", option->name, value ? "=" : "", value ? value : "") < 0)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the command line");
    free(o->recipe);
    o->recipe = longer;
    return EC_OK;
}

static enum ec_status read_words(struct app_options *o, int argc, char **argv, struct ec_error *error)
{
    struct option long_options[80] = {0};
    char short_options[40] = "-:"; /* inputs where they stand, ':' for a missing value */
    for (int i = 0; i < app_option_count; i++) {
        const struct app_option *row = &app_option_table[i];
        long_options[i] = (struct option){row->name, (int)row->argument, NULL, LONG_OPTION + i};
        const char letter[] = {row->letter, row->argument == APP_ARGUMENT_REQUIRED ? ':' : '\0', '\0'};
        strncat(short_options, letter, sizeof short_options - strlen(short_options) - 1);
    }

    opterr = 0;
    optind = 0;
    for (;;) {
        const int at = optind > 0 ? optind : 1;
        const int value = getopt_long(argc, argv, short_options, long_options, NULL);
        if (value == -1)
            break;
        const struct app_option *row = find_row(value == ':' || value == '?' ? optopt : value);
        if (value == 1)
            add_input(o, optarg, error);
        else if (value == ':')
            ec_fail(error, EC_ERROR_ARGUMENT, "--%s expects %s behind it", row->name, row->metavar);
        else if (value == '?' && row && row->argument == APP_ARGUMENT_NONE && strchr(argv[at], '='))
            ec_fail(error, EC_ERROR_ARGUMENT, "--%s takes no value", row->name);
        else if (value == '?')
            unknown_option(argv[at], error);
        else if (row->set(o, row, optarg, error) == EC_OK)
            add_to_recipe(o, row, optarg, error);
        if (error->status)
            return error->status;
    }
    for (; optind < argc; optind++) {
        if (add_input(o, argv[optind], error))
            return error->status;
    }
    return EC_OK;
}

static bool is_video_device(const char *name, size_t length)
{
    const AVInputFormat *format = NULL;
    avdevice_register_all();
    while ((format = av_input_video_device_next(format))) {
        for (const char *alias = format->name; alias; alias = strchr(alias, ',') ? strchr(alias, ',') + 1 : NULL) {
            if (strcspn(alias, ",") == length && strncmp(alias, name, length) == 0)
                return true;
        }
    }
    return false;
}

/* A camera shows what is there now: the newest frame wins. What FFmpeg reads from a device to find out its format is stale by
 * the time it is known, so it is thrown away ("nobuffer"); not so for a URL, where it holds the stream's first key frame. */
static enum ec_status use_webcam(struct app_options *o, struct ec_error *error)
{
    const char *device = o->webcam ? o->webcam : "/dev/video0";
    const char *format = o->pipeline.input_format;
    const char *colon = strchr(device, ':');
    if (colon && !format && is_video_device(device, (size_t)(colon - device))) {
        format = app_options_keep(o, strndup(device, (size_t)(colon - device)), error);
        device = colon + 1;
    } else if (!format && strncmp(device, "/dev/video", 10) == 0) {
        format = "v4l2";
    }
    o->pipeline.input_format = format;
    o->pipeline.live = true;
    if (!error->status && format && is_video_device(format, strlen(format)))
        app_options_add_input_option(o, "fflags=nobuffer", error);
    return error->status ? error->status : add_input(o, device, error);
}

static enum ec_status use_demo(struct app_options *o, const char *scheme, struct ec_error *error)
{
    const char *size = o->demo && o->demo[0] ? o->demo : "3840x2160@60";
    char *input = malloc(strlen(scheme) + strlen(size) + 1);
    if (input)
        strcat(strcpy(input, scheme), size);
    return app_options_keep(o, input, error) ? add_input(o, input, error) : error->status;
}

static bool is_folder(const char *name)
{
    struct stat s;
    return stat(name, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool has_display(void)
{
    static const char *const hints[] = {"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"};
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        const char *value = getenv(hints[i]);
        if (value && value[0])
            return true;
    }
    return false;
}

static enum ec_status check_edges(struct app_options *o, struct ec_error *error)
{
    if (o->pipeline.edge.kernel.size > 0 && o->operator_count == 0)
        o->operators[o->operator_count++] = EC_OPERATOR_CONVOLUTION;
    if (o->operator_count == 0)
        o->operators[o->operator_count++] = EC_OPERATOR_SOBEL;
    bool convolves = false;
    for (int i = 0; i < o->operator_count; i++)
        convolves |= o->operators[i] == EC_OPERATOR_CONVOLUTION;
    if (convolves && o->pipeline.edge.kernel.size == 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "-e convolution needs its weights: --kernel \"1 2 1; 0 0 0; -1 -2 -1\"");
    if (!convolves && o->pipeline.edge.kernel.size > 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "--kernel belongs to -e convolution, not to -e %s",
                       ec_operator_name(o->operators[0]));
    if (o->operator_count > 1 && o->task != APP_BENCH)
        return ec_fail(error, EC_ERROR_ARGUMENT, "-e takes one operator (several are for --bench)");
    o->pipeline.edge.op = o->operators[0];
    return EC_OK;
}

static enum ec_status check_device(struct app_options *o, struct ec_error *error)
{
    if (o->has_gpu && o->has_backend && o->pipeline.device.backend == EC_BACKEND_CPU)
        return ec_fail(error, EC_ERROR_ARGUMENT, "--gpu and --backend cpu contradict each other");
    if (o->has_gpu)
        o->pipeline.device.backend = EC_BACKEND_CUDA;
    o->pipeline.decoder_threads = o->pipeline.device.threads;
    return EC_OK;
}

static enum ec_status check_inputs(struct app_options *o, struct ec_error *error)
{
    const int named = o->input_count;
    if (named + o->has_webcam + (o->demo != NULL) == 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "no input is named: give a file or a URL, --webcam or --demo (see --help)");
    if (o->has_webcam && use_webcam(o, error))
        return error->status;
    if (o->demo && use_demo(o, "demo:", error))
        return error->status;
    if (o->input_count > 1 && !o->out_dir)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%d inputs need --out-dir DIR for their outputs", o->input_count);
    if (!o->out_dir && is_folder(o->inputs[0]))
        return ec_fail(error, EC_ERROR_ARGUMENT, "'%s' is a folder: name --out-dir DIR for the outputs", o->inputs[0]);
    o->pipeline.input = o->inputs[0];
    return EC_OK;
}

/* One thing may own standard output. */
static enum ec_status check_outputs(struct app_options *o, struct ec_error *error)
{
    const char *owners[4];
    int count = 0;
    if (o->pipeline.output && strcmp(o->pipeline.output, "-") == 0)
        owners[count++] = "-o -";
    if (o->pipeline.hash)
        owners[count++] = "--hash";
    if (o->stats && strcmp(o->stats, "-") == 0)
        owners[count++] = "--stats -";
    if (o->report && strcmp(o->report, "-") == 0)
        owners[count++] = "--report -";
    if (count > 1)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s and %s cannot both write to standard output", owners[0], owners[1]);
    if (o->out_dir && o->pipeline.output)
        return ec_fail(error, EC_ERROR_ARGUMENT, "-o names one output, --out-dir a folder of them: use one of the two");

    const char *of_batch = o->jobs > 0 ? "--jobs" : o->resume ? "--resume" : o->report ? "--report" : NULL;
    if (of_batch && !o->out_dir)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s needs --out-dir DIR", of_batch);
    if (o->jobs > 1 && (o->pipeline.display || o->pipeline.hash))
        return ec_fail(error, EC_ERROR_ARGUMENT, "--jobs %d and %s cannot go together: that shows one input at a time", o->jobs,
                       o->pipeline.display ? "--display" : "--hash");

    const bool named = o->out_dir || o->pipeline.output || o->pipeline.display || o->pipeline.hash || o->pipeline.null_sink;
    if (!named && !has_display())
        return ec_fail(
            error, EC_ERROR_ARGUMENT,
            "no output is named, and there is no display for a window: name -o FILE, --out-dir DIR, --hash or --null");
    o->pipeline.display |= !named;
    return EC_OK;
}

enum ec_status app_options_parse(struct app_options *o, int argc, char **argv, struct ec_error *error)
{
    o->log_level = EC_LOG_NOTICE;
    o->recipe = strdup("edgecam " EDGECAM_VERSION "\n");
    if (!o->recipe)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the command line");
    if (read_words(o, argc, argv, error))
        return error->status;
    if (o->task == APP_HELP || o->task == APP_VERSION || o->task == APP_LIST)
        return EC_OK;
    if (check_edges(o, error) || check_device(o, error))
        return error->status;
    if (o->task == APP_DOCTOR)
        return EC_OK;
    if (o->tune && o->task != APP_BENCH)
        return ec_fail(error, EC_ERROR_ARGUMENT, "--tune goes with --bench");
    if (o->task == APP_BENCH) {
        if (o->input_count > 0 || o->has_webcam)
            return ec_fail(error, EC_ERROR_ARGUMENT,
                           "--bench takes no input: it makes its own frames (--demo=WxH@FPS sets their size)");
        if (use_demo(o, "cycle:", error))
            return error->status;
        o->pipeline.input = o->inputs[0];
    } else if (check_inputs(o, error) || check_outputs(o, error)) {
        return error->status;
    }
    o->pipeline.input_options = o->input_options;
    o->pipeline.encoder_options = o->encoder_options;
    return EC_OK;
}
