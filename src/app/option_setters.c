#include "app/option_setters.h"

#include <libavutil/parseutils.h>
#include <stdlib.h>
#include <string.h>

static void *member(struct app_options *options, const struct app_option *option)
{
    return (char *)options + option->offset;
}

static const char *spelled(const struct app_option *option, char buffer[32])
{
    strcpy(buffer, "--");
    return strncat(buffer, option->name, 29);
}

enum ec_status app_set_flag(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    (void)value;
    (void)error;
    *(bool *)member(o, option) = true;
    return EC_OK;
}

enum ec_status app_set_text(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    char name[32];
    if (value[0] == '\0')
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s expects %s, got nothing", spelled(option, name), option->metavar);
    *(const char **)member(o, option) = value;
    return EC_OK;
}

enum ec_status app_set_folder(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    char *name = app_options_keep(o, strdup(value), error);
    for (size_t length = name ? strlen(name) : 0; length > 1 && name[length - 1] == '/'; length--)
        name[length - 1] = '\0';
    return name ? app_set_text(o, option, name, error) : error->status;
}

enum ec_status app_set_integer(struct app_options *o, const struct app_option *option, const char *value,
                               struct ec_error *error)
{
    char name[32];
    int64_t number = 0;
    if (app_value_integer(&number, spelled(option, name), value, (int64_t)option->low, (int64_t)option->high, error))
        return error->status;
    *(int *)member(o, option) = (int)number;
    return EC_OK;
}

enum ec_status app_set_number(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    char name[32];
    return app_value_number(member(o, option), spelled(option, name), value, option->low, option->high, error);
}

