/* The gradients that automatic thresholds are chosen from, and their lengths, a part of rows_table.h. */

/* Gradients stand `step` apart, 1 or EC_AUTO_COLUMN_STEP. */
#define TAKE_LENGTHS(name, length)                                                                                             \
    INLINE void name##_by(int32_t *restrict lengths, const int32_t *restrict gx, const int32_t *restrict gy, int count,        \
                          int step)                                                                                            \
    {                                                                                                                          \
        for (int i = 0; i < count; i++) {                                                                                      \
            const int32_t l = length(gx[step * i], gy[step * i]);                                                              \
            lengths[i] = lengths[i] > l ? lengths[i] : l;                                                                      \
        }                                                                                                                      \
    }                                                                                                                          \
    OUT_OF_LINE void name(int32_t *lengths, const int32_t *gx, const int32_t *gy, int count, int step)                         \
    {                                                                                                                          \
        if (step == 1)                                                                                                         \
            name##_by(lengths, gx, gy, count, 1);                                                                              \
        else                                                                                                                   \
            name##_by(lengths, gx, gy, count, EC_AUTO_COLUMN_STEP);                                                            \
    }

INLINE int32_t length_l1(int32_t x, int32_t y)
{
    return ec_abs_i32(x) + ec_abs_i32(y);
}

TAKE_LENGTHS(take_lengths_l1, length_l1)
TAKE_LENGTHS(take_lengths_medium, root_medium)
TAKE_LENGTHS(take_lengths_large, root_large)

/* 48 and 640 / 16 times a pixel is the most of larger gradients, 4 times that of those of 3x3, which roots of medium size take
 * at any depth. */
static void take_lengths(int32_t *lengths, const int32_t *gx, const int32_t *gy, int count, int step,
                         const struct ec_plan *plan)
{
    if (plan->norm == EC_NORM_L1)
        take_lengths_l1(lengths, gx, gy, count, step);
    else if (plan->gradient.size == 3 || plan->depth_bits == 8)
        take_lengths_medium(lengths, gx, gy, count, step);
    else
        take_lengths_large(lengths, gx, gy, count, step);
}

#if HAS_DOTS
/* A lane of 32 bits has the bytes to the left of a sample, in its place, to the right of it, and one that does not count. */
static int sample_sobel(int32_t *gx, int32_t *gy, const void *const rows[3], int width)
{
    const wide_lanes none = {0}, across = none + 0x000100ff, across_twice = none + 0x000200fe;
    const wide_lanes below = none + 0x00010201, above = none + 0x00fffeff;
    int i = 1;
    for (; EC_AUTO_COLUMN_STEP * i - 1 + LANES_BYTES <= width; i += LANES_BYTES / EC_AUTO_COLUMN_STEP) {
        lanes bytes[3];
        for (int j = 0; j < 3; j++)
            bytes[j] = lanes_load((const uint8_t *)rows[j] + EC_AUTO_COLUMN_STEP * i - 1);
        const wide_lanes x = lanes_dot(lanes_dot(lanes_dot(none, bytes[0], across), bytes[1], across_twice), bytes[2], across);
        const wide_lanes y = lanes_dot(lanes_dot(none, bytes[0], above), bytes[2], below);
        memcpy(gx + i, &x, sizeof x);
        memcpy(gy + i, &y, sizeof y);
    }
    return i - 1;
}
#endif
