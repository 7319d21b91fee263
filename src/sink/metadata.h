/* What a container says about its content: titles, languages, chapters. */
#ifndef EC_SINK_METADATA_H
#define EC_SINK_METADATA_H

#include <libavformat/avformat.h>

#include "source/source.h"

/* Copies global metadata and chapters, moved by info->shift_us and cut to the wanted part. No container: nothing to do.
 * Returns 0 or AVERROR(ENOMEM). */
int ec_metadata_copy(AVFormatContext *out, const struct ec_stream_info *info);

/* Copies a stream's metadata and disposition. `pictures_changed`: the content is new, so only what still holds (language,
 * title) is copied. Returns 0 or AVERROR(ENOMEM). */
int ec_metadata_copy_stream(AVStream *out, const AVStream *in, bool pictures_changed);

#endif
