/* Reading from a file descriptor without ever being stuck: libavformat input from standard input or a FIFO that gives up when
 * told to, while libavformat's own pipe and file protocols block in read(2). */
#ifndef EC_SOURCE_DESCRIPTOR_H
#define EC_SOURCE_DESCRIPTOR_H

#include <libavformat/avio.h>
#include <stdbool.h>

#include "edge/error.h"
#include "source/ending.h"

struct ec_descriptor;

/* True for "-" and for names of FIFOs: what ec_descriptor_open is for. */
bool ec_descriptor_wanted(const char *input);

/* cancelled(opaque) is asked ten times a second while nothing comes; reads then fail with AVERROR_EXIT. Standard input is not
 * closed afterwards. forwards: a regular file is read like a pipe too. */
enum ec_status ec_descriptor_open(struct ec_descriptor **out, const char *input, bool forwards, int (*cancelled)(void *),
                                  void *opaque, struct ec_error *error);
AVIOContext *ec_descriptor_io(struct ec_descriptor *descriptor);
/* What went by so far; NULL: it is a file, which can be looked at as a whole. */
const struct ec_ending *ec_descriptor_ending(const struct ec_descriptor *descriptor);
void ec_descriptor_close(struct ec_descriptor **descriptor);

#endif
