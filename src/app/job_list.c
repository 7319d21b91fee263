#include "app/job_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/job_names.h"

/* What the walk through the inputs works with. */
struct walk {
    struct app_job_list *list;
    const struct app_options *options;
    struct app_job_names names;
    bool has_out_dir; /* it is there already, as: */
    dev_t out_device;
    ino_t out_inode;
    struct ec_error *error;
};

static enum ec_status out_of_memory(struct walk *w)
{
    return ec_fail(w->error, EC_ERROR_MEMORY, "out of memory for the list of inputs");
}

/* Takes `input` and `problem`, which are malloc'd. `folder`: see app_job_names_make; NULL: there is only the problem to tell.
 */
static enum ec_status add_job(struct walk *w, char *input, const char *folder, char *problem)
{
    struct app_job_list *list = w->list;
    struct app_job *grown = input ? realloc(list->jobs, ((size_t)list->count + 1) * sizeof *grown) : NULL;
    if (!grown || (!folder && !problem)) {
        list->jobs = grown ? grown : list->jobs;
        free(input);
        free(problem);
        return out_of_memory(w);
    }
    list->jobs = grown;
    struct app_job *job = &grown[list->count++];
    struct stat s;
    *job = (struct app_job){.input = input, .problem = problem, .bytes = 1};
    if (stat(input, &s) == 0 && S_ISREG(s.st_mode)) {
        job->is_file = true;
        job->device = s.st_dev;
        job->inode = s.st_ino;
        job->bytes = (double)s.st_size + 1;
    }
    if (folder)
        job->output = app_job_names_make(&w->names, w->options, folder, input);
    return folder && !job->output ? out_of_memory(w) : EC_OK;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool has_video_extension(const char *name)
{
    static const char *const known[] = {"mp4",  "m4v", "mov",  "mkv",  "mk3d", "webm", "avi",  "ts",    "m2ts", "mts",
                                        "m2t",  "mpg", "mpeg", "m2v",  "wmv",  "asf",  "flv",  "f4v",   "ogv",  "ogm",
                                        "3gp",  "3g2", "mxf",  "vob",  "y4m",  "gif",  "nut",  "divx",  "dv",   "ivf",
                                        "h264", "264", "h265", "hevc", "265",  "obu",  "mjpg", "mjpeg", NULL};
    return app_is_one_of(app_extension_of(name), known);
}

static enum ec_status add_folder(struct walk *w, const char *path, const char *folder);

/* `path` is the entry `name` of the folder that is called `folder` in the output's tree. */
static enum ec_status add_entry(struct walk *w, const char *path, const char *folder, const char *name)
{
    struct stat s;
    char *below = NULL;
    if (lstat(path, &s) != 0)
        return EC_OK; /* gone meanwhile */
    if (!S_ISDIR(s.st_mode)) {
        const bool wanted = has_video_extension(name) && stat(path, &s) == 0 && S_ISREG(s.st_mode);
        return wanted ? add_job(w, strdup(path), folder, NULL) : EC_OK;
    }
    if (w->has_out_dir && s.st_dev == w->out_device && s.st_ino == w->out_inode)
        return EC_OK;
    if (asprintf(&below, "%s%s/", folder, name) < 0)
        return out_of_memory(w);
    const enum ec_status status = add_folder(w, path, below);
    free(below);
    return status;
}

static char *join(const char *folder, const char *name)
{
    char *path = NULL;
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL : path;
}

static enum ec_status add_folder(struct walk *w, const char *path, const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(path, &entries, is_visible, by_name);
    if (count < 0)
        return errno == ENOMEM ? out_of_memory(w) : add_job(w, strdup(path), NULL, strdup(strerror(errno)));
    for (int i = 0; i < count; i++) {
        char *entry = w->error->status == EC_OK ? join(path, entries[i]->d_name) : NULL;
        if (entry)
            add_entry(w, entry, folder, entries[i]->d_name);
        else
            out_of_memory(w);
        free(entry);
        free(entries[i]);
    }
    free(entries);
    return w->error->status;
}

static enum ec_status add_input(struct walk *w, const char *input)
{
    struct stat s;
    if (stat(input, &s) != 0 || !S_ISDIR(s.st_mode))
        return add_job(w, strdup(input), "", NULL);
    const int before = w->list->count;
    if (add_folder(w, input, "") == EC_OK && w->list->count == before)
        add_job(w, strdup(input), NULL, strdup("no videos in this folder"));
    return w->error->status;
}

enum ec_status app_job_list_make(struct app_job_list *list, const struct app_options *options, struct ec_error *error)
{
    struct walk walk = {.list = list, .options = options, .error = error};
    struct stat s;
    if (stat(options->out_dir, &s) == 0) {
        walk.has_out_dir = true;
        walk.out_device = s.st_dev;
        walk.out_inode = s.st_ino;
    }
    for (int i = 0; error->status == EC_OK && i < options->input_count; i++)
        add_input(&walk, options->inputs[i]);
    app_job_names_free(&walk.names);
    return error->status;
}

void app_job_list_free(struct app_job_list *list)
{
    for (int i = 0; i < list->count; i++) {
        free(list->jobs[i].input);
        free(list->jobs[i].output);
        free(list->jobs[i].problem);
    }
    free(list->jobs);
    *list = (struct app_job_list){0};
}

const char *app_job_list_victim(const struct app_job_list *list, const struct app_job *job)
{
    struct stat output;
    if (stat(job->output, &output) != 0 || !S_ISREG(output.st_mode))
        return NULL;
    for (int i = 0; i < list->count; i++) {
        const struct app_job *other = &list->jobs[i];
        if (other->is_file && other->device == output.st_dev && other->inode == output.st_ino)
            return other->input;
    }
    return NULL;
}
