/* Non-maximum suppression, a part of rows_table.h, included once for each type of magnitudes:
 *   CANNY_NAME  the function's name
 *   MAGNITUDE   holds a magnitude
 *   BITS_ABOVE  tells which of 64 magnitudes are above a limit */
#define JOIN_TOKENS(name, suffix) name##_##suffix
#define JOIN(name, suffix) JOIN_TOKENS(name, suffix)

/* Magnitudes that are maxima and above `low`, else 0. */
INLINE void JOIN(CANNY_NAME, block)(MAGNITUDE *restrict kept, const MAGNITUDE *restrict up, const MAGNITUDE *restrict row,
                                    const MAGNITUDE *restrict down, const MAGNITUDE *restrict directions, int n, MAGNITUDE low)
{
    for (int x = 0; x < n; x++) {
        const MAGNITUDE m = row[x], direction = directions[x];
        const MAGNITUDE left = row[x - 1], right = row[x + 1], above = up[x], below = down[x];
        const MAGNITUDE up_left = up[x - 1], up_right = up[x + 1], down_left = down[x - 1], down_right = down[x + 1];
        const bool horizontal = direction == EC_DIRECTION_HORIZONTAL, vertical = direction == EC_DIRECTION_VERTICAL;
        const bool falling = direction == EC_DIRECTION_FALLING;
        const MAGNITUDE before = horizontal ? left : vertical ? above : falling ? up_left : up_right;
        const MAGNITUDE after = horizontal ? right : vertical ? below : falling ? down_right : down_left;
        /* m >= after is m > after - 1. */
        const MAGNITUDE least = (MAGNITUDE)(after - (direction <= EC_DIRECTION_VERTICAL ? 1 : 0));
        const MAGNITUDE top = before > least ? before : least;
        kept[x] = m > (top > low ? top : low) ? m : 0;
    }
}

static void CANNY_NAME(uint64_t *candidates, uint64_t *edges, const struct ec_canny_row rows[3], int n, int64_t low,
                       int64_t high)
{
    const int64_t largest = (int64_t)(((uint64_t)1 << (8 * sizeof(MAGNITUDE) - 1)) - 1);
    const MAGNITUDE low_limit = (MAGNITUDE)(low < largest ? low : largest);
    const MAGNITUDE high_limit = (MAGNITUDE)(high < largest ? high : largest);
    const MAGNITUDE *up = rows[0].magnitudes, *row = rows[1].magnitudes, *down = rows[2].magnitudes;
    const MAGNITUDE *directions = rows[1].directions;
    MAGNITUDE kept[64];
    for (int x = 0; x < n; x += 64) {
        candidates[x / 64] = edges[x / 64] = 0;
        if (!rows[1].active[x / 64])
            continue;
        if (n - x >= 64) {
            JOIN(CANNY_NAME, block)(kept, up + x, row + x, down + x, directions + x, 64, low_limit);
        } else {
            memset(kept, 0, sizeof kept);
            JOIN(CANNY_NAME, block)(kept, up + x, row + x, down + x, directions + x, n - x, low_limit);
        }
        candidates[x / 64] = BITS_ABOVE(kept, 0);
        edges[x / 64] = BITS_ABOVE(kept, high_limit);
    }
}

#undef JOIN
#undef JOIN_TOKENS
#undef CANNY_NAME
#undef MAGNITUDE
#undef BITS_ABOVE
