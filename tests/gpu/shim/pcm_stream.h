/* An H.264 stream without loss and without any compression: every macroblock carries its samples as they are (I_PCM), every
 * picture stands alone (IDR). */
#ifndef EC_SHIM_PCM_STREAM_H
#define EC_SHIM_PCM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcm_stream {
    unsigned width, height; /* even */
    unsigned full_range, primaries, transfer, matrix; /* numbers of the standard */
};

/* Samples of one picture, 4:2:0. Chroma samples of a row are `chroma_step` bytes apart. */
struct pcm_picture {
    const uint8_t *luma, *u, *v;
    size_t pitch, chroma_pitch, chroma_step;
};

/* Sequence and picture parameters, 128 bytes at most; how many. */
enum { PCM_HEADER_BYTES = 128 };
size_t pcm_write_header(const struct pcm_stream *stream, uint8_t *out);

/* The picture with that number, in malloc'd memory. NULL: there is none. */
uint8_t *pcm_write_picture(const struct pcm_stream *stream, const struct pcm_picture *picture, unsigned number, size_t *bytes);

#endif
