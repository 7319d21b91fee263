/* Sobel's and Scharr's gradients of bytes by weighted sums of 2x2 pixels, a part of rows_kind_tall.h.
 *
 * Along the diagonals, with corner twice the weight of a corner and edge that of the pixels between,
 *
 *   gx + gy:  -corner  -edge    0        gx - gy:    0     edge   corner
 *              -edge     0     edge                -edge    0      edge
 *                0      edge  corner              -corner -edge     0
 *
 * are each the difference of two blocks of one kind: of (corner edge / edge corner) the one to the lower right and the one to
 * the upper left, of (edge corner / corner edge) the one to the upper right and the one to the lower left. The pixel in the
 * middle has the weight of a corner in each of them and cancels out. */

/* Weighted sums of a row's neighbours, or of blocks that begin in it: those before part 0, and in and after each part. */
struct NAME(sums) {
    lanes corner_edge[PARTS + 1], edge_corner[PARTS + 1];
};

INLINE struct NAME(sums) NAME(sum_pairs)(const void *row, int x, int corner, int edge)
{
    const lanes corner_edge = lanes_of(corner | edge << 8), edge_corner = lanes_of(edge | corner << 8);
    struct NAME(sums) pairs;
    for (int i = 0; i <= PARTS; i++) {
        const lanes bytes = lanes_load((const uint8_t *)row + x + i - 1);
        pairs.corner_edge[i] = lanes_pair_products(bytes, corner_edge);
        pairs.edge_corner[i] = lanes_pair_products(bytes, edge_corner);
    }
    return pairs;
}

INLINE struct NAME(sums) NAME(sum_blocks)(struct NAME(sums) above, struct NAME(sums) below)
{
    struct NAME(sums) blocks;
    for (int i = 0; i <= PARTS; i++) {
        blocks.corner_edge[i] = above.corner_edge[i] + below.edge_corner[i];
        blocks.edge_corner[i] = above.edge_corner[i] + below.corner_edge[i];
    }
    return blocks;
}

/* |gx| + |gy| is the larger of |gx + gy| and |gx - gy|. For l2 the weights are half as large. */
INLINE void NAME(tall_blocks)(void *const *out, const void *const *rows, int n, const struct ec_plan *plan, int corner,
                              int edge, bool l1)
{
    const lanes max = lanes_of(plan->finish.max);
    const struct ahead ahead = ahead_of(out, rows);
    for (int x = 0; x < n; x += TALL_STEP) {
        struct NAME(sums) above = NAME(sum_pairs)(rows[1], x, corner, edge);
        struct NAME(sums) upper = NAME(sum_blocks)(NAME(sum_pairs)(rows[0], x, corner, edge), above);
        struct half_root begun[PARTS] = {0};
#pragma GCC unroll 8
        for (int y = 0; y < EC_TALL_ROWS; y++) {
            const struct NAME(sums) below = NAME(sum_pairs)(rows[y + 2], x, corner, edge);
            const struct NAME(sums) lower = NAME(sum_blocks)(above, below);
            lanes sum[PARTS], difference[PARTS];
            for (int i = 0; i < PARTS; i++) {
                sum[i] = lower.corner_edge[i + 1] - upper.corner_edge[i];
                difference[i] = upper.edge_corner[i + 1] - lower.edge_corner[i];
            }
            if (l1) {
                lanes response[PARTS];
                for (int i = 0; i < PARTS; i++)
                    response[i] = lanes_max(lanes_max(sum[i], difference[i]), -lanes_min(sum[i], difference[i]));
                NAME(store_parts)(out[y], x, response, max);
            } else {
                lanes gx[PARTS], gy[PARTS];
                for (int i = 0; i < PARTS; i++) {
                    gx[i] = sum[i] + difference[i];
                    gy[i] = sum[i] - difference[i];
                }
                NAME(put_lengths)(out, y, x, gx, gy, begun, max, false);
            }
            prefetch_ahead(&ahead, rows[y + 2], out[y], x);
            above = below;
            upper = lower;
        }
        NAME(put_last)(out, x, begun, max, l1);
    }
}
