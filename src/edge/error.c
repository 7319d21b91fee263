#include "edge/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_BYTES = 9000 }; /* two paths and a sentence */

/* A text that is too long for its place, because of a long name in it, loses its middle: the cause stands at the end. */
static void write_text(char *out, size_t size, const char *format, va_list args)
{
    static const char gap[] = " ... ";
    char whole[LONGEST_BYTES];
    vsnprintf(whole, sizeof whole, format, args);
    const size_t length = strlen(whole), tail = size / 2;
    memcpy(out, whole, length < size ? length + 1 : size);
    if (length >= size) {
        memcpy(out + size - tail - sizeof gap + 1, gap, sizeof gap - 1);
        memcpy(out + size - tail, whole + length - tail + 1, tail);
    }
}

enum ec_status ec_fail(struct ec_error *error, enum ec_status status, const char *format, ...)
{
    if (error && error->status == EC_OK) {
        error->status = status;
        va_list args;
        va_start(args, format);
        write_text(error->text, sizeof error->text, format, args);
        va_end(args);
    }
    return status;
}

void ec_log(const struct ec_logger *logger, enum ec_log_level level, const char *format, ...)
{
    if (!logger || !logger->message)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    write_text(text, sizeof text, format, args);
    va_end(args);
    logger->message(logger->opaque, level, text);
}

const char *ec_status_text(enum ec_status status)
{
    switch (status) {
    case EC_OK:
        return "all well";
    case EC_ERROR_FRAMES:
        return "frames were lost or damaged, or none came";
    case EC_ERROR_ARGUMENT:
        return "a parameter is out of range";
    case EC_ERROR_INPUT:
        return "the input cannot be read";
    case EC_ERROR_OUTPUT:
        return "the output cannot be written";
    case EC_ERROR_DEVICE:
        return "the device is not there or failed";
    case EC_ERROR_MEMORY:
        return "out of memory";
    case EC_STOPPED:
        return "stopped";
    }
    return "unknown status";
}
