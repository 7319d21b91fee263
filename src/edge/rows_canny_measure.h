/* From gradients to magnitudes and directions, a part of rows_table.h, included once for each pair of types, which say
 *   CANNY_NAME  the function's name
 *   GRADIENT    holds gx and gy
 *   MAGNITUDE   holds the magnitude
 *   PRODUCT     is unsigned and holds 3 * |gx|, or if it is wider than 16 bits |gx| * EC_CANNY_TANGENT
 *   IS_L1       whether the magnitude is a sum, else a square */
#define JOIN_TOKENS(name, suffix) name##_##suffix
#define JOIN(name, suffix) JOIN_TOKENS(name, suffix)

/* True if a magnitude is above `low`; only then the directions are worked out. */
INLINE bool JOIN(CANNY_NAME, block)(MAGNITUDE *restrict magnitudes, MAGNITUDE *restrict directions, const GRADIENT *restrict gx,
                                    const GRADIENT *restrict gy, int n, MAGNITUDE low)
{
    MAGNITUDE largest = 0;
    for (int x = 0; x < n; x++) {
        const MAGNITUDE across = (MAGNITUDE)(gx[x] < 0 ? -gx[x] : gx[x]), down = (MAGNITUDE)(gy[x] < 0 ? -gy[x] : gy[x]);
        const MAGNITUDE m = (MAGNITUDE)(IS_L1 ? across + down : across * across + down * down);
        magnitudes[x] = m;
        largest = m > largest ? m : largest;
    }
    if (largest <= low)
        return false;
    /* gy * 2^15 < gx * tangent where gy is below the product's quotient, rounded up; gy * 2^15 > gx * (2^16 + tangent) where it
     * is above 2 * gx and the quotient, rounded down. From 1 to 2^15 - 1 no multiple of the odd tangent has a whole quotient.
     */
    for (int x = 0; x < n; x++) {
        const PRODUCT across = (PRODUCT)(gx[x] < 0 ? -gx[x] : gx[x]), down = (PRODUCT)(gy[x] < 0 ? -gy[x] : gy[x]);
        PRODUCT below, above;
        if (sizeof(PRODUCT) == 2) {
            below = (PRODUCT)((uint32_t)across * (2 * EC_CANNY_TANGENT) >> 16);
            above = (PRODUCT)(below + 1);
        } else {
            below = across * EC_CANNY_TANGENT >> EC_CANNY_TANGENT_BITS;
            above = (across * EC_CANNY_TANGENT + (1 << EC_CANNY_TANGENT_BITS) - 1) >> EC_CANNY_TANGENT_BITS;
        }
        const MAGNITUDE diagonal = (gx[x] ^ gy[x]) < 0 ? EC_DIRECTION_RISING : EC_DIRECTION_FALLING;
        const MAGNITUDE steep = down > (PRODUCT)(2 * across + below) ? EC_DIRECTION_VERTICAL : diagonal;
        directions[x] = down < above ? EC_DIRECTION_HORIZONTAL : steep;
    }
    return true;
}

static void CANNY_NAME(const struct ec_canny_row *row, int start, const void *gx, const void *gy, int n, int64_t low)
{
    const GRADIENT *across = gx, *down = gy;
    const MAGNITUDE limit = (MAGNITUDE)((uint64_t)low < (MAGNITUDE)-1 ? (uint64_t)low : (MAGNITUDE)-1);
    for (int x = 0; x < n; x += 64) {
        MAGNITUDE *magnitudes = (MAGNITUDE *)row->magnitudes + start + x,
                  *directions = (MAGNITUDE *)row->directions + start + x;
        row->active[(start + x) / 64] =
            n - x >= 64 ? JOIN(CANNY_NAME, block)(magnitudes, directions, across + x, down + x, 64, limit)
                        : JOIN(CANNY_NAME, block)(magnitudes, directions, across + x, down + x, n - x, limit);
    }
}

#undef JOIN
#undef JOIN_TOKENS
#undef CANNY_NAME
#undef GRADIENT
#undef MAGNITUDE
#undef PRODUCT
#undef IS_L1
