/* Maxima of what rows_kind_tall_canny.h has measured, a part of rows_kind.h. Ends what that file defines. */

/* The maxima of a block of row group->rows[y]. */
INLINE uint64_t NAME(maxima_of_block)(const struct ec_canny_group *group, int y, int block, bool l1)
{
    const struct ec_canny_lines *up = &group->rows[y - 1], *at = up + 1, *down = up + 2;
    const struct NAME(courses) *courses = (const struct NAME(courses) *)at->courses + block;
    const lanes least = lanes_of((int)(group->limits->low >> group->limits->shift));
    uint64_t bits = 0;
    for (int step = 0; step < STEPS; step++) {
        lanes_mask maxima[PARTS];
        for (int i = 0; i < PARTS; i++) {
            const ptrdiff_t x = 64 * (ptrdiff_t)block + step * STEP;
            const struct course course = courses->of[step][i];
            const struct surroundings keys = NAME(surroundings)(up->keys, at->keys, down->keys, x, i, group->odd);
            if (l1) {
                maxima[i] = maxima_of(&keys, &course);
                continue;
            }
            const struct surroundings rests = NAME(surroundings)(up->rests, at->rests, down->rests, x, i, group->odd);
            maxima[i] = maxima_with_rests(&keys, &rests, &course, least);
        }
        bits |= NAME(step_bits)(maxima, step);
    }
    return bits;
}

static void NAME(canny_thin)(const struct ec_canny_group *group, uint64_t *const *candidates, uint64_t *const *edges, int start,
                             int n)
{
    uint32_t flags = 0;
    for (int y = 0; y < EC_TALL_ROWS; y++) {
        flags |= group->rows[y + 1].flag;
        clear_words(candidates[y] + start / 64, (n + 63) / 64);
        clear_words(edges[y] + start / 64, (n + 63) / 64);
    }
    for (int block = start / 64; block < (start + n + 63) / 64; block++) {
        const uint32_t active = group->active[block] & flags;
        if (!active)
            continue;
#pragma GCC unroll 1
        for (int y = 0; y < EC_TALL_ROWS; y++) {
            const struct ec_canny_lines *row = &group->rows[y + 1];
            if (!(active & row->flag))
                continue;
            const uint64_t maxima = group->norm == EC_NORM_L1 ? NAME(maxima_of_block)(group, y + 1, block, true)
                                                              : NAME(maxima_of_block)(group, y + 1, block, false);
            candidates[y][block] = maxima & row->above_low[block];
            edges[y][block] = maxima & row->above_high[block];
        }
    }
}

#undef PARTS
#undef STEP
#undef STEPS
