#include "edge/finding.h"

#include <stdarg.h>
#include <stdio.h>

void ec_finding(const struct ec_examiner *examiner, const char *group, enum ec_verdict verdict, const char *format, ...)
{
    char text[640];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    examiner->finding(examiner->opaque, group, verdict, text);
}
