/* What automatic thresholds are chosen from. */
#include "edge/auto_arith.h"
#include "edge/canny_arith.h"
#include "edge/strip.h"
#include "edge/strip_state.h"

static void count_grays(const struct ec_strip *s, const void *row, struct ec_auto_counts *counts)
{
    const uint8_t *bytes = row;
    const uint16_t *shorts = row;
    const int depth = s->plan->depth_bits;
    if (depth == 8)
        for (int x = 0; x < s->width; x += EC_AUTO_COLUMN_STEP)
            counts->grays[ec_auto_gray_bin(bytes[x], 8)]++;
    else
        for (int x = 0; x < s->width; x += EC_AUTO_COLUMN_STEP)
            counts->grays[ec_auto_gray_bin(shorts[x], depth)]++;
}

/* Of each sample the magnitude of the channel where it is largest. */
static void count_magnitudes(struct ec_strip *s, int y, int channels, struct ec_auto_counts *counts)
{
    int64_t *samples = ec_strip_scratch(&s->samples);
    const int32_t *gx = ec_strip_scratch(&s->gx), *gy = ec_strip_scratch(&s->gy);
    for (s->channel = 0; s->channel < channels; s->channel++) {
        ec_strip_gradients(s, y);
        for (int x = 0; x < s->width; x += EC_AUTO_COLUMN_STEP) {
            const int64_t magnitude = ec_canny_magnitude(gx[x], gy[x], s->plan->norm);
            if (s->channel == 0 || magnitude > samples[x])
                samples[x] = magnitude;
        }
    }
    for (int x = 0; x < s->width; x += EC_AUTO_COLUMN_STEP)
        counts->magnitudes[ec_auto_magnitude_bin(samples[x], s->plan)]++;
}

void ec_strip_count(struct ec_strip *s, const struct ec_image *in, bool limited_range, struct ec_auto_counts *counts, int first,
                    int end)
{
    const int channels = in->plane_bytes ? s->plan->channels : 1, rest = first % EC_AUTO_ROW_STEP;
    ec_strip_begin(s, in, limited_range);
    for (int y = rest ? first + EC_AUTO_ROW_STEP - rest : first; y < end; y += EC_AUTO_ROW_STEP) {
        if (s->plan->automatic.kind == EC_AUTO_PERCENTILE)
            count_magnitudes(s, y, channels, counts);
        for (s->channel = 0; s->channel < channels; s->channel++)
            count_grays(s, ec_strip_row(s, y), counts);
    }
}
