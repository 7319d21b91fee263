#include "app/values.h"

#include <ctype.h>
#include <errno.h>
#include <libavutil/parseutils.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/suggest.h"

static const char *skip_space(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

enum ec_status app_value_integer(int64_t *out, const char *option, const char *text, int64_t low, int64_t high,
                                 struct ec_error *error)
{
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high) {
        if (high == INT64_MAX)
            return ec_fail(error, EC_ERROR_ARGUMENT, "%s expects a whole number of at least %lld, got '%s'", option,
                           (long long)low, text);
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s expects a whole number from %lld to %lld, got '%s'", option,
                       (long long)low, (long long)high, text);
    }
    *out = value;
    return EC_OK;
}

enum ec_status app_value_number(double *out, const char *option, const char *text, double low, double high,
                                struct ec_error *error)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value < low || value > high)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s expects a number from %g to %g, got '%s'", option, low, high, text);
    *out = value;
    return EC_OK;
}

enum ec_status app_value_time(double *out_s, const char *option, const char *text, struct ec_error *error)
{
    int64_t us = 0;
    if (av_parse_time(&us, text, 1) < 0 || us < 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s expects a time such as 90, 1:30 or 00:01:30.5, got '%s'", option, text);
    *out_s = (double)us / 1e6;
    return EC_OK;
}

enum ec_status app_value_word(int *out, const char *option, const char *text, const struct app_word *words,
                              struct ec_error *error)
{
    char list[256] = "";
    struct app_suggestion best = {0};
    for (const struct app_word *word = words; word->text; word++) {
        if (strcmp(word->text, text) == 0) {
            *out = word->value;
            return EC_OK;
        }
        app_suggest(&best, text, word->text);
        if (word != words)
            strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, word->text, sizeof list - strlen(list) - 1);
    }
    if (best.word)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s does not know '%s': did you mean '%s'? (it takes %s)", option, text,
                       best.word, list);
    return ec_fail(error, EC_ERROR_ARGUMENT, "%s does not know '%s': it takes %s", option, text, list);
}

/* Reads up to EC_KERNEL_MAX_SIZE rows; *size becomes the number of rows, each as long as the first. */
static const char *read_rows(float *weights, int *size, const char *text)
{
    int rows = 0, first = 0, columns = 0, count = 0;
    for (;;) {
        text += strspn(text, " \t\n,");
        if (*text == ';' || *text == '/' || *text == '\0') {
            if (columns > 0) {
                if (rows > 0 && columns != first)
                    return NULL;
                first = columns;
                rows++;
                columns = 0;
            } else if (*text == ';') {
                return NULL;
            }
            if (*text != ';')
                break;
            text++;
            continue;
        }
        char *end = NULL;
        const float weight = strtof(text, &end);
        if (end == text || count == EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE)
            return NULL;
        weights[count++] = weight;
        columns++;
        text = end;
    }
    if (rows == 0 || rows != first)
        return NULL;
    *size = rows;
    return text;
}

enum ec_status app_value_kernel(struct ec_kernel *out, float **weights, const char *option, const char *text,
                                struct ec_error *error)
{
    int size = 0;
    int64_t divisor = 0;
    *weights = calloc((size_t)EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE, sizeof **weights);
    if (!*weights)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory for the weights of %s", option);

    const char *rest = read_rows(*weights, &size, text);
    if (!rest || size % 2 == 0) {
        ec_fail(error, EC_ERROR_ARGUMENT,
                "%s expects as many weights in each row as there are rows, an odd number up to %d, such as "
                "'1 2 1; 0 0 0; -1 -2 -1', got '%s'",
                option, EC_KERNEL_MAX_SIZE, text);
        goto fail;
    }
    if (*rest == '/' && app_value_integer(&divisor, "the divisor of --kernel", skip_space(rest + 1), 1, INT32_MAX, error))
        goto fail;
    *out = (struct ec_kernel){.size = size, .weights = *weights, .divisor = (int)divisor};
    return EC_OK;

fail:
    free(*weights);
    *weights = NULL;
    return error->status;
}
