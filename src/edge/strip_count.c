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

static int64_t magnitude_at(const struct ec_strip *s, const void *magnitudes, int x)
{
    switch (s->canny->magnitude_bytes) {
    case sizeof(int16_t):
        return ((const int16_t *)magnitudes)[x];
    case sizeof(int32_t):
        return ((const int32_t *)magnitudes)[x];
    default:
        return ((const int64_t *)magnitudes)[x];
    }
}

void ec_strip_count(struct ec_strip *s, const struct ec_image *in, bool limited_range, struct ec_auto_counts *counts, int first,
                    int end)
{
    const int channels = in->plane_bytes ? s->plan->channels : 1, rest = first % EC_AUTO_ROW_STEP;
    ec_strip_begin(s, in, limited_range);
    s->low = 0;
    s->raised = NULL;
    for (int y = rest ? first + EC_AUTO_ROW_STEP - rest : first; y < end; y += EC_AUTO_ROW_STEP) {
        if (s->plan->automatic.kind == EC_AUTO_PERCENTILE) {
            const struct ec_canny_row row = ec_strip_measure(s, y);
            for (int x = 0; x < s->width; x += EC_AUTO_COLUMN_STEP)
                counts->magnitudes[ec_auto_magnitude_bin(magnitude_at(s, row.magnitudes, x), s->plan)]++;
        }
        for (s->channel = 0; s->channel < channels; s->channel++)
            count_grays(s, ec_strip_row(s, y), counts);
    }
}
