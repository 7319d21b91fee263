/* Words of the command line to values. The whole word counts and ranges are checked; a failure is EC_ERROR_ARGUMENT and one
 * sentence that names the option and the word. Options are named as the person writes them ("--lanes"). */
#ifndef EC_APP_VALUES_H
#define EC_APP_VALUES_H

#include <stdint.h>

#include "edge/error.h"
#include "edgecam/edge.h"

/* A name and what it stands for; a list ends with {NULL, 0}. */
struct app_word {
    const char *text;
    int value;
};

/* Both ends belong to the range. */
enum ec_status app_value_integer(int64_t *out, const char *option, const char *text, int64_t low, int64_t high,
                                 struct ec_error *error);
enum ec_status app_value_number(double *out, const char *option, const char *text, double low, double high,
                                struct ec_error *error);
/* Seconds as "90", "1:30", "00:01:30.5" or "500ms"; never negative. */
enum ec_status app_value_time(double *out_s, const char *option, const char *text, struct ec_error *error);
/* An unknown word gets the nearest right one, and the whole list. */
enum ec_status app_value_word(int *out, const char *option, const char *text, const struct app_word *words,
                              struct ec_error *error);
/* Rows of weights "1 2 1; 0 0 0; -1 -2 -1", with an optional divisor " / 4" behind. *weights holds the size * size numbers that
 * out->weights points to; it is malloc'd and the caller's. */
enum ec_status app_value_kernel(struct ec_kernel *out, float **weights, const char *option, const char *text,
                                struct ec_error *error);

#endif
