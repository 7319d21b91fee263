/* The lengths of gradients that automatic thresholds are chosen from, a part of rows_table.h. */

#define TAKE_LENGTHS(name, length)                                                                                             \
    OUT_OF_LINE void name(int32_t *restrict lengths, const int32_t *restrict gx, const int32_t *restrict gy, int count)        \
    {                                                                                                                          \
        for (int i = 0; i < count; i++) {                                                                                      \
            const int32_t x = gx[EC_AUTO_COLUMN_STEP * i], y = gy[EC_AUTO_COLUMN_STEP * i], l = length(x, y);                  \
            lengths[i] = lengths[i] > l ? lengths[i] : l;                                                                      \
        }                                                                                                                      \
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
static void take_lengths(int32_t *lengths, const int32_t *gx, const int32_t *gy, int count, const struct ec_plan *plan)
{
    if (plan->norm == EC_NORM_L1)
        take_lengths_l1(lengths, gx, gy, count);
    else if (plan->gradient.size == 3 || plan->depth_bits == 8)
        take_lengths_medium(lengths, gx, gy, count);
    else
        take_lengths_large(lengths, gx, gy, count);
}
