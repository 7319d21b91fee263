/* Non-maximum suppression, a part of rows_table.h, included once for each type of magnitudes:
 *   CANNY_NAME  the function's name
 *   MAGNITUDE   holds a magnitude */
#define JOIN_TOKENS(name, suffix) name##_##suffix
#define JOIN(name, suffix) JOIN_TOKENS(name, suffix)

INLINE void JOIN(CANNY_NAME, block)(uint8_t *restrict candidates, uint8_t *restrict edges, const MAGNITUDE *restrict up,
                                    const MAGNITUDE *restrict row, const MAGNITUDE *restrict down,
                                    const MAGNITUDE *restrict directions, int n, MAGNITUDE low, MAGNITUDE high)
{
    for (int x = 0; x < n; x++) {
        const MAGNITUDE m = row[x], direction = directions[x];
        const MAGNITUDE left = row[x - 1], right = row[x + 1], above = up[x], below = down[x];
        const MAGNITUDE up_left = up[x - 1], up_right = up[x + 1], down_left = down[x - 1], down_right = down[x + 1];
        const bool horizontal = direction == EC_DIRECTION_HORIZONTAL, vertical = direction == EC_DIRECTION_VERTICAL;
        const bool falling = direction == EC_DIRECTION_FALLING;
        const MAGNITUDE before = horizontal ? left : vertical ? above : falling ? up_left : up_right;
        const MAGNITUDE after = horizontal ? right : vertical ? below : falling ? down_right : down_left;
        /* m >= after is m > after - 1; where `after` is 0, m > low makes both true. */
        const MAGNITUDE least = (MAGNITUDE)(direction <= EC_DIRECTION_VERTICAL && after > 0 ? after - 1 : after);
        const MAGNITUDE top = before > least ? before : least;
        const MAGNITUDE limit = top > low ? top : low;
        candidates[x] = m > limit ? 255 : 0;
        edges[x] = m > (limit > high ? limit : high) ? 255 : 0;
    }
}

static void CANNY_NAME(uint64_t *candidates, uint64_t *edges, const struct ec_canny_row rows[3], int n, int64_t low,
                       int64_t high)
{
    const MAGNITUDE low_limit = (MAGNITUDE)((uint64_t)low < (MAGNITUDE)-1 ? (uint64_t)low : (MAGNITUDE)-1);
    const MAGNITUDE high_limit = (MAGNITUDE)((uint64_t)high < (MAGNITUDE)-1 ? (uint64_t)high : (MAGNITUDE)-1);
    const MAGNITUDE *up = rows[0].magnitudes, *row = rows[1].magnitudes, *down = rows[2].magnitudes;
    const MAGNITUDE *directions = rows[1].directions;
    uint8_t candidate_bytes[64], edge_bytes[64];
    for (int x = 0; x < n; x += 64) {
        candidates[x / 64] = edges[x / 64] = 0;
        if (!rows[1].active[x / 64])
            continue;
        if (n - x >= 64) {
            JOIN(CANNY_NAME, block)
            (candidate_bytes, edge_bytes, up + x, row + x, down + x, directions + x, 64, low_limit, high_limit);
        } else {
            memset(candidate_bytes, 0, 64);
            memset(edge_bytes, 0, 64);
            JOIN(CANNY_NAME, block)
            (candidate_bytes, edge_bytes, up + x, row + x, down + x, directions + x, n - x, low_limit, high_limit);
        }
        candidates[x / 64] = bits_of_bytes(candidate_bytes);
        edges[x / 64] = bits_of_bytes(edge_bytes);
    }
}

#undef JOIN
#undef JOIN_TOKENS
#undef CANNY_NAME
#undef MAGNITUDE
