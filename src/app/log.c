#include "app/log.h"

#include <libavutil/log.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct app_log {
    enum ec_log_level level; /* fixed after open */
    pthread_mutex_t lock; /* guards what follows, and standard error */
    char bar[200];
    char ffmpeg_line[1024]; /* FFmpeg writes lines in pieces */
    int print_prefix;
};

/* av_log has one callback for the process and gives it no pointer of ours. */
static struct app_log *ffmpeg_log;

/* Names may hold anything: what would move a terminal's cursor, or begin another line, shows as a question mark. */
static void put_printable(const char *text)
{
    const unsigned char *t = (const unsigned char *)text;
    for (; *t; t++) {
        const bool c1 = t[0] == 0xc2 && t[1] >= 0x80 && t[1] < 0xa0; /* U+0080 to U+009F */
        putc(*t < ' ' || *t == 0x7f || c1 ? '?' : *t, stderr);
        t += c1;
    }
}

static void write_line(struct app_log *log, const char *prefix, const char *text)
{
    if (log->bar[0])
        fputs("\r\033[K", stderr);
    fputs(prefix, stderr);
    put_printable(text);
    putc('\n', stderr);
    if (log->bar[0])
        fputs(log->bar, stderr);
    fflush(stderr);
}

static void take_message(void *opaque, enum ec_log_level level, const char *text)
{
    struct app_log *log = opaque;
    if (level > log->level)
        return;
    pthread_mutex_lock(&log->lock);
    write_line(log, "edgecam: ", text);
    pthread_mutex_unlock(&log->lock);
}

static void take_ffmpeg_message(void *object, int level, const char *format, va_list args)
{
    struct app_log *log = ffmpeg_log;
    if (!log || log->level < EC_LOG_VERBOSE || level > AV_LOG_INFO)
        return;
    pthread_mutex_lock(&log->lock);
    const size_t used = strlen(log->ffmpeg_line);
    av_log_format_line2(object, level, format, args, log->ffmpeg_line + used, (int)(sizeof log->ffmpeg_line - used),
                        &log->print_prefix);
    char *newline = strchr(log->ffmpeg_line, '\n');
    if (newline || strlen(log->ffmpeg_line) + 1 == sizeof log->ffmpeg_line) {
        if (newline)
            *newline = '\0';
        write_line(log, "ffmpeg: ", log->ffmpeg_line);
        log->ffmpeg_line[0] = '\0';
    }
    pthread_mutex_unlock(&log->lock);
}

struct app_log *app_log_open(enum ec_log_level level)
{
    struct app_log *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->level = level;
    log->print_prefix = 1;
    if (pthread_mutex_init(&log->lock, NULL) != 0) {
        free(log);
        return NULL;
    }
    ffmpeg_log = log;
    av_log_set_level(AV_LOG_INFO);
    av_log_set_callback(take_ffmpeg_message);
    return log;
}

void app_log_close(struct app_log **log)
{
    if (!*log)
        return;
    app_log_bar(*log, NULL);
    ffmpeg_log = NULL;
    pthread_mutex_destroy(&(*log)->lock);
    free(*log);
    *log = NULL;
}

struct ec_logger app_log_logger(struct app_log *log)
{
    return (struct ec_logger){.message = take_message, .opaque = log};
}

void app_log_bar(struct app_log *log, const char *text)
{
    pthread_mutex_lock(&log->lock);
    if (log->bar[0] || (text && text[0])) {
        snprintf(log->bar, sizeof log->bar, "%s", text ? text : "");
        fprintf(stderr, "\r\033[K%s", log->bar);
        fflush(stderr);
    }
    pthread_mutex_unlock(&log->lock);
}

void app_log_raw(struct app_log *log, const char *text)
{
    pthread_mutex_lock(&log->lock);
    write_line(log, "", text);
    pthread_mutex_unlock(&log->lock);
}
