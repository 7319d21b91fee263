/* Canny by Sobel 3x3 on EC_TALL_ROWS rows at once, a part of rows_kind.h for kinds whose gradients fit 16 bits: the terms are
 * explained there, and in rows_kind_tall.h, whose vectors these are.
 *
 * Keys and rests stand in rows in the order of the parts of a vector: of bytes those of all even columns, then those of all odd
 * ones, whose neighbours on the left and right are in the other half. Blocks have 64 columns. */
#define PARTS (IS_8_BIT ? 2 : 1)
#define STEP (LANES_BYTES / (int)sizeof(PIXEL))
#define STEPS (64 / STEP)

/* Of a block. */
struct NAME(courses) {
    struct course of[STEPS][PARTS];
};

INLINE uint64_t NAME(step_bits)(const lanes_mask masks[PARTS], int step)
{
    return (IS_8_BIT ? mask_bits_in_turns(masks[0], masks[PARTS - 1]) : mask_bits(masks[0])) << (step * STEP % 64);
}

INLINE lanes_mask NAME(step_mask)(uint64_t bits, int step, int part)
{
    return IS_8_BIT ? mask_of_bits_in_turns(bits >> (step * STEP % 64), part) : mask_of_bits(bits >> (step * STEP % 64));
}

/* What counts in a row is none of what is there. */
static void NAME(canny_forget)(const struct ec_canny_group *group, int block, uint32_t flags)
{
    for (int y = 0; y < EC_TALL_ROWS; y++)
        for (int part = 0; part < PARTS && (flags & group->rows[y + 2].flag); part++)
            memset(group->rows[y + 2].keys + part * group->odd + 64 / PARTS * block, 0xff, 64 / PARTS * sizeof(int16_t));
    group->active[block] &= (uint16_t)~flags;
}

static bool NAME(any_raised)(const struct ec_canny_group *group, int block)
{
    uint64_t any = 0;
    for (int y = 0; y < EC_TALL_ROWS && group->raised[0]; y++)
        any |= group->raised[y][block];
    return any != 0;
}

struct NAME(gradients) {
    lanes gx[PARTS], gy[PARTS];
};

INLINE struct NAME(gradients)
    NAME(gradients_of)(const struct NAME(slopes) * a, const struct NAME(slopes) * b, const struct NAME(slopes) * c)
{
    struct NAME(gradients) g;
    for (int i = 0; i < PARTS; i++) {
        g.gx[i] = NAME(weigh)(a->differences[i], b->differences[i], c->differences[i], 1, 2);
        g.gy[i] = c->sums[i] - a->sums[i];
    }
    return g;
}

INLINE void NAME(take_larger)(struct NAME(gradients) * g, const struct NAME(gradients) * other, bool l1)
{
    for (int i = 0; i < PARTS; i++) {
        lanes more;
        if (l1) {
            more = lanes_absolute(other->gx[i]) + lanes_absolute(other->gy[i]) - lanes_absolute(g->gx[i]) -
                   lanes_absolute(g->gy[i]);
        } else {
            const struct wide_pair own = lanes_squares(g->gx[i], g->gy[i], 0),
                                   its = lanes_squares(other->gx[i], other->gy[i], 0);
            more = lanes_join_wide(its.first - own.first, its.second - own.second);
        }
        const lanes_mask larger = lanes_above(more, (lanes){0});
        g->gx[i] = lanes_pick(larger, other->gx[i], g->gx[i]);
        g->gy[i] = lanes_pick(larger, other->gy[i], g->gy[i]);
    }
}

/* A step of a row; adds to its largest keys. */
INLINE void NAME(measure_step)(lanes *largest, const struct ec_canny_lines *row, const struct ec_canny_limits *limits,
                               ptrdiff_t odd, int block, int step, const struct NAME(gradients) * g, uint64_t raised, bool l1)
{
    struct NAME(courses) *courses = (struct NAME(courses) *)row->courses + block;
    for (int i = 0; i < PARTS; i++) {
        struct magnitudes m = magnitudes_of(g->gx[i], g->gy[i], l1, limits);
        if (raised)
            m = magnitudes_pick(NAME(step_mask)(raised, step, i), raised_magnitudes_of(g->gx[i], g->gy[i], l1, limits), m);
        const ptrdiff_t at = i * odd + (64 * block + STEP * step) / PARTS;
        lanes_store(row->keys + at, m.keys);
        if (!l1)
            lanes_store(row->rests + at, m.rests);
        courses->of[step][i] = course_of(g->gx[i], g->gy[i]);
        *largest = lanes_max(*largest, m.keys);
    }
}

/* A step of each row; in each pixel the gradients of the channel that has the largest. */
INLINE void NAME(larger_gradients)(struct NAME(gradients) all[EC_TALL_ROWS], const void *const *rows, int x, lanes max,
                                   int channels, bool l1)
{
    for (int channel = 0; channel < channels; channel++) {
        const void *const *r = rows + channel * (EC_TALL_ROWS + 2);
        struct NAME(slopes) a = NAME(load_slopes)(r[0], x, max, 1, 2), b = NAME(load_slopes)(r[1], x, max, 1, 2);
#pragma GCC unroll 1
        for (int y = 0; y < EC_TALL_ROWS; y++) {
            const struct NAME(slopes) c = NAME(load_slopes)(r[y + 2], x, max, 1, 2);
            const struct NAME(gradients) g = NAME(gradients_of)(&a, &b, &c);
            if (channel == 0)
                all[y] = g;
            else
                NAME(take_larger)(&all[y], &g, l1);
            a = b;
            b = c;
        }
    }
}

