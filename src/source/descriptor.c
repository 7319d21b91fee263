#include "source/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <libavutil/mem.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES 65536
#define WAIT_MS 100

struct ec_descriptor {
    int fd;
    bool owned;
    bool opening; /* a FIFO that no writer has opened yet reads as ended */
    int (*cancelled)(void *);
    void *opaque;
    AVIOContext *io;
    struct ec_ending ending;
};

bool ec_descriptor_wanted(const char *input)
{
    struct stat st;
    return strcmp(input, "-") == 0 || (stat(input, &st) == 0 && S_ISFIFO(st.st_mode));
}

static int read_packet(void *opaque, uint8_t *buffer, int size)
{
    struct ec_descriptor *d = opaque;
    for (;;) {
        if (d->cancelled(d->opaque))
            return AVERROR_EXIT;
        struct pollfd p = {.fd = d->fd, .events = POLLIN};
        const int ready = poll(&p, 1, WAIT_MS);
        if (ready < 0 && errno != EINTR)
            return AVERROR(errno);
        if (ready <= 0)
            continue;
        const ssize_t n = read(d->fd, buffer, (size_t)size);
        if (n > 0) {
            d->opening = false;
            if (!d->io->seekable)
                ec_ending_feed(&d->ending, buffer, (size_t)n);
            return (int)n;
        }
        if (n == 0 && !(d->opening && !(p.revents & POLLHUP)))
            return AVERROR_EOF;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return AVERROR(errno);
    }
}

static int64_t seek_to(void *opaque, int64_t offset, int whence)
{
    struct ec_descriptor *d = opaque;
    struct stat st;
    if (whence & AVSEEK_SIZE)
        return fstat(d->fd, &st) == 0 ? st.st_size : AVERROR(errno);
    const off_t at = lseek(d->fd, offset, whence & ~AVSEEK_FORCE);
    return at < 0 ? AVERROR(errno) : at;
}

enum ec_status ec_descriptor_open(struct ec_descriptor **out, const char *input, bool forwards, int (*cancelled)(void *),
                                  void *opaque, struct ec_error *error)
{
    struct ec_descriptor *d = calloc(1, sizeof *d);
    *out = d;
    if (!d)
        return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", input);
    d->cancelled = cancelled;
    d->opaque = opaque;
    d->owned = strcmp(input, "-") != 0;
    d->opening = d->owned;
    /* Non-blocking only where the file is ours: the flag would be shared with whoever else holds standard input. */
    d->fd = d->owned ? open(input, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : STDIN_FILENO;
    const int cause = errno;
    uint8_t *buffer = d->fd >= 0 ? av_malloc(BUFFER_BYTES) : NULL;
    d->io = buffer ? avio_alloc_context(buffer, BUFFER_BYTES, 0, d, read_packet, NULL, NULL) : NULL;
    if (d->io) {
        /* Standard input may well be a file. */
        struct stat st;
        const bool file = !forwards && fstat(d->fd, &st) == 0 && S_ISREG(st.st_mode);
        d->io->seek = file ? seek_to : NULL;
        d->io->seekable = file ? AVIO_SEEKABLE_NORMAL : 0;
        return EC_OK;
    }
    av_free(buffer);
    const bool opened = d->fd >= 0;
    ec_descriptor_close(out);
    return opened ? ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", input)
                  : ec_fail(error, EC_ERROR_INPUT, "%s: %s", input, strerror(cause));
}

AVIOContext *ec_descriptor_io(struct ec_descriptor *d)
{
    return d->io;
}

const struct ec_ending *ec_descriptor_ending(const struct ec_descriptor *d)
{
    return d->io->seekable ? NULL : &d->ending;
}

void ec_descriptor_close(struct ec_descriptor **descriptor)
{
    struct ec_descriptor *d = *descriptor;
    if (!d)
        return;
    if (d->io)
        av_freep(&d->io->buffer);
    avio_context_free(&d->io);
    if (d->owned && d->fd >= 0)
        close(d->fd);
    free(d);
    *descriptor = NULL;
}
