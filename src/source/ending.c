#include "source/ending.h"

#include <libavutil/avstring.h>
#include <libavutil/intreadwrite.h>

/* A part of a file as its header tells. */
struct part {
    uint32_t id;
    int64_t head_bytes, bytes; /* bytes: behind the header; -1: not known */
    bool opened; /* the parts inside are looked at one by one */
    bool frames; /* its absence, or its end's, costs frames */
};

/* Reads the header at `at`; false: there is none. */
typedef bool read_part(AVIOContext *pb, struct part *out);

static bool read_box(AVIOContext *pb, struct part *out)
{
    uint64_t size = avio_rb32(pb);
    out->id = avio_rb32(pb);
    out->head_bytes = size == 1 ? 16 : 8;
    if (size == 1)
        size = avio_rb64(pb);
    out->bytes = size <= INT64_MAX ? (int64_t)size - out->head_bytes : -1; /* size 0: up to the end */
    out->frames = out->id == MKBETAG('m', 'o', 'o', 'f') || out->id == MKBETAG('m', 'd', 'a', 't');
    return !avio_feof(pb);
}

/* A number whose length stands in the leading zeros of its first byte. 0: there is none. */
static int read_vint(AVIOContext *pb, int most, int64_t *out)
{
    const int first = avio_r8(pb);
    int length = 1;
    while (length <= most && !(first & 0x100 >> length))
        length++;
    *out = first;
    for (int i = 1; i < length && length <= most; i++)
        *out = *out << 8 | avio_r8(pb);
    return length <= most && !avio_feof(pb) ? length : 0;
}

static bool read_element(AVIOContext *pb, struct part *out)
{
    enum { SEGMENT = 0x18538067, CLUSTER = 0x1F43B675 };
    int64_t id = 0, size = 0;
    const int id_bytes = read_vint(pb, 4, &id), size_bytes = id_bytes ? read_vint(pb, 8, &size) : 0;
    if (!size_bytes)
        return false;
    const int64_t most = (INT64_C(1) << 7 * size_bytes) - 1; /* which stands for a size that was not known */
    out->id = (uint32_t)id;
    out->head_bytes = id_bytes + size_bytes;
    out->bytes = (size & most) == most ? -1 : size & most;
    out->opened = id == SEGMENT;
    out->frames = id == CLUSTER;
    return true;
}

static bool read_chunk(AVIOContext *pb, struct part *out)
{
    out->id = avio_rl32(pb);
    const int64_t size = avio_rl32(pb);
    const bool list = out->id == MKTAG('R', 'I', 'F', 'F') || out->id == MKTAG('L', 'I', 'S', 'T');
    const uint32_t kind = list ? avio_rl32(pb) : 0;
    out->head_bytes = list ? 12 : 8;
    out->bytes = size == 0 ? -1 : (size + 1) / 2 * 2 - (list ? 4 : 0);
    out->opened = out->id == MKTAG('R', 'I', 'F', 'F');
    out->frames = list && kind == MKTAG('m', 'o', 'v', 'i');
    return !avio_feof(pb);
}

bool ec_ending_is_cut(AVFormatContext *container)
{
    static const struct {
        const char *format;
        read_part *read;
    } known[] = {{"mp4", read_box}, {"matroska", read_element}, {"avi", read_chunk}};
    AVIOContext *pb = container->pb;
    read_part *read = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (av_match_name(known[i].format, container->iformat->name))
            read = known[i].read;
    const int64_t file_bytes = read && pb && pb->seekable & AVIO_SEEKABLE_NORMAL ? avio_size(pb) : 0;
    int64_t at = 0, opened_end = 0;
    struct part part = {0};
    while (at < file_bytes) {
        const bool after_frames = part.frames;
        part = (struct part){0};
        if (avio_seek(pb, at, SEEK_SET) < 0 || !read(pb, &part))
            return after_frames && opened_end > file_bytes;
        if (part.bytes < 0 && !part.opened)
            return false;
        if (part.opened)
            opened_end = part.bytes < 0 ? 0 : at + part.head_bytes + part.bytes;
        if (!part.opened && part.bytes > file_bytes - at - part.head_bytes)
            return part.frames;
        at += part.head_bytes + (part.opened ? 0 : part.bytes);
    }
    return part.frames && opened_end > file_bytes;
}
