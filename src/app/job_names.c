#include "app/job_names.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define EXTENSION_SIZE 16

bool app_is_one_of(const char *text, const char *const *list)
{
    for (; *list; list++) {
        if (strcasecmp(text, *list) == 0)
            return true;
    }
    return false;
}

const char *app_extension_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? dot + 1 : "";
}

static void choose_extension(char out[EXTENSION_SIZE], const char *input, const struct ec_pipeline_params *params)
{
    static const char *const kept[] = {"mkv", "mov", "webm", NULL};
    const char *extension = app_extension_of(input);
    if (params->output_format) {
        const AVOutputFormat *format = av_guess_format(params->output_format, NULL, NULL);
        const char *usual = format && format->extensions && format->extensions[0] ? format->extensions : params->output_format;
        snprintf(out, EXTENSION_SIZE, "%.*s", (int)strcspn(usual, ","), usual);
        return;
    }
    const char *usual = params->style.style == EC_STYLE_ALPHA ? "mov" : "mp4"; /* transparency does not go into mp4 */
    snprintf(out, EXTENSION_SIZE, "%s", app_is_one_of(extension, kept) ? extension : usual);
    for (char *letter = out; *letter; letter++)
        *letter = (char)(*letter >= 'A' && *letter <= 'Z' ? *letter - 'A' + 'a' : *letter);

    const AVCodec *codec = params->codec ? avcodec_find_encoder_by_name(params->codec) : NULL;
    char name[EXTENSION_SIZE + 2];
    snprintf(name, sizeof name, "x.%s", out);
    const AVOutputFormat *format = codec ? av_guess_format(NULL, name, NULL) : NULL;
    if (format && avformat_query_codec(format, codec->id, FF_COMPLIANCE_NORMAL) == 0)
        strcpy(out, "mkv");
}

/* The input's name without folders and extension; a URL's query is left out. NULL when memory ran out. */
static char *stem_of(const char *input)
{
    struct stat s;
    const bool is_file = stat(input, &s) == 0;
    const char *slash = strrchr(input, '/');
    const char *name = slash ? slash + 1 : input;
    if (strcmp(input, "-") == 0)
        name = "stdin";
    size_t length = is_file ? strlen(name) : strcspn(name, "?#");
    const char *extension = app_extension_of(input);
    if (extension[0] && extension > name && (size_t)(extension - name) <= length)
        length = (size_t)(extension - name) - 1;
    return length > 0 ? strndup(name, length) : strdup("video");
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* False: memory ran out. */
static bool take(struct app_job_names *names, const char *name)
{
    char *copy = strdup(name);
    if (copy && tsearch(copy, &names->taken, compare))
        return true;
    free(copy);
    return false;
}

char *app_job_names_make(struct app_job_names *names, const struct app_options *options, const char *folder, const char *input)
{
    char extension[EXTENSION_SIZE];
    choose_extension(extension, input, &options->pipeline);
    char *stem = stem_of(input), *output = NULL;
    for (int number = 1; stem; number++) {
        char suffix[16] = "";
        if (number > 1)
            snprintf(suffix, sizeof suffix, "-%d", number);
        if (asprintf(&output, "%s/%s%s%s.%s", options->out_dir, folder, stem, suffix, extension) < 0)
            output = NULL;
        if (!output || !tfind(output, &names->taken, compare))
            break;
        free(output);
    }
    free(stem);
    if (output && !take(names, output)) {
        free(output);
        output = NULL;
    }
    return output;
}

void app_job_names_free(struct app_job_names *names)
{
    tdestroy(names->taken, free);
    names->taken = NULL;
}
