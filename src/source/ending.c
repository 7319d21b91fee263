#include "source/ending.h"

#include <libavutil/avstring.h>
#include <string.h>

enum { KIND_BYTES = 8 };

/* What was needed to know the kind may be more than the first header: it goes by again. */
static void find_kind(struct ec_ending *e)
{
    uint8_t begin[KIND_BYTES];
    const int bytes = e->head_bytes;
    e->kind = ec_part_kind_of(e->head, bytes);
    e->stopped = !e->kind && bytes == KIND_BYTES;
    if (!e->kind)
        return;
    memcpy(begin, e->head, (size_t)bytes);
    e->head_bytes = 0;
    e->seen -= bytes;
    ec_ending_feed(e, begin, (size_t)bytes);
}

static void read_head(struct ec_ending *e)
{
    e->begun = (struct ec_part){0};
    const enum ec_part_result result = e->kind->read(&e->state, e->head, e->head_bytes, &e->begun);
    e->stopped = result == EC_PART_NONE || (result == EC_PART_MORE && e->head_bytes == EC_HEAD_MAX_BYTES);
    if (result != EC_PART_READ)
        return;
    e->head_bytes = 0;
    e->part = e->begun;
    if (e->part.opened && e->part.bytes >= 0)
        e->opened_end = e->seen + FFMIN(e->part.bytes, INT64_MAX - e->seen);
    if (!e->part.opened)
        e->at = e->seen + FFMIN(e->part.bytes, INT64_MAX - e->seen);
    e->stopped = !e->part.opened && e->part.bytes < 0;
}

void ec_ending_feed(struct ec_ending *e, const uint8_t *data, size_t bytes)
{
    while (bytes > 0 && !e->stopped) {
        const size_t skipped = e->at > e->seen ? (size_t)FFMIN(e->at - e->seen, (int64_t)FFMIN(bytes, INT64_MAX)) : 0;
        if (!skipped)
            e->head[e->head_bytes++] = *data;
        data += skipped ? skipped : 1;
        bytes -= skipped ? skipped : 1;
        e->seen += skipped ? (int64_t)skipped : 1;
        if (!skipped && e->kind)
            read_head(e);
        else if (!skipped)
            find_kind(e);
    }
}

void ec_ending_feed_file(struct ec_ending *e, AVIOContext *file)
{
    const int64_t size = avio_size(file);
    bool found = avio_seek(file, 0, SEEK_SET) >= 0;
    while (found && e->seen < size && !e->stopped) {
        if (e->at > e->seen) {
            e->seen = FFMIN(e->at, size);
            found = avio_seek(file, e->seen, SEEK_SET) >= 0;
        } else {
            const uint8_t next = (uint8_t)avio_r8(file);
            ec_ending_feed(e, &next, 1);
        }
    }
    e->stopped |= !found;
}

bool ec_ending_is_cut(const struct ec_ending *e, const char *format)
{
    if (e->stopped || !e->kind || !av_match_name(e->kind->format, format))
        return false;
    const bool more = e->part.frames && e->opened_end > e->seen;
    if (e->head_bytes > 0)
        return e->begun.frames || more;
    return e->at > e->seen ? e->part.frames : e->part.goes_on || more;
}

bool ec_ending_is_in_table(const struct ec_ending *e)
{
    return !e->stopped && e->head_bytes == 0 && e->at > e->seen && e->part.table;
}