enum ec_status app_set_nonzero(struct app_options *o, const struct app_option *option, const char *value,
                               struct ec_error *error)
{
    char name[32];
    if (app_set_number(o, option, value, error))
        return error->status;
    if (*(double *)member(o, option) == 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s must not be 0", spelled(option, name));
    return EC_OK;
}

enum ec_status app_set_time(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    char name[32];
    return app_value_time(member(o, option), spelled(option, name), value, error);
}

enum ec_status app_set_duration(struct app_options *o, const struct app_option *option, const char *value,
                                struct ec_error *error)
{
    if (app_set_time(o, option, value, error))
        return error->status;
    if (o->pipeline.duration_s == 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "--duration must not be 0");
    return EC_OK;
}

/* Enumerations of the parameters are all as wide as an int. */
enum ec_status app_set_word(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    char name[32];
    return app_value_word(member(o, option), spelled(option, name), value, option->words, error);
}

enum ec_status app_set_word_flag(struct app_options *o, const struct app_option *option, const char *value,
                                 struct ec_error *error)
{
    char name[32];
    int chosen = 0;
    if (app_value_word(&chosen, spelled(option, name), value, option->words, error))
        return error->status;
    *(bool *)member(o, option) = chosen;
    return EC_OK;
}

enum ec_status app_set_frames(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    (void)option;
    return app_value_integer(&o->pipeline.max_frames, "--frames", value, 1, INT64_MAX, error);
}

enum ec_status app_set_stream(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    o->pipeline.has_stream = true;
    return app_set_integer(o, option, value, error);
}

enum ec_status app_set_low(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    o->pipeline.edge.has_low = true;
    return app_set_number(o, option, value, error);
}

enum ec_status app_set_high(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    o->pipeline.edge.has_high = true;
    return app_set_number(o, option, value, error);
}

enum ec_status app_set_auto(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    return app_set_word(o, option, value ? value : option->words[0].text, error);
}

enum ec_status app_set_auto_time(struct app_options *o, const struct app_option *option, const char *value,
                                 struct ec_error *error)
{
    o->pipeline.edge.has_auto_time = true;
    return app_set_number(o, option, value, error);
}

enum ec_status app_set_stable(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    return app_set_number(o, option, value ? value : "0.5", error);
}

enum ec_status app_set_gpu(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    o->has_gpu = true;
    if (strcmp(value, "all") != 0) {
        const enum ec_status status = app_set_integer(o, option, value, error);
        return status ? ec_fail(error, status, "--gpu expects a whole number from 0 to 255, or all, got '%s'", value) : EC_OK;
    }
    o->pipeline.device.gpu = EC_GPU_ALL;
    return EC_OK;
}

enum ec_status app_set_backend(struct app_options *o, const struct app_option *option, const char *value,
                               struct ec_error *error)
{
    o->has_backend = true;
    return app_set_word(o, option, value, error);
}

enum ec_status app_set_webcam(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    o->has_webcam = true;
    return value ? app_set_text(o, option, value, error) : EC_OK;
}

enum ec_status app_set_demo(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    (void)option;
    (void)error;
    o->demo = value ? value : "";
    return EC_OK;
}

enum ec_status app_set_task(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    (void)value;
    (void)error;
    o->task = (enum app_task)option->low;
    return EC_OK;
}

enum ec_status app_set_bench(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    (void)option;
    o->task = APP_BENCH;
    o->bench_kernels = value != NULL;
    if (value && strcmp(value, "kernels") != 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "--bench takes 'kernels' or nothing, got '%s'", value);
    return EC_OK;
}

enum ec_status app_set_level(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    (void)value;
    (void)error;
    o->log_level = (enum ec_log_level)option->low;
    return EC_OK;
}

enum ec_status app_set_operators(struct app_options *o, const struct app_option *option, const char *value,
                                 struct ec_error *error)
{
    (void)option;
    char *rest = app_options_keep(o, strdup(value), error), *save = NULL;
    if (!rest)
        return error->status;
    o->operator_count = 0;
    for (char *word = strtok_r(rest, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        int op = 0;
        if (app_value_word(&op, "--operator", word, app_words_operators, error))
            return error->status;
        if (o->operator_count == EC_OPERATOR_COUNT)
            return ec_fail(error, EC_ERROR_ARGUMENT, "--operator names more than %d operators", EC_OPERATOR_COUNT);
        o->operators[o->operator_count++] = (enum ec_operator)op;
    }
    if (o->operator_count == 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "--operator expects a name, got '%s'", value);
    return EC_OK;
}

enum ec_status app_set_kernel(struct app_options *o, const struct app_option *option, const char *value, struct ec_error *error)
{
    (void)option;
    free(o->kernel_weights);
    return app_value_kernel(&o->pipeline.edge.kernel, &o->kernel_weights, "--kernel", value, error);
}

/* "#RRGGBB", "RRGGBB" or a name that FFmpeg knows. */
static enum ec_status set_colour(uint32_t *rgb, bool *is_set, const char *option, const char *value, struct ec_error *error)
{
    uint8_t c[4];
    if (av_parse_color(c, value, -1, NULL) < 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s expects a colour such as #FF8000 or orange, got '%s'", option, value);
    *rgb = (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | c[2];
    *is_set = true;
    return EC_OK;
}

enum ec_status app_set_line_colour(struct app_options *o, const struct app_option *option, const char *value,
                                   struct ec_error *error)
{
    (void)option;
    return set_colour(&o->pipeline.style.line_rgb, &o->pipeline.style.has_line, "--line-color", value, error);
}

enum ec_status app_set_paper_colour(struct app_options *o, const struct app_option *option, const char *value,
                                    struct ec_error *error)
{
    (void)option;
    return set_colour(&o->pipeline.style.paper_rgb, &o->pipeline.style.has_paper, "--paper-color", value, error);
}

/* KEY=VALUE; the key may not be empty. */
static enum ec_status add_pair(struct app_options *o, struct ec_option **list, int *count, const char *option,
                               const char *value, struct ec_error *error)
{
    char *key = app_options_keep(o, strdup(value), error);
    if (!key)
        return error->status;
    char *equals = strchr(key, '=');
    if (!equals || equals == key)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s expects KEY=VALUE, got '%s'", option, value);
    *equals = '\0';
    struct ec_option *grown = realloc(*list, ((size_t)*count + 1) * sizeof *grown);
    if (!grown)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the command line");
    *list = grown;
    grown[(*count)++] = (struct ec_option){.key = key, .value = equals + 1};
    return EC_OK;
}

enum ec_status app_options_add_input_option(struct app_options *o, const char *pair, struct ec_error *error)
{
    return add_pair(o, &o->input_options, &o->pipeline.input_option_count, "--input-opt", pair, error);
}

enum ec_status app_add_input_option(struct app_options *o, const struct app_option *option, const char *value,
                                    struct ec_error *error)
{
    (void)option;
    return app_options_add_input_option(o, value, error);
}

enum ec_status app_add_encoder_option(struct app_options *o, const struct app_option *option, const char *value,
                                      struct ec_error *error)
{
    (void)option;
    return add_pair(o, &o->encoder_options, &o->pipeline.encoder_option_count, "--encoder-opt", value, error);
}
