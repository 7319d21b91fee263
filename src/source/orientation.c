#include "source/orientation.h"

#include <libavutil/dict.h>
#include <stdlib.h>

/* Row-vector convention: (x, y) goes to (m0 x + m3 y, m1 x + m4 y), 16.16 fixed point. */
struct ec_orientation ec_orientation_from_matrix(const int32_t *m)
{
    struct ec_orientation o = {0};
    if (!m)
        return o;
    const int64_t straight = llabs((int64_t)m[0]) + llabs((int64_t)m[4]);
    const int64_t crossed = llabs((int64_t)m[1]) + llabs((int64_t)m[3]);
    o.transpose = crossed > straight;
    o.oblique = crossed > 0 && straight > 0 && 64 * (crossed < straight ? crossed : straight) > (crossed + straight);
    o.mirror_x = (o.transpose ? m[3] : m[0]) < 0;
    o.mirror_y = (o.transpose ? m[1] : m[4]) < 0;
    return o;
}

/* EXIF 2.3, tag 0x0112: where the stored first row and column are seen. */
static struct ec_orientation from_exif(long value)
{
    static const struct ec_orientation table[9] = {
        [2] = {.mirror_x = true},
        [3] = {.mirror_x = true, .mirror_y = true},
        [4] = {.mirror_y = true},
        [5] = {.transpose = true},
        [6] = {.transpose = true, .mirror_x = true},
        [7] = {.transpose = true, .mirror_x = true, .mirror_y = true},
        [8] = {.transpose = true, .mirror_y = true},
    };
    return value >= 1 && value <= 8 ? table[value] : table[0];
}

struct ec_orientation ec_orientation_of_frame(const AVFrame *frame, struct ec_orientation fallback)
{
    const AVFrameSideData *data = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    if (data && (size_t)data->size >= 9 * sizeof(int32_t))
        return ec_orientation_from_matrix((const int32_t *)(const void *)data->data);
    const AVDictionaryEntry *tag = av_dict_get(frame->metadata, "Orientation", NULL, 0);
    return tag ? from_exif(strtol(tag->value, NULL, 10)) : fallback;
}

bool ec_orientation_is_upright(struct ec_orientation o)
{
    return !o.transpose && !o.mirror_x && !o.mirror_y;
}

bool ec_orientation_equal(struct ec_orientation a, struct ec_orientation b)
{
    return a.transpose == b.transpose && a.mirror_x == b.mirror_x && a.mirror_y == b.mirror_y;
}

const char *ec_orientation_chain(struct ec_orientation o)
{
    static const char *const chains[8] = {
        "null",
        "hflip",
        "vflip",
        "hflip,vflip",
        "transpose=dir=cclock_flip",
        "transpose=dir=clock",
        "transpose=dir=cclock",
        "transpose=dir=clock_flip",
    };
    return chains[(o.transpose ? 4 : 0) + (o.mirror_y ? 2 : 0) + (o.mirror_x ? 1 : 0)];
}
