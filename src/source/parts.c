#include "source/parts.h"

#include <libavutil/common.h>
#include <libavutil/intreadwrite.h>
#include <string.h>

/* ISO 14496-12, 4.2. */
static enum ec_part_result read_box(struct ec_part_state *state, const uint8_t *head, int bytes, struct ec_part *out)
{
    (void)state;
    if (bytes < 8 || (AV_RB32(head) == 1 && bytes < 16))
        return EC_PART_MORE;
    const uint64_t size = AV_RB32(head) == 1 ? AV_RB64(head + 8) : AV_RB32(head);
    out->bytes = size <= INT64_MAX ? (int64_t)size - bytes : -1; /* size 0: up to the end */
    out->table = memcmp(head + 4, "moof", 4) == 0;
    out->frames = out->table || memcmp(head + 4, "mdat", 4) == 0;
    return EC_PART_READ;
}

/* A number whose length stands in the leading zeros of its first byte. 0 bytes: there is none. */
static int vint_bytes(uint8_t first)
{
    return first ? 8 - av_log2(first) : 0;
}

static int64_t read_vint(const uint8_t *data, int bytes)
{
    int64_t value = data[0];
    for (int i = 1; i < bytes; i++)
        value = value << 8 | data[i];
    return value;
}

/* RFC 8794, 4 and 5. */
static enum ec_part_result read_element(struct ec_part_state *state, const uint8_t *head, int bytes, struct ec_part *out)
{
    enum { SEGMENT = 0x18538067, CLUSTER = 0x1F43B675, SIMPLE_BLOCK = 0xA3, BLOCK_GROUP = 0xA0 };
    (void)state;
    const int id_bytes = vint_bytes(head[0]);
    if (id_bytes < 1 || id_bytes > 4)
        return EC_PART_NONE;
    if (bytes <= id_bytes)
        return EC_PART_MORE;
    const int size_bytes = vint_bytes(head[id_bytes]);
    if (size_bytes < 1)
        return EC_PART_NONE;
    if (bytes < id_bytes + size_bytes)
        return EC_PART_MORE;
    const int64_t id = read_vint(head, id_bytes), most = (INT64_C(1) << 7 * size_bytes) - 1;
    const int64_t size = read_vint(head + id_bytes, size_bytes) & most; /* all ones: not known */
    out->bytes = size == most ? -1 : size;
    out->opened = id == SEGMENT || (id == CLUSTER && out->bytes < 0);
    out->frames = id == CLUSTER || id == SIMPLE_BLOCK || id == BLOCK_GROUP;
    return EC_PART_READ;
}

/* Microsoft's RIFF; what was written into a pipe has no sizes of lists. */
static enum ec_part_result read_chunk(struct ec_part_state *state, const uint8_t *head, int bytes, struct ec_part *out)
{
    (void)state;
    const bool list = bytes >= 4 && (memcmp(head, "RIFF", 4) == 0 || memcmp(head, "LIST", 4) == 0);
    if (bytes < (list ? 12 : 8))
        return EC_PART_MORE;
    const int64_t size = AV_RL32(head + 4);
    const bool riff = head[0] == 'R' && list, movi = list && memcmp(head + 8, "movi", 4) == 0;
    out->bytes = list && (size == 0 || size == UINT32_MAX) ? -1 : (size + 1) / 2 * 2 - (list ? 4 : 0);
    out->opened = riff || (movi && out->bytes < 0);
    out->frames = movi || (head[0] >= '0' && head[0] <= '9'); /* "00dc" and its like */
    return EC_PART_READ;
}

