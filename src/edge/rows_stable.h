/* What tells whether the picture has moved, a part of rows_table.h: sums side by side in wider integers. */

static void sum_fours(uint16_t *restrict sums, const uint8_t *restrict bytes, int sum_count)
{
    for (int i = 0; i < sum_count; i++) {
        uint32_t four;
        memcpy(&four, bytes + 4 * i, sizeof four);
        const uint32_t pairs = (four & 0x00ff00ffu) + (four >> 8 & 0x00ff00ffu);
        sums[i] = (uint16_t)(pairs + (pairs >> 16));
    }
}

static void compare_fours(uint32_t *restrict differences, uint16_t *restrict before, const uint16_t *restrict now,
                          int difference_count)
{
    for (int start = 0; start < difference_count; start += BLOCK) {
        const int count = difference_count - start < BLOCK ? difference_count - start : BLOCK;
        uint16_t distances[4 * BLOCK];
        for (int i = 0; i < 4 * count; i++) {
            const uint16_t a = now[4 * start + i], b = before[4 * start + i];
            distances[i] = (uint16_t)(a > b ? a - b : b - a);
            before[4 * start + i] = a;
        }
        for (int i = 0; i < count; i++) {
            uint64_t four;
            memcpy(&four, distances + 4 * i, sizeof four);
            const uint64_t pairs = (four & 0x0000ffff0000ffffu) + (four >> 16 & 0x0000ffff0000ffffu);
            differences[start + i] += (uint32_t)(pairs + (pairs >> 32));
        }
    }
}
