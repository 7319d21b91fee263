/* Channel layouts under the names of either generation of FFmpeg (the struct came with 5.1). */
#ifndef EC_SINK_LAYOUT_H
#define EC_SINK_LAYOUT_H

#include <libavcodec/avcodec.h>
#include <libavfilter/buffersrc.h>
#include <stdbool.h>
#include <stddef.h>

/* Gives the encoder the layout of `in`, or the nearest of those it takes. 0 or AVERROR(ENOMEM). */
int ec_layout_choose(AVCodecContext *encoder, const AVCodecParameters *in);

int ec_layout_channels(const AVCodecContext *encoder);

/* The encoder's layout as a filter graph spells it. */
void ec_layout_describe(const AVCodecContext *encoder, char *text, size_t bytes);

/* A layout without an order becomes the usual one of that many channels. */
void ec_layout_complete(AVFrame *frame);

/* Describes frames like `frame` to a buffer source. 0 or AVERROR(ENOMEM). */
int ec_layout_to_source(AVBufferSrcParameters *source, const AVFrame *frame);

/* True when both have the same channels in the same order. */
bool ec_layout_equal(const AVFrame *a, const AVFrame *b);

#endif
