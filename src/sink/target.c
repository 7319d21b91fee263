#include "sink/target.h"

#include <errno.h>
#include <fcntl.h>
#include <libavformat/avformat.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/same_file.h"

static enum ec_status out_of_memory(const struct ec_target *target, struct ec_error *error)
{
    return ec_fail(error, EC_ERROR_MEMORY, "cannot open %s: out of memory", target->name ? target->name : "the output");
}

static char *join(const char *a, const char *b)
{
    char *text = NULL;
    return asprintf(&text, "%s%s", a, b) < 0 ? NULL : text;
}

/* "dir/" of "dir/name", "./" of "name". */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
}

static enum ec_status check_directory(struct ec_target *target, struct ec_error *error)
{
    char *directory = directory_of(target->path);
    if (!directory)
        return out_of_memory(target, error);
    struct stat info;
    enum ec_status status = EC_OK;
    if (stat(directory, &info))
        status = errno == ENOENT
                     ? ec_fail(error, EC_ERROR_OUTPUT, "cannot write %s: there is no directory %s", target->name, directory)
                     : ec_fail(error, EC_ERROR_OUTPUT, "cannot write %s: %s", target->name, strerror(errno));
    else if (!S_ISDIR(info.st_mode))
        status = ec_fail(error, EC_ERROR_OUTPUT, "cannot write %s: %s is not a directory", target->name, directory);
    else if (access(directory, W_OK | X_OK))
        status =
            ec_fail(error, EC_ERROR_OUTPUT, "cannot write %s: the directory %s: %s", target->name, directory, strerror(errno));
    free(directory);
    return status;
}

/* `info`: of what stands at the target's place already. */
static enum ec_status check_existing(const struct ec_target *target, const char *input, const struct stat *info,
                                     struct ec_error *error)
{
    if (S_ISDIR(info->st_mode))
        return ec_fail(error, EC_ERROR_OUTPUT, "cannot write %s: it is a directory", target->name);
    if (ec_is_input_file(input, info))
        return ec_fail(error, EC_ERROR_OUTPUT, "%s is the input itself; name another output", target->name);
    if (ec_input_mentions(input, target->path))
        return ec_fail(error, EC_ERROR_OUTPUT, "%s may be one of the files that the input %s reads; name another output",
                       target->name, input);
    if (!target->overwrite)
        return ec_fail(error, EC_ERROR_OUTPUT, "%s exists; use -y to replace it", target->name);
    if (access(target->path, W_OK))
        return ec_fail(error, EC_ERROR_OUTPUT, "cannot replace %s: %s", target->name, strerror(errno));
    return EC_OK;
}

