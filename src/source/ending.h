/* Whether an input was cut off among its pictures: most containers end without a word then. A walk through the parts of an MP4
 * in fragments, a Matroska, AVI, FLV, GIF, APNG, Ogg, ASF or AV1 stream by the sizes in their headers; what these do not tell
 * is not guessed. */
#ifndef EC_SOURCE_ENDING_H
#define EC_SOURCE_ENDING_H

#include <libavformat/avformat.h>
#include <stdbool.h>

#include "source/parts.h"

enum { EC_HEAD_MAX_BYTES = 27 + 255 /* an Ogg page with a full table */ };

/* Zero-initialised: at the beginning of the stream. */
struct ec_ending {
    const struct ec_part_kind *kind; /* private, as the rest; NULL: not known yet */
    struct ec_part_state state;
    struct ec_part part, begun; /* the last one whose header was read, the one whose header is being read */
    uint8_t head[EC_HEAD_MAX_BYTES];
    int head_bytes;
    int64_t seen, at; /* bytes that went by; where the next header begins or has begun */
    int64_t opened_end; /* of the part around all others; 0: not known */
    bool stopped; /* what follows is not understood */
};

/* The next bytes of the stream. */
void ec_ending_feed(struct ec_ending *ending, const uint8_t *data, size_t bytes);

/* Walks through a whole file from the start; moves the place of reading. */
void ec_ending_feed_file(struct ec_ending *ending, AVIOContext *file);

/* After the last byte: true when the stream ends in a part that holds frames, or in front of one. False for streams that
 * libavformat does not call `format`, one of its names, and where an index or nothing at all is missing. */
bool ec_ending_is_cut(const struct ec_ending *ending, const char *format);

/* True when an MP4 ends in the table of a fragment: of such a file libavformat opens nothing when it may seek, and everything
 * in front of the table when it may not. */
bool ec_ending_is_in_table(const struct ec_ending *ending);

#endif
