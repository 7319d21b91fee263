/* Choices for sound that is encoded again, made from what encoder and container say about themselves. */
#ifndef EC_SINK_SOUND_H
#define EC_SINK_SOUND_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

/* The encoder of the container's usual sound; NULL if there is none. */
const AVCodec *ec_sound_encoder(const AVOutputFormat *format);

/* The lowest sample rate that loses nothing, else the highest. */
int ec_sound_rate(const AVCodec *codec, int wanted);

/* The same sample format, else the encoder's first. */
enum AVSampleFormat ec_sound_format(const AVCodec *codec, int wanted);

#endif
