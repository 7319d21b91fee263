#include "app/journal.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct app_journal {
    const char *folder, *options;
    char *name;
    pthread_mutex_t lock; /* guards what follows */
    json_t *known; /* output -> its last line */
    FILE *file; /* NULL: nothing was added yet */
};

/* malloc'd; NULL when memory ran out. */
static char *spell(const char *bytes)
{
    char *text = malloc(3 * strlen(bytes) + 1), *end = text;
    for (; text && *bytes; bytes++) {
        const unsigned char byte = (unsigned char)*bytes;
        if (byte > ' ' && byte < 0x7F && byte != '%')
            *end++ = (char)byte;
        else
            end += sprintf(end, "%%%02X", byte);
    }
    if (text)
        *end = '\0';
    return text;
}

static json_t *spelled(const char *bytes)
{
    char *text = bytes ? spell(bytes) : NULL;
    json_t *value = text ? json_string(text) : NULL;
    free(text);
    return value;
}

static json_int_t modified_ns(const struct stat *s)
{
    return (json_int_t)s->st_mtim.tv_sec * 1000000000 + s->st_mtim.tv_nsec;
}

/* The job as the journal tells of it; NULL: input or output is no file that can be known again, or memory ran out. */
static json_t *describe(const struct app_journal *j, const struct app_job *job, bool finished)
{
    struct stat in, out;
    if (stat(job->input, &in) != 0 || !S_ISREG(in.st_mode) || stat(job->output, &out) != 0 || !S_ISREG(out.st_mode))
        return NULL;
    char *path = realpath(job->input, NULL);
    json_t *line = json_object();
    json_object_set_new(line, "output", spelled(job->output + strlen(j->folder) + 1));
    json_object_set_new(line, "input", spelled(path));
    json_object_set_new(line, "input_bytes", json_integer(in.st_size));
    json_object_set_new(line, "input_ns", json_integer(modified_ns(&in)));
    json_object_set_new(line, "options", spelled(j->options));
    json_object_set_new(line, "output_bytes", json_integer(out.st_size));
    json_object_set_new(line, "output_ns", json_integer(modified_ns(&out)));
    json_object_set_new(line, "finished", json_boolean(finished));
    free(path);
    return line;
}

static void remember(struct app_journal *j, json_t *line)
{
    const char *output = json_string_value(json_object_get(line, "output"));
    if (output)
        json_object_set(j->known, output, line);
}

static enum ec_status read_lines(struct app_journal *j, struct ec_error *error)
{
    FILE *file = fopen(j->name, "r");
    if (!file)
        return errno == ENOENT ? EC_OK
                               : ec_fail(error, EC_ERROR_OUTPUT, "the record of finished outputs, '%s', cannot be read: %s",
                                         j->name, strerror(errno));
    char *text = NULL;
    size_t size = 0;
    while (getline(&text, &size, file) > 0) {
        json_t *line = json_loads(text, 0, NULL);
        remember(j, line);
        json_decref(line);
    }
    free(text);
    fclose(file);
    return EC_OK;
}

enum ec_status app_journal_open(struct app_journal **out, const char *folder, const char *options, struct ec_error *error)
{
    *out = NULL;
    struct app_journal *j = calloc(1, sizeof *j);
    if (!j)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    pthread_mutex_init(&j->lock, NULL);
    j->folder = folder;
    j->options = options;
    j->known = json_object();
    if (!j->known || asprintf(&j->name, "%s/.edgecam-batch", folder) < 0) {
        j->name = NULL;
        ec_fail(error, EC_ERROR_MEMORY, "out of memory");
        goto fail;
    }
    if (read_lines(j, error))
        goto fail;
    *out = j;
    return EC_OK;

fail:
    app_journal_close(&j);
    return error->status;
}

static bool agree(const json_t *a, const json_t *b, const char *const *keys)
{
    for (; *keys; keys++) {
        if (!json_equal(json_object_get(a, *keys), json_object_get(b, *keys)))
            return false;
    }
    return true;
}

enum app_journal_answer app_journal_ask(struct app_journal *j, const struct app_job *job)
{
    static const char *const of_output[] = {"output_bytes", "output_ns", NULL};
    static const char *const of_all[] = {"input", "input_bytes", "input_ns", "options", "finished", NULL};
    enum app_journal_answer answer = APP_JOURNAL_UNKNOWN;
    json_t *now = describe(j, job, true);
    if (!now)
        return answer;
    pthread_mutex_lock(&j->lock);
    const json_t *then = json_object_get(j->known, json_string_value(json_object_get(now, "output")));
    if (then && agree(now, then, of_output))
        answer = agree(now, then, of_all) ? APP_JOURNAL_CURRENT : APP_JOURNAL_OLD;
    pthread_mutex_unlock(&j->lock);
    json_decref(now);
    return answer;
}

void app_journal_add(struct app_journal *j, const struct app_job *job, bool finished, const struct ec_logger *logger)
{
    json_t *line = describe(j, job, finished);
    if (!line)
        return;
    pthread_mutex_lock(&j->lock);
    remember(j, line);
    errno = 0;
    if (!j->file)
        j->file = fopen(j->name, "ae");
    const bool written =
        j->file && json_dumpf(line, j->file, JSON_COMPACT) == 0 && fputc('\n', j->file) != EOF && fflush(j->file) == 0;
    const int cause = errno;
    pthread_mutex_unlock(&j->lock);
    json_decref(line);
    if (!written)
        ec_log(logger, EC_LOG_WARNING, "'%s' cannot be written, so --resume will not know %s: %s", j->name, job->output,
               strerror(cause));
}

void app_journal_close(struct app_journal **journal)
{
    struct app_journal *j = *journal;
    if (!j)
        return;
    if (j->file)
        fclose(j->file);
    json_decref(j->known);
    pthread_mutex_destroy(&j->lock);
    free(j->name);
    free(j);
    *journal = NULL;
}
