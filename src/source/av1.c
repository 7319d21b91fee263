#include "source/av1.h"

#include <stdbool.h>

enum { OBU_SEQUENCE_HEADER = 1, LEB128_MAX_BYTES = 8 };

/* A number of 7 bits a byte, the lowest first. Returns the bytes that it takes, 0 if it does not end. */
static size_t read_leb128(const uint8_t *data, size_t bytes, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < bytes && i < LEB128_MAX_BYTES; i++) {
        *value |= (uint64_t)(data[i] & 0x7f) << (7 * i);
        if (!(data[i] & 0x80))
            return i + 1;
    }
    return 0;
}

struct ec_av1_sequence ec_av1_find_sequence(const uint8_t *data, size_t bytes)
{
    const struct ec_av1_sequence none = {NULL, 0};
    while (bytes > 0) {
        const int type = data[0] >> 3 & 15;
        const bool extended = data[0] & 4, sized = data[0] & 2;
        size_t head = extended ? 2 : 1;
        if (head > bytes)
            return none;
        uint64_t payload = bytes - head;
        if (sized) {
            const size_t taken = read_leb128(data + head, bytes - head, &payload);
            head += taken;
            if (!taken || payload > bytes - head)
                return none;
        }
        if (type == OBU_SEQUENCE_HEADER)
            return (struct ec_av1_sequence){data + head, payload};
        data += head + payload;
        bytes -= head + payload;
    }
    return none;
}
