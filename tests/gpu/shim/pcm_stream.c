#include "pcm_stream.h"

#include <stdlib.h>

enum { BLOCK = 16, BASELINE = 66, LEVEL_5_1 = 51, NAL_IDR = 5, NAL_SEQUENCE = 7, NAL_PICTURE = 8, MB_I_PCM = 25, SLICE_I = 7 };

/* The body of one unit: bits, where three bytes that a decoder would take for a start code are broken up by a 3 (7.4.1.1). */
struct writer {
    uint8_t *out;
    size_t bytes, zeros;
    unsigned bits, count; /* not written yet: the lowest `count` bits */
};

static void put_byte(struct writer *w, unsigned byte)
{
    if (w->zeros >= 2 && byte <= 3) {
        w->out[w->bytes++] = 3;
        w->zeros = 0;
    }
    w->out[w->bytes++] = (uint8_t)byte;
    w->zeros = byte == 0 ? w->zeros + 1 : 0;
}

static void put(struct writer *w, unsigned value, unsigned count)
{
    while (count-- > 0) {
        w->bits = w->bits << 1 | (value >> count & 1);
        if (++w->count == 8) {
            put_byte(w, w->bits & 255);
            w->count = 0;
        }
    }
}

/* Exp-Golomb (9.1). */
static void put_ue(struct writer *w, unsigned value)
{
    unsigned length = 0;
    while ((value + 1) >> (length + 1))
        length++;
    put(w, 0, length);
    put(w, value + 1, length + 1);
}

static void align(struct writer *w)
{
    while (w->count > 0)
        put(w, 0, 1);
}

static void begin_unit(struct writer *w, unsigned type)
{
    static const uint8_t start[] = {0, 0, 0, 1};
    for (size_t i = 0; i < sizeof start; i++)
        w->out[w->bytes++] = start[i];
    w->zeros = 0;
    put(w, 3u << 5 | type, 8);
}

static void end_unit(struct writer *w)
{
    put(w, 1, 1);
    align(w);
}

static unsigned blocks(unsigned samples)
{
    return (samples + BLOCK - 1) / BLOCK;
}

static void write_sequence(struct writer *w, const struct pcm_stream *s)
{
    const unsigned right = (blocks(s->width) * BLOCK - s->width) / 2, bottom = (blocks(s->height) * BLOCK - s->height) / 2;
    begin_unit(w, NAL_SEQUENCE);
    put(w, BASELINE, 8);
    put(w, 0xC0, 8); /* what the profiles constrain is kept */
    put(w, LEVEL_5_1, 8);
    put_ue(w, 0); /* its number */
    put_ue(w, 0); /* frame numbers of 4 bits */
    put_ue(w, 2); /* pictures are shown in the order of decoding */
    put_ue(w, 0); /* none refers to another */
    put(w, 0, 1);
    put_ue(w, blocks(s->width) - 1);
    put_ue(w, blocks(s->height) - 1);
    put(w, 3, 2); /* frames only; 8x8 inference */
    put(w, right || bottom, 1);
    if (right || bottom) {
        put_ue(w, 0);
        put_ue(w, right);
        put_ue(w, 0);
        put_ue(w, bottom);
    }
    put(w, 1, 1); /* there is more on use: */
    put(w, 0, 2); /* neither aspect nor overscan */
    put(w, 1, 1); /* but colours, of no special kind of video */
    put(w, 5, 3);
    put(w, s->full_range, 1);
    put(w, 1, 1);
    put(w, s->primaries, 8);
    put(w, s->transfer, 8);
    put(w, s->matrix, 8);
    put(w, 0, 5); /* no place of chroma, timing, buffers, structure */
    put(w, 3, 2); /* bounds: of vectors none, */
    put_ue(w, 0);
    put_ue(w, 0);
    put_ue(w, 0);
    put_ue(w, 0);
    put_ue(w, 0); /* no picture waits for another, */
    put_ue(w, 0); /* and none is kept */
    end_unit(w);
}

static void write_picture_parameters(struct writer *w)
{
    begin_unit(w, NAL_PICTURE);
    put_ue(w, 0); /* its number, and that of the sequence */
    put_ue(w, 0);
    put(w, 0, 2); /* variable lengths; no fields */
    put_ue(w, 0); /* one group of slices */
    put_ue(w, 0);
    put_ue(w, 0);
    put(w, 0, 3); /* no weights */
    put_ue(w, 0); /* three quantisers as they are */
    put_ue(w, 0);
    put_ue(w, 0);
    put(w, 4, 3); /* slices tell of their deblocking */
    end_unit(w);
}

size_t pcm_write_header(const struct pcm_stream *stream, uint8_t *out)
{
    struct writer w = {.out = out};
    write_sequence(&w, stream);
    write_picture_parameters(&w);
    return w.bytes;
}

static unsigned lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* A square of samples, beyond the plane its last ones. */
static void put_samples(struct writer *w, const uint8_t *plane, size_t pitch, size_t step, unsigned width, unsigned height,
                        unsigned x0, unsigned y0, unsigned side)
{
    for (unsigned y = y0; y < y0 + side; y++)
        for (unsigned x = x0; x < x0 + side; x++)
            put_byte(w, plane[lesser(y, height - 1) * pitch + lesser(x, width - 1) * step]);
}

uint8_t *pcm_write_picture(const struct pcm_stream *s, const struct pcm_picture *p, unsigned number, size_t *bytes)
{
    enum { SAMPLES = BLOCK * BLOCK * 3 / 2 };
    /* At worst two zeros and a byte that breaks them up in turn; a block and the slice begin with few bytes more. */
    const size_t most = (size_t)blocks(s->width) * blocks(s->height) * (SAMPLES * 3 / 2 + 8) + 64;
    struct writer w = {.out = malloc(most)};
    if (!w.out)
        return NULL;
    begin_unit(&w, NAL_IDR);
    put_ue(&w, 0);
    put_ue(&w, SLICE_I);
    put_ue(&w, 0);
    put(&w, 0, 4);
    put_ue(&w, number % 2); /* neighbours differ */
    put(&w, 0, 2);
    put_ue(&w, 0);
    put_ue(&w, 1); /* no deblocking */
    for (unsigned y = 0; y < blocks(s->height); y++)
        for (unsigned x = 0; x < blocks(s->width); x++) {
            put_ue(&w, MB_I_PCM);
            align(&w);
            put_samples(&w, p->luma, p->pitch, 1, s->width, s->height, x * BLOCK, y * BLOCK, BLOCK);
            put_samples(&w, p->u, p->chroma_pitch, p->chroma_step, s->width / 2, s->height / 2, x * 8, y * 8, 8);
            put_samples(&w, p->v, p->chroma_pitch, p->chroma_step, s->width / 2, s->height / 2, x * 8, y * 8, 8);
        }
    end_unit(&w);
    *bytes = w.bytes;
    return w.out;
}
