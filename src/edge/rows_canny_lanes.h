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
};

INLINE struct magnitudes magnitudes_of_sums(lanes sums, const struct ec_canny_limits *limits)
{
    return (struct magnitudes){.keys = sums + lanes_of(~limits->low)};
}

INLINE struct magnitudes magnitudes_of_squares(struct wide_pair excess, const struct ec_canny_limits *limits)
{
    return (struct magnitudes){.keys = lanes_join_wide(excess.first >> limits->shift, excess.second >> limits->shift),
                               .rests = lanes_join_lower(excess.first, excess.second)};
}

INLINE struct magnitudes magnitudes_of(lanes gx, lanes gy, bool l1, const struct ec_canny_limits *limits)
{
    return l1 ? magnitudes_of_sums(lanes_absolute(gx) + lanes_absolute(gy), limits)
              : magnitudes_of_squares(lanes_squares(gx, gy, ~limits->low), limits);
}

/* ec_stable_raise_i32: sums are below 2^13 and boosts below 2^11, so that their product, by 2^8 larger, has its quotient in
 * the upper half. */
INLINE struct magnitudes raised_magnitudes_of(lanes gx, lanes gy, bool l1, const struct ec_canny_limits *limits)
{
    if (l1) {
        const lanes sums = lanes_absolute(gx) + lanes_absolute(gy);
        return magnitudes_of_sums(sums + lanes_products_high(sums << 3, lanes_of(limits->boost << 5)), limits);
    }
    struct wide_pair m = lanes_squares(gx, gy, 0);
    m.first += ~limits->low + (m.first >> 8) * limits->boost + ((m.first & 255) * limits->boost >> 8);
    m.second += ~limits->low + (m.second >> 8) * limits->boost + ((m.second & 255) * limits->boost >> 8);
    return magnitudes_of_squares(m, limits);
}

INLINE struct magnitudes magnitudes_pick(lanes_mask mask, struct magnitudes a, struct magnitudes b)
{
    return (struct magnitudes){lanes_pick(mask, a.keys, b.keys), lanes_pick(mask, a.rests, b.rests)};
}

/* Of some pixels, and of those to the left and right of them. */
struct beside {
    lanes left, middle, right;
};

struct neighbours {
    lanes before, after;
};

INLINE struct neighbours neighbours_of(struct beside up, struct beside at, struct beside down, const struct course *course)
{
    lanes before = lanes_pick(course->rising, up.right, up.left), after = lanes_pick(course->rising, down.left, down.right);
    before = lanes_pick(course->steep, up.middle, before);
    after = lanes_pick(course->steep, down.middle, after);
    return (struct neighbours){lanes_pick(course->flat, at.left, before), lanes_pick(course->flat, at.right, after)};
}

/* ec_canny_is_maximum has m >= after, m > after - 1, in these courses. */
INLINE lanes before_maximum(lanes after, const struct course *course)
{
    return lanes_decrease(course->flat | course->steep, after);
}

/* Which pixels are maxima, and which of them are above the high threshold. */
struct maxima {
    lanes_mask low, high;
};

INLINE struct maxima maxima_of_sums(lanes key, struct neighbours n, const struct course *course,
                                    const struct ec_canny_limits *limits)
{
    const lanes others = lanes_max(lanes_max(n.before, before_maximum(n.after, course)), lanes_of(-1));
    const lanes_mask low = lanes_above(key, others);
    return (struct maxima){low, low & lanes_above(key, lanes_of(limits->high_key))};
}

/* The same of squares. They are `open` where keys alone may not tell; that is where they equal something that counts. */
INLINE struct maxima maxima_of_keys(lanes key, struct neighbours n, const struct ec_canny_limits *limits, lanes_mask *open)
{
    const lanes others = lanes_max(lanes_max(n.before, n.after), lanes_of(0)), high_key = lanes_of(limits->high_key);
    const lanes_mask low = ~lanes_above(others, key);
    *open = low & (lanes_equal(key, others) | lanes_equal(key, high_key));
    return (struct maxima){low, low & lanes_above(key, high_key)};
}

INLINE struct maxima maxima_of_rests(struct maxima m, lanes key, struct neighbours keys, lanes rest, struct neighbours rests,
                                     const struct course *course, const struct ec_canny_limits *limits)
{
    const lanes after = before_maximum(rests.after, course);
    const lanes_mask low = m.low & (~lanes_equal(key, keys.before) | lanes_above(rest, rests.before)) &
                           (~lanes_equal(key, keys.after) | lanes_above(rest, after));
    const lanes_mask high = lanes_equal(key, lanes_of(limits->high_key)) & lanes_above(rest, lanes_of(limits->high_rest));
    return (struct maxima){low, low & (m.high | high)};
}

/* Mostly eight words, which a compiler that knows it copies at once. */
INLINE void copy_words(uint64_t *to, const uint64_t *from, int count)
{
    if (count == 8)
        memcpy(to, from, 8 * sizeof *to);
    else
        memcpy(to, from, (size_t)count * sizeof *to);
}
