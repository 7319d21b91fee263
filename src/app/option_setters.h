/* How the options of the table reach struct app_options. */
#ifndef EC_APP_OPTION_SETTERS_H
#define EC_APP_OPTION_SETTERS_H

#include "app/options.h"

/* The member at option->offset, by its type. */
app_option_setter app_set_flag; /* bool: true */
app_option_setter app_set_text; /* const char *, not empty */
app_option_setter app_set_folder; /* the same, without slashes behind it */
app_option_setter app_set_integer; /* int, low to high */
app_option_setter app_set_number; /* double, low to high */
app_option_setter app_set_nonzero; /* the same, but not 0: that would mean "the default" in the parameters */
app_option_setter app_set_time; /* double, seconds */
app_option_setter app_set_word; /* int or an enumeration, from option->words */
app_option_setter app_set_word_flag; /* bool, from option->words */

/* One member each, or several. */
app_option_setter app_set_duration, app_set_frames, app_set_stream, app_set_gpu, app_set_backend, app_set_webcam, app_set_demo;
app_option_setter app_set_low, app_set_high, app_set_auto, app_set_auto_time, app_set_stable;
app_option_setter app_set_operators; /* "sobel", or "sobel,scharr" for a benchmark */
app_option_setter app_set_kernel, app_set_bench;
app_option_setter app_set_line_colour, app_set_paper_colour;
app_option_setter app_set_task, app_set_level; /* option->low says which */
app_option_setter app_add_input_option, app_add_encoder_option;

#endif
