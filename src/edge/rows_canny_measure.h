/* From gradients to magnitudes and directions, a part of rows_table.h, included once for each way, which says
 *   CANNY_NAME  the function's name
 *   MAGNITUDE   holds the magnitude
 *   IS_L1       whether the magnitude is the sum, else the square */
#define JOIN_TOKENS(name, suffix) name##_##suffix
#define JOIN(name, suffix) JOIN_TOKENS(name, suffix)

/* ec_canny_direction: gy * 2^15 < gx * tangent where gy is below the product's quotient, rounded up; gy * 2^15 > gx * (2^16 +
 * tangent) where it is above 2 * gx and the quotient, rounded down. */
INLINE void JOIN(CANNY_NAME, directions)(MAGNITUDE *restrict directions, const int32_t *restrict gx, const int32_t *restrict gy,
                                         int n)
{
    for (int x = 0; x < n; x++) {
        const uint64_t across = (uint64_t)(gx[x] < 0 ? -gx[x] : gx[x]), down = (uint64_t)(gy[x] < 0 ? -gy[x] : gy[x]);
        const uint64_t product = across * EC_CANNY_TANGENT, below = product >> EC_CANNY_TANGENT_BITS;
        const uint64_t above = (product + (1 << EC_CANNY_TANGENT_BITS) - 1) >> EC_CANNY_TANGENT_BITS;
        const MAGNITUDE diagonal = (gx[x] ^ gy[x]) < 0 ? EC_DIRECTION_RISING : EC_DIRECTION_FALLING;
        const MAGNITUDE steep = down > 2 * across + below ? EC_DIRECTION_VERTICAL : diagonal;
        directions[x] = down < above ? EC_DIRECTION_HORIZONTAL : steep;
    }
}

/* No square is above that of the sum, so that sums up to the root of `low` need no square: 0 does for it. */
INLINE bool JOIN(CANNY_NAME, block)(MAGNITUDE *restrict magnitudes, MAGNITUDE *restrict directions, const int32_t *restrict gx,
                                    const int32_t *restrict gy, const int32_t *sums, int n, int32_t limit)
{
    const bool active = any_above_32(sums, n, limit);
    if (active)
        JOIN(CANNY_NAME, directions)(directions, gx, gy, n);
    if (IS_L1)
        return active;
    if (active)
        for (int x = 0; x < n; x++) {
            const MAGNITUDE across = gx[x], down = gy[x];
            magnitudes[x] = (MAGNITUDE)(across * across + down * down);
        }
    else
        memset(magnitudes, 0, (size_t)n * sizeof *magnitudes);
    return active;
}

/* Gradients with sums up to here have no magnitude above `low`. */
INLINE int32_t JOIN(CANNY_NAME, limit)(int64_t low)
{
    int64_t limit = IS_L1 ? low : (int64_t)sqrt((double)low);
    if (!IS_L1 && limit * limit > low)
        limit--;
    return (int32_t)(limit < INT32_MAX ? limit : INT32_MAX);
}

INLINE void JOIN(CANNY_NAME, larger_block)(int32_t *restrict gx, int32_t *restrict gy, int32_t *restrict sums,
                                           const int32_t *restrict other_gx, const int32_t *restrict other_gy,
                                           const int32_t *restrict other_sums, int n)
{
    for (int x = 0; x < n; x++) {
        MAGNITUDE own, other;
        if (IS_L1) {
            own = sums[x];
            other = other_sums[x];
        } else {
            own = (MAGNITUDE)((MAGNITUDE)gx[x] * gx[x] + (MAGNITUDE)gy[x] * gy[x]);
            other = (MAGNITUDE)((MAGNITUDE)other_gx[x] * other_gx[x] + (MAGNITUDE)other_gy[x] * other_gy[x]);
        }
        const bool take = other > own;
        gx[x] = take ? other_gx[x] : gx[x];
        gy[x] = take ? other_gy[x] : gy[x];
        sums[x] = take ? other_sums[x] : sums[x];
    }
}

static void JOIN(CANNY_NAME, larger)(const struct ec_canny_gradients *gradients, const struct ec_canny_gradients *others, int n,
                                     int64_t low)
{
    const int32_t *other_gx = others->gx, *other_gy = others->gy, *other_sums = others->sums;
    int32_t *gx = gradients->gx, *gy = gradients->gy, *sums = gradients->sums;
    const int32_t limit = JOIN(CANNY_NAME, limit)(low);
    for (int x = 0; x < n; x += 64) {
        const int columns = n - x < 64 ? n - x : 64;
        if (!any_above_32(other_sums + x, columns, limit))
            continue;
        if (columns == 64)
            JOIN(CANNY_NAME, larger_block)(gx + x, gy + x, sums + x, other_gx + x, other_gy + x, other_sums + x, 64);
        else
            JOIN(CANNY_NAME, larger_block)(gx + x, gy + x, sums + x, other_gx + x, other_gy + x, other_sums + x, columns);
    }
}

INLINE void JOIN(CANNY_NAME, raise)(MAGNITUDE *restrict magnitudes, uint64_t bits, int n, int32_t boost)
{
    uint8_t raised[64];
    bytes_of_bits(raised, bits);
    for (int x = 0; x < n; x++) {
        const MAGNITUDE m = magnitudes[x];
        const MAGNITUDE gain =
            (MAGNITUDE)(sizeof m == 8 ? ec_stable_raise_i64(m, boost) : ec_stable_raise_i32((int32_t)m, boost));
        magnitudes[x] = raised[x] ? gain : m;
    }
}

/* Where no magnitude counts, raising changes nothing. */
static void CANNY_NAME(const struct ec_canny_row *row, int start, const struct ec_canny_gradients *gradients, int n,
                       int64_t low, const struct ec_canny_raise *raise)
{
    const int32_t *gx = gradients->gx, *gy = gradients->gy, *sums = gradients->sums;
    const int32_t plain_limit = JOIN(CANNY_NAME, limit)(low);
    const int32_t raised_limit = raise ? JOIN(CANNY_NAME, limit)(raise->lowered) : plain_limit;
    for (int x = 0; x < n; x += 64) {
        MAGNITUDE *magnitudes = (MAGNITUDE *)row->magnitudes + start + x,
                  *directions = (MAGNITUDE *)row->directions + start + x;
        const int word = (start + x) / 64;
        const uint64_t bits = raise ? raise->bits[word] : 0;
        const int32_t limit = bits ? raised_limit : plain_limit;
        row->active[word] = n - x >= 64
                                ? JOIN(CANNY_NAME, block)(magnitudes, directions, gx + x, gy + x, sums + x, 64, limit)
                                : JOIN(CANNY_NAME, block)(magnitudes, directions, gx + x, gy + x, sums + x, n - x, limit);
        if (bits && row->active[word])
            JOIN(CANNY_NAME, raise)(magnitudes, bits, n - x < 64 ? n - x : 64, raise->boost);
    }
}

#undef JOIN
#undef JOIN_TOKENS
#undef CANNY_NAME
#undef MAGNITUDE
#undef IS_L1
