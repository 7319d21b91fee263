#include "pipeline/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/frame.h"
#include "pipeline/same_file.h"

#define BUFFER_BYTES (1 << 18)

struct ec_trace {
    char *path;
    int64_t origin_ns;
    pthread_mutex_t lock;
    FILE *file; /* guarded by lock; an error stays in its error flag */
    int cause; /* errno of the first failed write, guarded by lock */
};

static void name_track(FILE *file, int track, const char *name, int number)
{
    char label[64];
    snprintf(label, sizeof label, number >= 0 ? "%s %d" : "%s", name, number);
    fprintf(file,
            "{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}},\n"
            "{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%d}},\n",
            track, label, track, track);
}

static enum ec_status open_file(struct ec_trace *t, const char *input, struct ec_error *error)
{
    struct stat info;
    const int fd = open(t->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return ec_fail(error, EC_ERROR_OUTPUT, "the trace cannot be written to %s: %s", t->path, strerror(errno));
    if (fstat(fd, &info) != 0 || ec_is_input_file(input, &info)) {
        close(fd);
        return ec_fail(error, EC_ERROR_OUTPUT, "the trace cannot be written to %s: it is the input itself", t->path);
    }
    if ((S_ISREG(info.st_mode) && ftruncate(fd, 0) != 0) || !(t->file = fdopen(fd, "w"))) {
        const int cause = errno;
        close(fd);
        return ec_fail(error, EC_ERROR_OUTPUT, "the trace cannot be written to %s: %s", t->path, strerror(cause));
    }
    return EC_OK;
}

enum ec_status ec_trace_open(struct ec_trace **out, const char *path, const char *input, int lanes, int gpus,
                             struct ec_error *error)
{
    static const char *const names[EC_TRACK_LANE] = {
        [EC_TRACK_DECODE] = "decode thread",    [EC_TRACK_QUEUE_IN] = "queue in",    [EC_TRACK_STAGE] = "stage thread",
        [EC_TRACK_QUEUE_OUT] = "queue out",     [EC_TRACK_SINK] = "sink thread",     [EC_TRACK_H2D] = "engine: upload",
        [EC_TRACK_COMPUTE] = "engine: compute", [EC_TRACK_D2H] = "engine: download",
    };
    struct ec_trace *t = calloc(1, sizeof *t);
    *out = t;
    if (!t || !(t->path = strdup(path))) {
        free(t);
        *out = NULL;
        return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", path);
    }
    pthread_mutex_init(&t->lock, NULL);
    t->origin_ns = ec_now_ns();
    enum ec_status status = open_file(t, input, error);
    if (status != EC_OK) {
        ec_trace_close(out, NULL);
        return status;
    }
    setvbuf(t->file, NULL, _IOFBF, BUFFER_BYTES);
    fputs("[\n", t->file);
    fputs("{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"edgecam\"}},\n", t->file);
    for (int track = EC_TRACK_DECODE; track < EC_TRACK_LANE; track++)
        name_track(t->file, track, names[track], -1);
    for (int lane = 0; lane < lanes; lane++)
        name_track(t->file, EC_TRACK_LANE + lane, "lane", lane);
    for (int gpu = 1; gpu < gpus; gpu++)
        for (int e = 0; e < 3; e++) {
            char name[32];
            snprintf(name, sizeof name, "%s, GPU", names[EC_TRACK_H2D + e]);
            name_track(t->file, ec_track_engine(gpu, e), name, gpu);
        }
    return EC_OK;
}

int ec_track_engine(int gpu, int engine)
{
    return gpu == 0 ? EC_TRACK_H2D + engine : EC_TRACK_PEER + 3 * (gpu - 1) + engine;
}

static int64_t since_origin(const struct ec_trace *t, int64_t ns)
{
    return ns > t->origin_ns ? ns - t->origin_ns : 0;
}

/* `written` is what fprintf gave; the caller holds the lock. */
static void note_failure(struct ec_trace *t, int written)
{
    if (written < 0 && !t->cause)
        t->cause = errno;
}

void ec_trace_span(struct ec_trace *t, int track, const char *name, int64_t frame, int64_t start_ns, int64_t end_ns)
{
    if (!t)
        return;
    char args[48] = "";
    if (frame >= 0)
        snprintf(args, sizeof args, ",\"args\":{\"frame\":%" PRId64 "}", frame);
    /* Whole nanoseconds in the format's microseconds: no float rounding, however long the run. */
    const int64_t ts = since_origin(t, start_ns), dur = end_ns > start_ns ? end_ns - start_ns : 0;
    pthread_mutex_lock(&t->lock);
    const int n = fprintf(
        t->file, "{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"name\":\"%s\",\"ts\":%" PRId64 ".%03d,\"dur\":%" PRId64 ".%03d%s},\n",
        track, name, ts / 1000, (int)(ts % 1000), dur / 1000, (int)(dur % 1000), args);
    note_failure(t, n);
    pthread_mutex_unlock(&t->lock);
}

void ec_trace_thresholds(struct ec_trace *t, double low, double high, int64_t at_ns)
{
    if (!t)
        return;
    const int64_t ts = since_origin(t, at_ns);
    pthread_mutex_lock(&t->lock);
    const int n = fprintf(t->file,
                          "{\"ph\":\"C\",\"pid\":1,\"name\":\"thresholds\",\"ts\":%" PRId64
                          ".%03d,\"args\":{\"low\":%.4f,\"high\":%.4f}},\n",
                          ts / 1000, (int)(ts % 1000), low, high);
    note_failure(t, n);
    pthread_mutex_unlock(&t->lock);
}

enum ec_status ec_trace_close(struct ec_trace **trace, struct ec_error *error)
{
    struct ec_trace *t = *trace;
    if (!t)
        return EC_OK;
    enum ec_status status = EC_OK;
    if (t->file) {
        /* The last event carries no comma: strict JSON parsers read the file as well. */
        fprintf(t->file, "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":0}}\n]\n");
        int cause = t->cause;
        if (ferror(t->file) && !cause)
            cause = EIO;
        if (fclose(t->file) != 0 && !cause)
            cause = errno;
        if (cause)
            status = ec_fail(error, EC_ERROR_OUTPUT, "%s: %s", t->path, strerror(cause));
    }
    pthread_mutex_destroy(&t->lock);
    free(t->path);
    free(t);
    *trace = NULL;
    return status;
}