/* Adobe's FLV 10.1, annex E: each tag stands behind the size of the one before it, which may be missing at the end. */
static enum ec_part_result read_tag(struct ec_part_state *state, const uint8_t *head, int bytes, struct ec_part *out)
{
    enum { FILE_HEAD, TAG, SOUND = 8, VIDEO = 9, SCRIPT = 18 };
    if (state->stage == FILE_HEAD) {
        if (bytes < 9)
            return EC_PART_MORE;
        out->bytes = (int64_t)AV_RB32(head + 5) - 9;
        state->stage = TAG;
        return out->bytes >= 0 ? EC_PART_READ : EC_PART_NONE;
    }
    if (bytes <= 4)
        return EC_PART_MORE;
    const int type = head[4] & 0x1f;
    if (type != SOUND && type != VIDEO && type != SCRIPT)
        return EC_PART_NONE;
    out->frames = type != SCRIPT;
    out->bytes = bytes < 15 ? 0 : AV_RB24(head + 5);
    return bytes < 15 ? EC_PART_MORE : EC_PART_READ;
}

/* GIF89a, 17 to 27. Where only the end of the last picture or the trailer is missing, nothing is: many files lack them. */
static enum ec_part_result read_block(struct ec_part_state *state, const uint8_t *head, int bytes, struct ec_part *out)
{
    enum { FILE_HEAD, BETWEEN, PICTURE, CONTROL, OTHER };
    enum { IMAGE = 0x2C, EXTENSION = 0x21, GRAPHIC_CONTROL = 0xF9, FULL = 254 };
    const int stage = state->stage;
    if (stage == FILE_HEAD) {
        if (bytes < 13)
            return EC_PART_MORE;
        out->bytes = head[10] & 0x80 ? 6 << (head[10] & 7) : 0;
        state->stage = BETWEEN;
    } else if (stage == BETWEEN && head[0] == IMAGE) {
        out->frames = out->goes_on = true;
        if (bytes < 10)
            return EC_PART_MORE;
        out->bytes = (head[9] & 0x80 ? 6 << (head[9] & 7) : 0) + 1; /* a palette, and the size of the first codes */
        state->stage = PICTURE;
    } else if (stage == BETWEEN && head[0] == EXTENSION) {
        if (bytes < 2)
            return EC_PART_MORE;
        out->frames = out->goes_on = head[1] == GRAPHIC_CONTROL;
        state->stage = out->frames ? CONTROL : OTHER;
    } else if (stage == BETWEEN) {
        return EC_PART_NONE;
    } else {
        out->bytes = head[0];
        out->frames = stage != OTHER;
        out->goes_on = stage == CONTROL || (stage == PICTURE && head[0] >= FULL);
        state->stage = head[0] ? stage : BETWEEN;
    }
    return EC_PART_READ;
}

/* RFC 3533, 6. Live streams end without a last page, so that proves nothing; a packet that goes on does. */
static enum ec_part_result read_page(struct ec_part_state *state, const uint8_t *head, int bytes, struct ec_part *out)
{
    (void)state;
    if (memcmp(head, "OggS", (size_t)FFMIN(bytes, 4)) != 0)
        return EC_PART_NONE;
    out->frames = bytes >= 4;
    if (bytes < 27 || bytes < 27 + head[26])
        return EC_PART_MORE;
    for (int i = 0; i < head[26]; i++)
        out->bytes += head[27 + i];
    out->goes_on = head[26] > 0 && head[26 + head[26]] == 255;
    return EC_PART_READ;
}

