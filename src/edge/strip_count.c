/* What automatic thresholds are chosen from. */
#include <string.h>

#include "edge/arith.h"
#include "edge/auto_arith.h"
#include "edge/canny_arith.h"
#include "edge/strip.h"
#include "edge/strip_state.h"

/* Samples next to each other are counted apart, so that none waits for the count before it. */
#define TURNS 4

struct turns {
    struct ec_auto_counts counts[TURNS];
};

static int sample_count(const struct ec_strip *s)
{
    return (s->width + EC_AUTO_COLUMN_STEP - 1) / EC_AUTO_COLUMN_STEP;
}

static void count_grays(const struct ec_strip *s, const void *row, struct turns *turns)
{
    const uint8_t *bytes = row;
    const uint16_t *shorts = row;
    const int depth = s->plan->depth_bits, count = sample_count(s);
    if (depth == 8)
        for (int i = 0; i < count; i++)
            turns->counts[i % TURNS].grays[ec_auto_gray_bin(bytes[EC_AUTO_COLUMN_STEP * i], 8)]++;
    else
        for (int i = 0; i < count; i++)
            turns->counts[i % TURNS].grays[ec_auto_gray_bin(shorts[EC_AUTO_COLUMN_STEP * i], depth)]++;
}

/* Of a sample next to which there may be no pixel. */
static void sample_gradient(struct ec_strip *s, int i)
{
    int32_t window[9];
    for (int k = 0; k < 9; k++) {
        const int x = ec_border_index(EC_AUTO_COLUMN_STEP * i + k % 3 - 1, s->width, EC_BORDER_REPLICATE);
        window[k] = ((const uint8_t *)s->windows[s->channel][k / 3])[x];
    }
    ec_canny_gradient(window, &s->plan->gradient, (int32_t *)ec_strip_scratch(&s->gx) + i,
                      (int32_t *)ec_strip_scratch(&s->gy) + i);
}

/* The gradients that are counted in row y; returns how far they are apart. */
static int sample_gradients(struct ec_strip *s, int y, int count)
{
    if (!s->rows->sample_sobel || s->plan->gradient.size != 3 || s->kind->pixel_bytes != 1) {
        ec_strip_gradients(s, y);
        return EC_AUTO_COLUMN_STEP;
    }
    ec_strip_gather(s, y, EC_BORDER_REPLICATE);
    sample_gradient(s, 0);
    for (int i =
             1 + s->rows->sample_sobel(ec_strip_scratch(&s->gx), ec_strip_scratch(&s->gy), s->windows[s->channel], s->width);
         i < count; i++)
        sample_gradient(s, i);
    return 1;
}

/* Of each sample the length in the channel where it is largest. */
static void count_magnitudes(struct ec_strip *s, int y, int channels, struct turns *turns)
{
    int32_t *lengths = ec_strip_scratch(&s->lengths);
    const int count = sample_count(s);
    memset(lengths, 0, (size_t)count * sizeof *lengths);
    for (s->channel = 0; s->channel < channels; s->channel++) {
        const int step = sample_gradients(s, y, count);
        s->rows->take_lengths(lengths, ec_strip_scratch(&s->gx), ec_strip_scratch(&s->gy), count, step, s->plan);
    }
    for (int i = 0; i < count; i++)
        turns->counts[i % TURNS].magnitudes[ec_auto_length_bin(lengths[i], s->plan)]++;
}

static void add_counts(struct ec_auto_counts *sum, const struct ec_auto_counts *counts)
{
    for (int i = 0; i < EC_AUTO_GRAYS; i++)
        sum->grays[i] += counts->grays[i];
    for (int i = 0; i < EC_AUTO_MAGNITUDES; i++)
        sum->magnitudes[i] += counts->magnitudes[i];
}

void ec_strip_count(struct ec_strip *s, const struct ec_image *in, bool limited_range, struct ec_auto_counts *counts, int first,
                    int end)
{
    const int channels = in->plane_bytes ? s->plan->channels : 1, rest = first % EC_AUTO_ROW_STEP;
    struct turns turns = {0};
    ec_strip_begin(s, in, limited_range);
    for (int y = rest ? first + EC_AUTO_ROW_STEP - rest : first; y < end; y += EC_AUTO_ROW_STEP) {
        if (s->plan->automatic.kind == EC_AUTO_PERCENTILE)
            count_magnitudes(s, y, channels, &turns);
        for (s->channel = 0; s->channel < channels; s->channel++)
            count_grays(s, ec_strip_row(s, y), &turns);
    }
    for (int turn = 0; turn < TURNS; turn++)
        add_counts(counts, &turns.counts[turn]);
}