/* The hidden name has a fixed length, so that any name the file system takes for the target can be written. */
static enum ec_status create_temporary(struct ec_target *target, mode_t mode, struct ec_error *error)
{
    char *directory = directory_of(target->path);
    if (!directory)
        return out_of_memory(target, error);
    int fd = -1;
    for (int attempt = 0; attempt < 16 && fd < 0; attempt++) {
        uint64_t number = 0;
        if (getrandom(&number, sizeof number, 0) < 0)
            break;
        free(target->temporary);
        target->temporary = NULL;
        if (asprintf(&target->temporary, "%s.edgecam-%016llx", directory, (unsigned long long)number) < 0) {
            target->temporary = NULL;
            errno = ENOMEM;
            break;
        }
        fd = open(target->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    free(directory);
    if (fd < 0) {
        int cause = errno;
        free(target->temporary);
        target->temporary = NULL;
        return ec_fail(error, EC_ERROR_OUTPUT, "cannot write %s: %s", target->name, strerror(cause));
    }
    if (mode && fchmod(fd, mode)) {
        /* A file system without modes: the default ones stand. */
    }
    close(fd);
    return EC_OK;
}

static enum ec_status open_file(struct ec_target *target, const char *input, struct ec_error *error)
{
    struct stat info;
    mode_t mode = 0;
    if (!stat(target->path, &info)) {
        if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
            target->kind = EC_TARGET_DIRECT;
            return EC_OK;
        }
        enum ec_status status = check_existing(target, input, &info, error);
        if (status != EC_OK)
            return status;
        char *real = realpath(target->path, NULL);
        if (!real)
            return ec_fail(error, EC_ERROR_OUTPUT, "cannot replace %s: %s", target->name, strerror(errno));
        free(target->path);
        target->path = real;
        mode = info.st_mode & 0777;
    } else if (!lstat(target->path, &info)) { /* a link to nowhere */
        if (!target->overwrite)
            return ec_fail(error, EC_ERROR_OUTPUT, "%s exists; use -y to replace it", target->name);
    } else if (errno != ENOENT && errno != ENOTDIR) {
        return ec_fail(error, EC_ERROR_OUTPUT, "cannot write %s: %s", target->name, strerror(errno));
    }
    enum ec_status status = check_directory(target, error);
    return status == EC_OK ? create_temporary(target, mode, error) : status;
}

/* Only the first file is looked at: it stands for the series. */
static enum ec_status open_series(struct ec_target *target, const char *input, struct ec_error *error)
{
    if (input && strcmp(input, target->name) == 0)
        return ec_fail(error, EC_ERROR_OUTPUT, "%s is the input itself; name another output", target->name);
    char first[PATH_MAX], second[PATH_MAX];
    if (av_get_frame_filename2(first, sizeof first, target->path, 1, 0) < 0)
        snprintf(first, sizeof first, "%s", target->path);
    else if (av_get_frame_filename2(second, sizeof second, target->path, 2, 0) < 0 || strcmp(first, second) == 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s gives every picture the same name; FFmpeg takes up to 19 digits",
                       target->name);
    struct stat info;
    if (!stat(first, &info)) {
        if (S_ISDIR(info.st_mode))
            return ec_fail(error, EC_ERROR_OUTPUT, "cannot write %s: %s is a directory", target->name, first);
        if (ec_is_input_file(input, &info))
            return ec_fail(error, EC_ERROR_OUTPUT, "%s is the input itself; name another output", first);
        if (ec_input_mentions(input, target->path))
            return ec_fail(error, EC_ERROR_OUTPUT, "%s may be one of the files that the input %s reads; name another output",
                           target->name, input);
        if (!target->overwrite)
            return ec_fail(error, EC_ERROR_OUTPUT, "%s exists; use -y to replace it", first);
    }
    return check_directory(target, error);
}

enum ec_status ec_target_open(struct ec_target **out, const char *name, const char *input, bool series, bool overwrite,
                              struct ec_error *error)
{
    *out = NULL;
    struct ec_target *target = calloc(1, sizeof *target);
    if (!target)
        return ec_fail(error, EC_ERROR_MEMORY, "cannot open %s: out of memory", name);
    enum ec_status status = EC_OK;
    pthread_mutex_init(&target->lock, NULL);
    target->overwrite = overwrite;
    bool standard = strcmp(name, "-") == 0;
    target->name = strdup(standard ? "standard output" : name);
    target->path = strdup(name);
    if (!target->name || !target->path) {
        status = out_of_memory(target, error);
        goto fail;
    }
    if (standard) {
        target->kind = EC_TARGET_STDOUT;
    } else if (series) {
        target->kind = EC_TARGET_SERIES;
        status = open_series(target, input, error);
    } else {
        status = open_file(target, input, error);
    }
    if (status != EC_OK)
        goto fail;
    target->url = standard ? strdup("pipe:1") : join("file:", target->temporary ? target->temporary : target->path);
    if (!target->url) {
        status = out_of_memory(target, error);
        goto fail;
    }
    *out = target;
    return EC_OK;
fail:
    ec_target_close(&target);
    return status;
}

/* rename() that refuses an existing target, also on file systems without RENAME_NOREPLACE. */
static int rename_new(const char *from, const char *to)
{
    if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (!link(from, to))
        return unlink(from);
    if (errno != EPERM && errno != EOPNOTSUPP && errno != EMLINK)
        return -1;
    struct stat info;
    if (!lstat(to, &info)) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

enum ec_status ec_target_commit(struct ec_target *target, struct ec_error *error)
{
    if (!target->temporary)
        return EC_OK;
    int failed = target->overwrite ? rename(target->temporary, target->path) : rename_new(target->temporary, target->path);
    if (failed && errno == EEXIST)
        return ec_fail(error, EC_ERROR_OUTPUT, "%s appeared while it was being written; use -y to replace it", target->name);
    if (failed)
        return ec_fail(error, EC_ERROR_OUTPUT, "cannot give %s its name: %s", target->name, strerror(errno));
    pthread_mutex_lock(&target->lock);
    free(target->temporary);
    target->temporary = NULL;
    pthread_mutex_unlock(&target->lock);
    return EC_OK;
}

void ec_target_abandon(struct ec_target *target)
{
    pthread_mutex_lock(&target->lock);
    if (target->temporary)
        unlink(target->temporary);
    pthread_mutex_unlock(&target->lock);
}

void ec_target_close(struct ec_target **target)
{
    struct ec_target *t = *target;
    if (!t)
        return;
    if (t->temporary)
        unlink(t->temporary);
    pthread_mutex_destroy(&t->lock);
    free(t->temporary);
    free(t->url);
    free(t->path);
    free(t->name);
    free(t);
    *target = NULL;
}