/* Microsoft's ASF, 3. Live streams have no size of their data: it is packets of one size up to the end, or to an index. */
static enum ec_part_result read_object(struct ec_part_state *state, const uint8_t *head, int bytes, struct ec_part *out)
{
    static const uint8_t header[16] = "\x30\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C";
    static const uint8_t properties[16] = "\xA1\xDC\xAB\x8C\x47\xA9\xCF\x11\x8E\xE4\x00\xC0\x0C\x20\x53\x65";
    static const uint8_t data[16] = "\x36\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C";
    static const uint8_t index[16] = "\x90\x08\x00\x33\xB1\xE5\xCF\x11\x89\xF4\x00\xA0\xC9\x03\x49\xCB";
    enum { OBJECTS, PACKETS };
    enum { GUID = 16, HEAD = 24, HEADER_HEAD = 30, DATA_HEAD = 50, FLAGS = 88, LEAST_PACKET = 92, PROPERTIES = 104, LIVE = 1 };
    if (state->stage == PACKETS) {
        out->frames = true;
        out->bytes = state->unit_bytes - GUID;
        return bytes < GUID ? EC_PART_MORE : memcmp(head, index, GUID) == 0 ? EC_PART_NONE : EC_PART_READ;
    }
    if (bytes < HEAD)
        return EC_PART_MORE;
    const bool is_header = memcmp(head, header, GUID) == 0, is_properties = memcmp(head, properties, GUID) == 0;
    const bool is_data = memcmp(head, data, GUID) == 0;
    const int wanted = is_header ? HEADER_HEAD : is_properties ? PROPERTIES : is_data ? DATA_HEAD : HEAD;
    if (bytes < wanted)
        return EC_PART_MORE;
    const uint64_t size = AV_RL64(head + GUID);
    if (size < (uint64_t)wanted && !is_data)
        return EC_PART_NONE;
    out->bytes = size <= INT64_MAX ? (int64_t)size - wanted : -1;
    out->opened = is_header;
    out->frames = is_data;
    if (is_properties) {
        state->unit_bytes = AV_RL32(head + LEAST_PACKET);
        state->live = head[FLAGS] & LIVE;
    }
    if (is_data && (state->live || out->bytes <= 0)) {
        out->bytes = 0;
        state->stage = PACKETS;
        return state->unit_bytes >= GUID ? EC_PART_READ : EC_PART_NONE;
    }
    return EC_PART_READ;
}

/* PNG 3, 5; the chunks of moving pictures are from its 11.3.6. */
static enum ec_part_result read_png(struct ec_part_state *state, const uint8_t *head, int bytes, struct ec_part *out)
{
    enum { FILE_HEAD, CHUNKS };
    if (bytes < 8)
        return EC_PART_MORE;
    if (state->stage == CHUNKS) {
        out->bytes = (int64_t)AV_RB32(head) + 4;
        out->goes_on = memcmp(head + 4, "fcTL", 4) == 0;
        out->frames = out->goes_on || memcmp(head + 4, "IDAT", 4) == 0 || memcmp(head + 4, "fdAT", 4) == 0;
    }
    state->stage = CHUNKS;
    return EC_PART_READ;
}

/* AV1 specification, 5.3: a stream in the low-overhead format. */
static enum ec_part_result read_obu(struct ec_part_state *state, const uint8_t *head, int bytes, struct ec_part *out)
{
    enum { FRAME_HEADER = 3, TILE_GROUP = 4, FRAME = 6, LEB128_MAX_BYTES = 8 };
    (void)state;
    const int type = head[0] >> 3 & 15, begin = head[0] & 4 ? 2 : 1;
    const bool forbidden = head[0] & 0x81, sized = head[0] & 2;
    if (forbidden || !sized || bytes > begin + LEB128_MAX_BYTES)
        return EC_PART_NONE;
    out->frames = type == FRAME_HEADER || type == TILE_GROUP || type == FRAME;
    if (bytes <= begin || head[bytes - 1] & 0x80)
        return EC_PART_MORE;
    for (int i = begin; i < bytes; i++)
        out->bytes |= (int64_t)(head[i] & 0x7f) << 7 * (i - begin);
    return EC_PART_READ;
}

const struct ec_part_kind *ec_part_kind_of(const uint8_t *head, int bytes)
{
    static const struct ec_part_kind box = {"mp4", read_box};
    static const struct {
        const char *begin;
        int bytes;
        struct ec_part_kind kind;
    } known[] = {{"\x1A\x45\xDF\xA3", 4, {"matroska", read_element}},
                 {"RIFF", 4, {"avi", read_chunk}},
                 {"FLV\1", 4, {"flv", read_tag}},
                 {"GIF8", 4, {"gif", read_block}},
                 {"OggS", 4, {"ogg", read_page}},
                 {"\x89PNG", 4, {"apng", read_png}},
                 {"\x12\0\x0A", 3, {"obu", read_obu}},
                 {"\x30\x26\xB2\x75", 4, {"asf", read_object}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (bytes >= known[i].bytes && memcmp(head, known[i].begin, (size_t)known[i].bytes) == 0)
            return &known[i].kind;
    return bytes >= 8 ? &box : NULL;
}
