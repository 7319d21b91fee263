/* Canny on lanes, a part of rows_table.h: gradients that fit 16 bits, magnitudes as keys and rests (see rows.h). */

/* Along which line of neighbours a magnitude must be the largest, in this order: left and right, up and down, up-right and
 * down-left, else up-left and down-right. */
struct course {
    lanes_mask flat, steep, rising;
};

/* The thresholds of ec_canny_direction: gy * 2^15 < gx * tangent where gy is up to the product's quotient, rounded down, as
 * from 1 to 2^15 - 1 no multiple of the odd tangent has a whole quotient; gy * 2^15 > gx * (2^16 + tangent) where it is above
 * 2 * gx and the quotient. Where both are 0 the magnitude is, and no maximum. */
INLINE struct course course_of(lanes gx, lanes gy)
{
    const lanes across = lanes_absolute(gx), down = lanes_absolute(gy);
    const lanes quotient = lanes_products_high(across, lanes_of(2 * EC_CANNY_TANGENT));
    return (struct course){~lanes_above(down, quotient), lanes_above(down, across + across + quotient),
                           lanes_above((lanes){0}, gx ^ gy)};
}

struct magnitudes {
    lanes keys, rests;
    lanes_mask above_low, above_high;
};

INLINE struct magnitudes magnitudes_of_sums(lanes sums, const struct ec_canny_limits *limits)
{
    return (struct magnitudes){.keys = sums,
                               .above_low = lanes_above(sums, lanes_of((int)limits->low)),
                               .above_high = lanes_above(sums, lanes_of((int)limits->high))};
}

INLINE struct magnitudes magnitudes_of_squares(struct wide_pair squares, const struct ec_canny_limits *limits)
{
    const wide_lanes a = squares.first, b = squares.second;
    const int32_t rest = (1 << limits->shift) - 1;
    const lanes low = lanes_join_wide(a - limits->low, b - limits->low);
    const lanes high = lanes_join_wide(a - limits->high, b - limits->high);
    return (struct magnitudes){.keys = lanes_join_wide(a >> limits->shift, b >> limits->shift),
                               .rests = lanes_join_wide(a & rest, b & rest),
                               .above_low = lanes_above(low, (lanes){0}),
                               .above_high = lanes_above(high, (lanes){0})};
}

INLINE struct magnitudes magnitudes_of(lanes gx, lanes gy, bool l1, const struct ec_canny_limits *limits)
{
    return l1 ? magnitudes_of_sums(lanes_absolute(gx) + lanes_absolute(gy), limits)
              : magnitudes_of_squares(lanes_squares(gx, gy), limits);
}

/* ec_stable_raise_i32: sums are below 2^13 and boosts below 2^11, so that their product, by 2^8 larger, has its quotient in
 * the upper half. */
INLINE struct magnitudes raised_magnitudes_of(lanes gx, lanes gy, bool l1, const struct ec_canny_limits *limits)
{
    if (l1) {
        const lanes sums = lanes_absolute(gx) + lanes_absolute(gy);
        return magnitudes_of_sums(sums + lanes_products_high(sums << 3, lanes_of(limits->boost << 5)), limits);
    }
    struct wide_pair m = lanes_squares(gx, gy);
    m.first += (m.first >> 8) * limits->boost + ((m.first & 255) * limits->boost >> 8);
    m.second += (m.second >> 8) * limits->boost + ((m.second & 255) * limits->boost >> 8);
    return magnitudes_of_squares(m, limits);
}

INLINE struct magnitudes magnitudes_pick(lanes_mask mask, struct magnitudes a, struct magnitudes b)
{
    return (struct magnitudes){lanes_pick(mask, a.keys, b.keys), lanes_pick(mask, a.rests, b.rests),
                               (a.above_low & mask) | (b.above_low & ~mask), (a.above_high & mask) | (b.above_high & ~mask)};
}

/* Rows of keys above, at and below certain pixels, the first of them being the left neighbours, and so on. */
struct surroundings {
    const int16_t *up, *at, *down;
    ptrdiff_t left, middle, right;
};

struct neighbours {
    lanes before, after;
};

INLINE struct neighbours neighbours_of(const struct surroundings *s, const struct course *course)
{
    lanes before = lanes_pick(course->rising, lanes_load(s->up + s->right), lanes_load(s->up + s->left));
    lanes after = lanes_pick(course->rising, lanes_load(s->down + s->left), lanes_load(s->down + s->right));
    before = lanes_pick(course->steep, lanes_load(s->up + s->middle), before);
    after = lanes_pick(course->steep, lanes_load(s->down + s->middle), after);
    return (struct neighbours){lanes_pick(course->flat, lanes_load(s->at + s->left), before),
                               lanes_pick(course->flat, lanes_load(s->at + s->right), after)};
}

/* Where keys are the largest of their neighbours; ec_canny_is_maximum has m >= after, m > after - 1, in these courses. */
INLINE lanes_mask maxima_of(const struct surroundings *keys, const struct course *course)
{
    const struct neighbours n = neighbours_of(keys, course);
    const lanes after = lanes_decrease(course->flat | course->steep, n.after);
    return lanes_above(lanes_load(keys->at + keys->middle), lanes_max(n.before, after));
}

/* The same with rests, which are looked at where a key that counts equals one of its neighbours'. */
INLINE lanes_mask maxima_with_rests(const struct surroundings *keys, const struct surroundings *rests,
                                    const struct course *course, lanes least)
{
    const struct neighbours n = neighbours_of(keys, course);
    const lanes key = lanes_load(keys->at + keys->middle);
    const lanes_mask counts = ~lanes_above(lanes_max(n.before, n.after), key) & ~lanes_above(least, key);
    const lanes_mask equals_before = lanes_equal(key, n.before), equals_after = lanes_equal(key, n.after);
    if (!mask_any(counts & (equals_before | equals_after)))
        return counts;
    const struct neighbours r = neighbours_of(rests, course);
    const lanes rest = lanes_load(rests->at + rests->middle);
    const lanes after = lanes_decrease(course->flat | course->steep, r.after);
    return counts & (~equals_before | lanes_above(rest, r.before)) & (~equals_after | lanes_above(rest, after));
}

/* Mostly eight words, which a compiler that knows it stores at once. */
INLINE void clear_words(uint64_t *words, int count)
{
    for (; count >= 8; count -= 8, words += 8)
        memset(words, 0, 8 * sizeof *words);
    for (; count > 0; count--)
        *words++ = 0;
}
