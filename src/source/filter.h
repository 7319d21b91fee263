/* A libavfilter chain with one input and one output that follows its input: when the pictures change in size or format it
 * drains and is built anew. */
#ifndef EC_SOURCE_FILTER_H
#define EC_SOURCE_FILTER_H

#include <libavutil/frame.h>

#include "edge/error.h"

struct ec_filter;

/* `chain` is a libavfilter description with one open input and one open output; the first frame checks it. `name` is what it is
 * called in messages. Both are copied. frame_rate may be 0/1. */
enum ec_status ec_filter_open(struct ec_filter **out, const char *chain, const char *name, AVRational time_base,
                              AVRational frame_rate, struct ec_error *error);

/* Puts a frame in (its references move into the chain), or NULL at the end. EC_ERROR_ARGUMENT: the chain does not fit. */
enum ec_status ec_filter_push(struct ec_filter *filter, AVFrame *frame, struct ec_error *error);

/* Takes a finished frame into the empty *frame: 1, or 0 when the chain wants more input or has ended, < 0 an AVERROR. */
int ec_filter_pull(struct ec_filter *filter, AVFrame *frame);

/* Of the frames that come out; valid after the first push. */
AVRational ec_filter_time_base(const struct ec_filter *filter);
AVRational ec_filter_frame_rate(const struct ec_filter *filter);

void ec_filter_close(struct ec_filter **filter);

#endif
