#include "edge/packed.h"

#include <string.h>

/* Byte i of the result is 255 where bit i is set: three doublings spread the bits, one into each byte, and a
 * multiplication fills the byte with it. */
static uint64_t eight_bytes(uint64_t bits)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    bits = (bits | bits << 28) & UINT64_C(0x0000000f0000000f);
    bits = (bits | bits << 14) & UINT64_C(0x0003000300030003);
    bits = (bits | bits << 7) & each;
    return bits * 255;
}

static void expand_bytes(const uint8_t *map, uint8_t *out, int width_px)
{
    int x = 0;
    for (; x + 8 <= width_px; x += 8) {
        const uint64_t pixels = eight_bytes(map[x / 8]);
        memcpy(out + x, &pixels, 8);
    }
    for (; x < width_px; x++)
        out[x] = map[x / 8] >> (x % 8) & 1 ? 255 : 0;
}

static void expand_halves(const uint8_t *map, uint16_t *out, int width_px, uint16_t white)
{
    for (int x = 0; x < width_px; x++)
        out[x] = map[x / 8] >> (x % 8) & 1 ? white : 0;
}

void ec_packed_expand(const struct ec_image *map, const struct ec_image *out)
{
    for (int y = 0; y < out->height_px; y++) {
        const uint8_t *from = (const uint8_t *)map->data + y * map->pitch_bytes;
        void *to = (char *)out->data + y * out->pitch_bytes;
        if (out->depth_bits > 8)
            expand_halves(from, to, out->width_px, (uint16_t)((1u << out->depth_bits) - 1));
        else
            expand_bytes(from, to, out->width_px);
    }
}
