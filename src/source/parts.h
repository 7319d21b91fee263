/* The headers of the parts that containers are made of. */
#ifndef EC_SOURCE_PARTS_H
#define EC_SOURCE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct ec_part {
    int64_t bytes; /* behind the header; -1: not known */
    bool opened; /* the parts inside are looked at one by one */
    bool frames; /* its absence, or its end's, costs frames */
    bool table; /* of the frames in the next part */
    bool goes_on; /* another part belongs to it */
};

/* What a reader keeps from header to header. Zero-initialised. */
struct ec_part_state {
    int stage;
    int64_t unit_bytes; /* of the parts that have no header */
    bool live;
};

enum ec_part_result { EC_PART_READ, EC_PART_MORE, EC_PART_NONE /* no header of this kind, or the end */ };

struct ec_part_kind {
    const char *format; /* libavformat's name */
    /* Reads the header in `head`, whose bytes come one by one, into zero-initialised *out: EC_PART_READ with its last byte,
     * EC_PART_MORE before that, where *out may say already what is missing. */
    enum ec_part_result (*read)(struct ec_part_state *state, const uint8_t *head, int bytes, struct ec_part *out);
};

/* The kind of a stream that begins with these bytes, of which 8 are enough; NULL: not known. */
const struct ec_part_kind *ec_part_kind_of(const uint8_t *head, int bytes);

#endif
