#include "app/stats_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/stats_json.h"
#include "pipeline/same_file.h"

struct app_stats_file {
    const char *name;
    FILE *stream;
    bool created, used;
};

static enum ec_status open_file(struct app_stats_file *file, const char *const *inputs, int input_count, struct ec_error *error)
{
    int fd = open(file->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    file->created = fd >= 0;
    if (fd < 0 && errno == EEXIST)
        fd = open(file->name, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return ec_fail(error, EC_ERROR_OUTPUT, "statistics cannot be written to '%s': %s", file->name, strerror(errno));

    struct stat s;
    for (int i = 0; i < input_count && fstat(fd, &s) == 0 && S_ISREG(s.st_mode); i++) {
        if (ec_is_input_file(inputs[i], &s)) {
            close(fd);
            return ec_fail(error, EC_ERROR_ARGUMENT, "--stats '%s' is the input '%s'", file->name, inputs[i]);
        }
    }
    file->stream = fdopen(fd, "w");
    if (!file->stream) {
        close(fd);
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the statistics");
    }
    return EC_OK;
}

enum ec_status app_stats_file_open(struct app_stats_file **out, const char *name, const char *const *inputs, int input_count,
                                   struct ec_error *error)
{
    *out = NULL;
    struct app_stats_file *file = calloc(1, sizeof *file);
    if (!file)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the statistics");
    file->name = name;
    if (strcmp(name, "-") == 0)
        file->stream = stdout;
    else if (open_file(file, inputs, input_count, error))
        goto fail;
    *out = file;
    return EC_OK;

fail:
    app_stats_file_close(&file);
    return error->status;
}

enum ec_status app_stats_file_add_json(struct app_stats_file *file, json_t *object, const struct ec_logger *logger)
{
    struct stat s;
    if (!file->used && file->stream != stdout && fstat(fileno(file->stream), &s) == 0 && S_ISREG(s.st_mode) &&
        ftruncate(fileno(file->stream), 0) != 0)
        ec_log(logger, EC_LOG_WARNING, "the old statistics in '%s' could not be removed: %s", file->name, strerror(errno));
    file->used = true;

    errno = 0;
    const bool written = object && json_dumpf(object, file->stream, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0 &&
                         fputc('\n', file->stream) != EOF && fflush(file->stream) == 0;
    json_decref(object);
    if (written)
        return EC_OK;
    ec_log(logger, EC_LOG_ERROR, "statistics could not be written to '%s': %s", file->name, strerror(errno ? errno : ENOMEM));
    return EC_ERROR_OUTPUT;
}

enum ec_status app_stats_file_add(struct app_stats_file *file, const struct ec_pipeline_params *params,
                                  const struct ec_stats *stats, const struct ec_logger *logger)
{
    return app_stats_file_add_json(file, app_stats_json(params, stats), logger);
}

void app_stats_file_close(struct app_stats_file **file)
{
    struct app_stats_file *f = *file;
    if (!f)
        return;
    if (f->stream && f->stream != stdout)
        fclose(f->stream);
    if (f->created && !f->used)
        unlink(f->name);
    free(f);
    *file = NULL;
}
