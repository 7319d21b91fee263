/* Whether a file was cut off among its pictures: most containers end without a word then. */
#ifndef EC_SOURCE_ENDING_H
#define EC_SOURCE_ENDING_H

#include <libavformat/avformat.h>
#include <stdbool.h>

/* Walks through the parts of an MP4 in fragments, a Matroska or an AVI file by their sizes, up to the one that the file ends
 * in. True when that is one that holds frames, or one that the next ones are missing behind. False for other formats, and where
 * an index or nothing at all is missing. Moves the place of reading. */
bool ec_ending_is_cut(AVFormatContext *container);

#endif
