#include "sink/metadata.h"

#include <math.h>
#include <string.h>

/* What describes the input's file rather than its content. */
static const char *const file_keys[] = {"major_brand", "minor_version", "compatible_brands", "encoder"};

static const char *const stream_keys[] = {"language", "title", "handler_name"};

int ec_metadata_copy_stream(AVStream *out, const AVStream *in, bool pictures_changed)
{
    out->disposition = in->disposition;
    if (!pictures_changed)
        return av_dict_copy(&out->metadata, in->metadata, 0);
    int result = 0;
    for (size_t i = 0; result >= 0 && i < sizeof stream_keys / sizeof *stream_keys; i++) {
        const AVDictionaryEntry *entry = av_dict_get(in->metadata, stream_keys[i], NULL, 0);
        if (entry)
            result = av_dict_set(&out->metadata, entry->key, entry->value, 0);
    }
    return result < 0 ? result : 0;
}

/* NULL when memory ran out. */
static AVChapter *copy_chapter(const AVChapter *in, int64_t start, int64_t end)
{
    AVChapter *out = av_mallocz(sizeof *out);
    if (!out)
        return NULL;
    out->id = in->id;
    out->time_base = in->time_base;
    out->start = start;
    out->end = end;
    if (av_dict_copy(&out->metadata, in->metadata, 0) < 0) {
        av_dict_free(&out->metadata);
        av_freep(&out);
    }
    return out;
}

static int copy_chapters(AVFormatContext *out, const struct ec_stream_info *info)
{
    const AVFormatContext *in = info->container;
    if (in->nb_chapters == 0)
        return 0;
    out->chapters = av_calloc(in->nb_chapters, sizeof(*out->chapters));
    if (!out->chapters)
        return AVERROR(ENOMEM);
    for (unsigned i = 0; i < in->nb_chapters; i++) {
        const AVChapter *chapter = in->chapters[i];
        const int64_t shift = av_rescale_q(info->shift_us, AV_TIME_BASE_Q, chapter->time_base);
        int64_t start = FFMAX(chapter->start - shift, 0), end = chapter->end - shift;
        if (!isnan(info->end_s))
            end = FFMIN(end, (int64_t)llround(info->end_s / av_q2d(chapter->time_base)));
        if (end <= start)
            continue;
        AVChapter *copy = copy_chapter(chapter, start, end);
        if (!copy)
            return AVERROR(ENOMEM);
        out->chapters[out->nb_chapters++] = copy;
    }
    return 0;
}

int ec_metadata_copy(AVFormatContext *out, const struct ec_stream_info *info)
{
    if (!info->container)
        return 0;
    int result = av_dict_copy(&out->metadata, info->container->metadata, 0);
    for (size_t i = 0; i < sizeof file_keys / sizeof *file_keys; i++)
        av_dict_set(&out->metadata, file_keys[i], NULL, 0);
    return result < 0 ? result : copy_chapters(out, info);
}
