/* Maxima of what rows_kind_tall_canny.h has measured, a part of rows_kind.h. Ends what that file defines. */

/* Of a step of a row: what is to the left of the first part, the parts, what is to the right of the last. */
struct NAME(line) {
    lanes of[PARTS + 2];
};

/* From column x - 1 on; x is even. */
INLINE struct NAME(line) NAME(load_line)(const int16_t *row, ptrdiff_t odd, ptrdiff_t x)
{
    struct NAME(line) line;
    for (int k = 0; k < PARTS + 2; k++)
        line.of[k] = lanes_load(row + (IS_8_BIT ? (k % 2 ? 0 : odd) + (x + k + 1) / 2 - 1 : x + k - 1));
    return line;
}

INLINE struct beside NAME(beside)(const struct NAME(line) * line, int part)
{
    return (struct beside){line->of[part], line->of[part + 1], line->of[part + 2]};
}

INLINE struct neighbours NAME(neighbours)(const struct NAME(line) lines[3], int part, const struct course *course)
{
    return neighbours_of(NAME(beside)(&lines[0], part), NAME(beside)(&lines[1], part), NAME(beside)(&lines[2], part), course);
}

/* Looks at the rests of row y too. */
static void NAME(settle_maxima)(struct maxima maxima[PARTS], const struct ec_canny_group *group, int y, ptrdiff_t x,
                                const struct NAME(line) keys[3], const struct course *courses)
{
    const lanes rest_bits = lanes_of((1 << group->limits->shift) - 1);
    struct NAME(line) rests[3];
    for (int j = 0; j < 3; j++) {
        rests[j] = NAME(load_line)(group->rows[y - 1 + j].rests, group->odd, x);
        for (int i = 0; i < PARTS + 2; i++)
            rests[j].of[i] &= rest_bits;
    }
    for (int i = 0; i < PARTS; i++)
        maxima[i] = maxima_of_rests(maxima[i], keys[1].of[i + 1], NAME(neighbours)(keys, i, &courses[i]), rests[1].of[i + 1],
                                    NAME(neighbours)(rests, i, &courses[i]), &courses[i], group->limits);
}

/* Of a step of row y, around which the keys are: adds to bits. */
INLINE void NAME(thin_step)(uint64_t *candidates, uint64_t *edges, const struct ec_canny_group *group, int y, int block,
                            int step, const struct NAME(line) keys[3], bool l1)
{
    const struct course *courses = ((const struct NAME(courses) *)group->rows[y].courses + block)->of[step];
    struct maxima maxima[PARTS];
    bool any_open = false;
    for (int i = 0; i < PARTS; i++) {
        const struct neighbours n = NAME(neighbours)(keys, i, &courses[i]);
        lanes_mask open;
        if (l1) {
            maxima[i] = maxima_of_sums(keys[1].of[i + 1], n, &courses[i], group->limits);
            continue;
        }
        maxima[i] = maxima_of_keys(keys[1].of[i + 1], n, group->limits, &open);
        any_open |= mask_any(open);
    }
    if (any_open)
        NAME(settle_maxima)(maxima, group, y, 64 * (ptrdiff_t)block + step * STEP, keys, courses);
    lanes_mask low[PARTS], high[PARTS];
    for (int i = 0; i < PARTS; i++) {
        low[i] = maxima[i].low;
        high[i] = maxima[i].high;
    }
    *candidates = (step ? *candidates : 0) | NAME(step_bits)(low, step);
    *edges = (step ? *edges : 0) | NAME(step_bits)(high, step);
}

/* Blocks that are thinned before their bits go on together. */
#define WORDS 8

/* Rows whose flags are in `active`; each step goes down all of them, so that no key is loaded more often than once. */
INLINE void NAME(thin_block)(const struct ec_canny_group *group, uint64_t bits[2][EC_TALL_ROWS][WORDS], int word, int block,
                             uint32_t active, bool l1)
{
    for (int step = 0; step < STEPS; step++) {
        const ptrdiff_t x = 64 * (ptrdiff_t)block + step * STEP;
        struct NAME(line) keys[3] = {{{{0}}}};
        for (int y = 0; y < 2; y++)
            keys[y + 1] = NAME(load_line)(group->rows[y].keys, group->odd, x);
#pragma GCC unroll 1
        for (int y = 1; y <= EC_TALL_ROWS; y++) {
            keys[0] = keys[1];
            keys[1] = keys[2];
            keys[2] = NAME(load_line)(group->rows[y + 1].keys, group->odd, x);
            if (active & group->rows[y].flag)
                NAME(thin_step)(&bits[0][y - 1][word], &bits[1][y - 1][word], group, y, block, step, keys, l1);
        }
    }
}

static void NAME(canny_thin)(const struct ec_canny_group *group, uint64_t *const *candidates, uint64_t *const *edges, int start,
                             int n)
{
    uint32_t flags = 0;
    for (int y = 0; y < EC_TALL_ROWS; y++)
        flags |= group->rows[y + 1].flag;
    for (int from = 0, blocks; from < n; from += blocks * 64) {
        uint64_t bits[2][EC_TALL_ROWS][WORDS] = {{{0}}};
        blocks = ec_min_i32(WORDS, (n - from + 63) / 64);
        for (int i = 0; i < blocks; i++) {
            const int block = (start + from) / 64 + i;
            const uint32_t active = group->active[block] & flags;
            if (!active)
                continue;
            if (group->norm == EC_NORM_L1)
                NAME(thin_block)(group, bits, i, block, active, true);
            else
                NAME(thin_block)(group, bits, i, block, active, false);
        }
        const int outside = 64 * blocks - (n - from);
        for (int y = 0; y < EC_TALL_ROWS; y++) {
            for (int k = 0; k < 2 && outside > 0; k++)
                bits[k][y][blocks - 1] &= ~(uint64_t)0 >> outside;
            copy_words(candidates[y] + (start + from) / 64, bits[0][y], blocks);
            copy_words(edges[y] + (start + from) / 64, bits[1][y], blocks);
        }
    }
}

#undef PARTS
#undef STEP
#undef STEPS
#undef WORDS
