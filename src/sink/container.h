/* What goes into which container, beyond what libavformat says itself. */
#ifndef EC_SINK_CONTAINER_H
#define EC_SINK_CONTAINER_H

#include <libavformat/avformat.h>
#include <stdbool.h>

/* Whether players find the codec in that container; `compliance` is avformat_query_codec's. */
bool ec_container_takes(const AVOutputFormat *format, enum AVCodecID id, int compliance);

/* The ending of a usual container that takes the codec (".mkv"); NULL: there is none. Static storage. */
const char *ec_container_for(enum AVCodecID id);

#endif
