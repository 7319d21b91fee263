/* A stand-in for libnvcuvid.so.1: it decodes nothing, but gives a surface for every picture, all bytes the picture's number in
 * the order of decoding, from 1. In the environment: SHIM_NVDEC_CODECS, the numbers of cudaVideoCodec that it takes (4:2:0 of 8
 * bits, default "4 8 11"), SHIM_NVDEC_WIDTH, the widest picture (default 4096), and SHIM_NVDEC_LOG, a file that gets a line for
 * each decoder made: codec, width, height, surfaces. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_SUPPORTED = 801, SURFACES_MAX = 32, CHROMA_420 = 1 };

/* The beginnings of the library's structures. */
struct caps {
    int32_t codec, chroma;
    uint32_t depth_minus_8, reserved[3];
    uint8_t supported, units;
    uint16_t output_formats;
    uint32_t max_width_px, max_height_px, max_macroblocks;
    uint16_t min_width_px, min_height_px;
};
struct creation {
    unsigned long width_px, height_px, surfaces;
    int32_t codec, chroma;
};
struct picture {
    int32_t width_mbs, height_mbs, surface;
};
struct decoder {
    unsigned long surfaces;
    size_t pitch_bytes, bytes;
    unsigned char number, *memory;
};

int cuvidGetDecoderCaps(struct caps *caps);
int cuvidCreateDecoder(struct decoder **out, const struct creation *creation);
int cuvidDestroyDecoder(struct decoder *decoder);
int cuvidDecodePicture(struct decoder *decoder, const struct picture *picture);
int cuvidMapVideoFrame64(struct decoder *decoder, int surface, uint64_t *address, unsigned *pitch_bytes, void *params);

static const char *setting(const char *name, const char *usual)
{
    const char *value = getenv(name);
    return value ? value : usual;
}

static int takes_codec(int codec)
{
    char words[64], word[16];
    snprintf(words, sizeof words, " %s ", setting("SHIM_NVDEC_CODECS", "4 8 11"));
    snprintf(word, sizeof word, " %d ", codec);
    return strstr(words, word) != NULL;
}

int cuvidGetDecoderCaps(struct caps *caps)
{
    caps->supported = takes_codec(caps->codec) && caps->chroma == CHROMA_420 && caps->depth_minus_8 == 0;
    caps->units = 1;
    caps->output_formats = 1;
    caps->max_width_px = caps->max_height_px = (uint32_t)atoi(setting("SHIM_NVDEC_WIDTH", "4096"));
    caps->max_macroblocks = UINT32_MAX;
    caps->min_width_px = caps->min_height_px = 48;
    return SUCCESS;
}

int cuvidCreateDecoder(struct decoder **out, const struct creation *creation)
{
    if (creation->surfaces > SURFACES_MAX)
        return INVALID_VALUE;
    struct decoder *d = calloc(1, sizeof *d);
    if (!d)
        return OUT_OF_MEMORY;
    d->surfaces = creation->surfaces;
    d->pitch_bytes = (creation->width_px + 255) & ~255UL;
    d->bytes = d->pitch_bytes * ((creation->height_px + 1) / 2 * 3);
    d->memory = calloc(d->surfaces, d->bytes);
    const char *log = getenv("SHIM_NVDEC_LOG");
    FILE *file = log ? fopen(log, "a") : NULL;
    if (file) {
        fprintf(file, "%d %lu %lu %lu\n", creation->codec, creation->width_px, creation->height_px, creation->surfaces);
        fclose(file);
    }
    if (!d->memory) {
        free(d);
        return OUT_OF_MEMORY;
    }
    *out = d;
    return SUCCESS;
}

int cuvidDestroyDecoder(struct decoder *decoder)
{
    free(decoder->memory);
    free(decoder);
    return SUCCESS;
}

int cuvidDecodePicture(struct decoder *decoder, const struct picture *picture)
{
    if (picture->surface < 0 || (unsigned long)picture->surface >= decoder->surfaces)
        return INVALID_VALUE;
    memset(decoder->memory + (size_t)picture->surface * decoder->bytes, ++decoder->number, decoder->bytes);
    return SUCCESS;
}

int cuvidMapVideoFrame64(struct decoder *decoder, int surface, uint64_t *address, unsigned *pitch_bytes, void *params)
{
    (void)params;
    if (surface < 0 || (unsigned long)surface >= decoder->surfaces)
        return INVALID_VALUE;
    *address = (uintptr_t)(decoder->memory + (size_t)surface * decoder->bytes);
    *pitch_bytes = (unsigned)decoder->pitch_bytes;
    return SUCCESS;
}

#define ANSWER(name, status)                                                                                                   \
    int name(void);                                                                                                            \
    int name(void)                                                                                                             \
    {                                                                                                                          \
        return status;                                                                                                         \
    }
ANSWER(cuvidUnmapVideoFrame64, SUCCESS)
/* What FFmpeg looks for when it loads the library. */
#define UNUSED(name) ANSWER(name, NOT_SUPPORTED)
UNUSED(cuvidGetDecodeStatus)
UNUSED(cuvidReconfigureDecoder)
UNUSED(cuvidCtxLockCreate)
UNUSED(cuvidCtxLockDestroy)
UNUSED(cuvidCtxLock)
UNUSED(cuvidCtxUnlock)
UNUSED(cuvidCreateVideoSource)
UNUSED(cuvidCreateVideoSourceW)
UNUSED(cuvidDestroyVideoSource)
UNUSED(cuvidSetVideoSourceState)
UNUSED(cuvidGetVideoSourceState)
UNUSED(cuvidGetSourceVideoFormat)
UNUSED(cuvidGetSourceAudioFormat)
UNUSED(cuvidCreateVideoParser)
UNUSED(cuvidParseVideoData)
UNUSED(cuvidDestroyVideoParser)
