#include "app/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/same_file.h"

struct app_json_file {
    const char *what, *name;
    bool created;
    pthread_mutex_t lock; /* guards what follows */
    FILE *stream;
    bool used;
};

static enum ec_status open_file(struct app_json_file *file, const struct app_json_file_params *p, struct ec_error *error)
{
    int fd = open(p->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    file->created = fd >= 0;
    if (fd < 0 && errno == EEXIST)
        fd = open(p->name, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return ec_fail(error, EC_ERROR_OUTPUT, "%s cannot be written to '%s': %s", p->what, p->name, strerror(errno));

    struct stat s;
    for (int i = 0; i < p->input_count && fstat(fd, &s) == 0 && S_ISREG(s.st_mode); i++) {
        if (ec_is_input_file(p->inputs[i], &s)) {
            close(fd);
            return ec_fail(error, EC_ERROR_ARGUMENT, "%s '%s' is the input '%s'", p->option, p->name, p->inputs[i]);
        }
    }
    file->stream = fdopen(fd, "w");
    if (!file->stream) {
        close(fd);
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for %s", p->what);
    }
    return EC_OK;
}

enum ec_status app_json_file_open(struct app_json_file **out, const struct app_json_file_params *p, struct ec_error *error)
{
    *out = NULL;
    struct app_json_file *file = calloc(1, sizeof *file);
    if (!file)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for %s", p->what);
    pthread_mutex_init(&file->lock, NULL);
    file->name = p->name;
    file->what = p->what;
    if (strcmp(p->name, "-") == 0)
        file->stream = stdout;
    else if (open_file(file, p, error))
        goto fail;
    *out = file;
    return EC_OK;

fail:
    app_json_file_close(&file);
    return error->status;
}

static bool write_line(struct app_json_file *file, const json_t *object, const struct ec_logger *logger)
{
    struct stat s;
    if (!file->used && file->stream != stdout && fstat(fileno(file->stream), &s) == 0 && S_ISREG(s.st_mode) &&
        ftruncate(fileno(file->stream), 0) != 0)
        ec_log(logger, EC_LOG_WARNING, "the old content of '%s' could not be removed: %s", file->name, strerror(errno));
    file->used = true;
    errno = 0;
    return object && json_dumpf(object, file->stream, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0 &&
           fputc('\n', file->stream) != EOF && fflush(file->stream) == 0;
}

enum ec_status app_json_file_add(struct app_json_file *file, json_t *object, const struct ec_logger *logger)
{
    pthread_mutex_lock(&file->lock);
    const bool written = write_line(file, object, logger);
    const int cause = errno ? errno : ENOMEM;
    pthread_mutex_unlock(&file->lock);
    json_decref(object);
    if (written)
        return EC_OK;
    ec_log(logger, EC_LOG_ERROR, "%s could not be written to '%s': %s", file->what, file->name, strerror(cause));
    return EC_ERROR_OUTPUT;
}

void app_json_file_close(struct app_json_file **file)
{
    struct app_json_file *f = *file;
    if (!f)
        return;
    if (f->stream && f->stream != stdout)
        fclose(f->stream);
    if (f->created && !f->used)
        unlink(f->name);
    pthread_mutex_destroy(&f->lock);
    free(f);
    *file = NULL;
}
