#include "app/job_list.h"

#include <dirent.h>
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define EXTENSION_SIZE 16

static bool is_one_of(const char *text, const char *const *list)
{
    for (; *list; list++) {
        if (strcasecmp(text, *list) == 0)
            return true;
    }
    return false;
}

/* What follows the last dot of a file's name, "" without one. */
static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? dot + 1 : "";
}

static void choose_extension(char out[EXTENSION_SIZE], const char *input, const struct ec_pipeline_params *params)
{
    static const char *const kept[] = {"mkv", "mov", "webm", NULL};
    const char *extension = extension_of(input);
    if (params->output_format) {
        const AVOutputFormat *format = av_guess_format(params->output_format, NULL, NULL);
        const char *usual = format && format->extensions && format->extensions[0] ? format->extensions : params->output_format;
        snprintf(out, EXTENSION_SIZE, "%.*s", (int)strcspn(usual, ","), usual);
        return;
    }
    snprintf(out, EXTENSION_SIZE, "%s", is_one_of(extension, kept) ? extension : "mp4");
    for (char *letter = out; *letter; letter++)
        *letter = (char)(*letter >= 'A' && *letter <= 'Z' ? *letter - 'A' + 'a' : *letter);

    const AVCodec *codec = params->codec ? avcodec_find_encoder_by_name(params->codec) : NULL;
    char name[EXTENSION_SIZE + 2];
    snprintf(name, sizeof name, "x.%s", out);
    const AVOutputFormat *format = codec ? av_guess_format(NULL, name, NULL) : NULL;
    if (format && avformat_query_codec(format, codec->id, FF_COMPLIANCE_NORMAL) == 0)
        strcpy(out, "mkv");
}

static bool is_taken(const struct app_job_list *list, const char *output)
{
    for (int i = 0; i < list->count; i++) {
        if (list->jobs[i].output && strcmp(list->jobs[i].output, output) == 0)
            return true;
    }
    return false;
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
    const char *extension = extension_of(input);
    if (extension[0] && extension > name && (size_t)(extension - name) <= length)
        length = (size_t)(extension - name) - 1;
    return length > 0 ? strndup(name, length) : strdup("video");
}

/* NULL when memory ran out. */
static char *name_output(const struct app_job_list *list, const char *input, const struct app_options *options)
{
    char extension[EXTENSION_SIZE];
    choose_extension(extension, input, &options->pipeline);
    char *stem = stem_of(input), *output = NULL;
    for (int number = 1; stem; number++) {
        char suffix[16] = "";
        if (number > 1)
            snprintf(suffix, sizeof suffix, "-%d", number);
        if (asprintf(&output, "%s/%s%s.%s", options->out_dir, stem, suffix, extension) < 0)
            output = NULL;
        if (!output || !is_taken(list, output))
            break;
        free(output);
    }
    free(stem);
    return output;
}

/* Takes `input`, which is malloc'd. */
static enum ec_status add_job(struct app_job_list *list, char *input, bool is_empty_folder, const struct app_options *options,
                              struct ec_error *error)
{
    struct app_job *grown = input ? realloc(list->jobs, ((size_t)list->count + 1) * sizeof *grown) : NULL;
    if (grown) {
        list->jobs = grown;
        struct app_job *job = &grown[list->count];
        *job = (struct app_job){.input = input, .output = is_empty_folder ? NULL : name_output(list, input, options)};
        list->count++;
        if (job->output || is_empty_folder)
            return EC_OK;
    } else {
        free(input);
    }
    return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the list of inputs");
}

static int has_video_extension(const struct dirent *entry)
{
    static const char *const known[] = {"mp4", "m4v", "mov", "mkv", "webm", "avi", "ts",  "m2ts", "mts", "mpg",  "mpeg",
                                        "wmv", "flv", "ogv", "3gp", "mxf",  "vob", "y4m", "gif",  "nut", "divx", NULL};
    return entry->d_name[0] != '.' && is_one_of(extension_of(entry->d_name), known);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum ec_status add_folder(struct app_job_list *list, const char *folder, const struct app_options *options,
                                 struct ec_error *error)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, has_video_extension, by_name);
    int added = 0;
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        struct stat s;
        if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
            path = NULL;
        if (path && stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {
            free(path);
        } else if (!error->status) {
            add_job(list, path, false, options, error);
            added++;
        } else {
            free(path);
        }
        free(entries[i]);
    }
    free(entries);
    if (added == 0 && !error->status)
        add_job(list, strdup(folder), true, options, error);
    return error->status;
}

enum ec_status app_job_list_make(struct app_job_list *list, const struct app_options *options, struct ec_error *error)
{
    for (int i = 0; i < options->input_count; i++) {
        const char *input = options->inputs[i];
        struct stat s;
        if (stat(input, &s) == 0 && S_ISDIR(s.st_mode))
            add_folder(list, input, options, error);
        else
            add_job(list, strdup(input), false, options, error);
        if (error->status)
            return error->status;
    }
    return EC_OK;
}

void app_job_list_free(struct app_job_list *list)
{
    for (int i = 0; i < list->count; i++) {
        free(list->jobs[i].input);
        free(list->jobs[i].output);
    }
    free(list->jobs);
    *list = (struct app_job_list){0};
}

const char *app_job_list_victim(const struct app_job_list *list, const struct app_job *job)
{
    struct stat output, input;
    if (stat(job->output, &output) != 0 || !S_ISREG(output.st_mode))
        return NULL;
    for (int i = 0; i < list->count; i++) {
        if (stat(list->jobs[i].input, &input) == 0 && input.st_dev == output.st_dev && input.st_ino == output.st_ino)
            return list->jobs[i].input;
    }
    return NULL;
}