/* Which rows have magnitudes that count in a block, of which `n` columns are there: none does after them. */
static void NAME(end_block)(const struct ec_canny_group *group, const lanes largest[EC_TALL_ROWS], int block, int n)
{
    const ptrdiff_t outside = (n % PARTS) * group->odd + (64 * block + n) / PARTS;
    uint32_t active = group->active[block];
    for (int y = 0; y < EC_TALL_ROWS; y++) {
        const uint32_t flag = group->rows[y + 2].flag, counts = mask_any(lanes_above(largest[y], lanes_of(-1)));
        active = (active & ~flag) | (flag & -counts);
    }
    group->active[block] = (uint16_t)active;
    for (int y = 0; n < 64 && y < EC_TALL_ROWS; y++)
        group->rows[y + 2].keys[outside] = -1;
}

/* Column x of `rows` is the first of the block, of which `n` are columns of the image. */
INLINE void NAME(measure_block)(const struct ec_canny_group *group, const void *const *rows, int x, int block, int n,
                                int channels, bool l1)
{
    const struct ec_canny_limits limits = *group->limits;
    const lanes max = lanes_of(group->max);
    lanes largest[EC_TALL_ROWS];
    for (int y = 0; y < EC_TALL_ROWS; y++)
        largest[y] = lanes_of(-1);
    for (int step = 0; step < STEPS; step++) {
        struct NAME(gradients) all[EC_TALL_ROWS];
        NAME(larger_gradients)(all, rows, x + step * STEP, max, channels, l1);
#pragma GCC unroll 1
        for (int y = 0; y < EC_TALL_ROWS; y++) {
            const uint64_t raised = group->raised[y] ? group->raised[y][block] : 0;
            NAME(measure_step)(&largest[y], &group->rows[y + 2], &limits, group->odd, block, step, &all[y], raised, l1);
        }
    }
    NAME(end_block)(group, largest, block, n);
}

/* The same of one channel, with nothing raised. */
INLINE void NAME(measure_plain_block)(const struct ec_canny_group *group, const void *const *rows, int x, int block, int n,
                                      bool l1)
{
    const struct ec_canny_limits limits = *group->limits;
    const ptrdiff_t odd = group->odd;
    const lanes max = lanes_of(group->max);
    lanes largest[EC_TALL_ROWS];
    for (int y = 0; y < EC_TALL_ROWS; y++)
        largest[y] = lanes_of(-1);
    for (int step = 0; step < STEPS; step++) {
        const int at = x + step * STEP;
        struct NAME(slopes) a = NAME(load_slopes)(rows[0], at, max, 1, 2), b = NAME(load_slopes)(rows[1], at, max, 1, 2);
#pragma GCC unroll 8
        for (int y = 0; y < EC_TALL_ROWS; y++) {
            const struct NAME(slopes) c = NAME(load_slopes)(rows[y + 2], at, max, 1, 2);
            const struct NAME(gradients) g = NAME(gradients_of)(&a, &b, &c);
            NAME(measure_step)(&largest[y], &group->rows[y + 2], &limits, odd, block, step, &g, 0, l1);
            a = b;
            b = c;
        }
    }
    NAME(end_block)(group, largest, block, n);
}

static void NAME(canny_measure)(const struct ec_canny_group *group, const void *const *rows, int channels, int start, int n)
{
    const struct ec_canny_limits *limits = group->limits;
    bool counts[EC_CANNY_COLUMNS_MAX / 64] = {false}, raised[EC_CANNY_COLUMNS_MAX / 64] = {false};
    const int columns = (n + 63) / 64 * 64;
    uint32_t flags = 0;
    for (int y = 0; y < EC_TALL_ROWS; y++)
        flags |= group->rows[y + 2].flag;
    bool any_raised = false;
    for (int x = 0; x < columns && group->raised[0]; x += 64)
        any_raised |= raised[x / 64] = NAME(any_raised)(group, (start + x) / 64);
    const int step = any_raised ? 64 : columns; /* columns of one limit */
    for (int channel = 0; channel < channels; channel++) {
        const void *const *r = rows + channel * (EC_TALL_ROWS + 2);
        PIXEL across[EC_CANNY_COLUMNS_MAX + 1], down[EC_CANNY_COLUMNS_MAX + 2];
        NAME(canny_spans)(across + 1, down + 1, r, columns);
        down[0] = NAME(canny_span_down)(r, -1);
        down[columns + 1] = NAME(canny_span_down)(r, columns);
        for (int x = 0; x < columns; x += step)
            NAME(canny_excess)(across + 1 + x, down + 1 + x, step, raised[x / 64] ? limits->lowered_sum : limits->sum);
        for (int x = 0; x < columns; x += 64)
            counts[x / 64] |= NAME(any_excess)(across + 1 + x);
    }
    for (int x = 0; x < columns; x += 64) {
        const int block = (start + x) / 64, inside = ec_min_i32(n - x, 64);
        const bool plain = channels == 1 && !raised[x / 64];
        if (!counts[x / 64]) {
            if (group->active[block] & flags)
                NAME(canny_forget)(group, block, group->active[block] & flags);
        } else if (group->norm == EC_NORM_L1 && plain)
            NAME(measure_plain_block)(group, rows, x, block, inside, true);
        else if (group->norm == EC_NORM_L1)
            NAME(measure_block)(group, rows, x, block, inside, channels, true);
        else if (plain)
            NAME(measure_plain_block)(group, rows, x, block, inside, false);
        else
            NAME(measure_block)(group, rows, x, block, inside, channels, false);
    }
}
