#include "edge/bands.h"

#include "edge/arith.h"

/* Enough to be worth taking up. */
#define MIN_ROWS 16

/* A band takes one share of so many in what is left for each thread, and no less than that of so many in the whole frame, where
 * the rows that it shares with the next one count. */
#define SHARES 2
#define FRAME_SHARES 4
#define SHARED_MAX 8 /* rows that are computed by both: one in so many at most */

int ec_bands_make(int *ends, const struct ec_plan *plan, int height_px, int threads)
{
    const int shared = plan->window_size - 1 + ec_max_i32(plan->blur.size, plan->blur_wide.size);
    const int least = ec_max_i32(MIN_ROWS, ec_min_i32(SHARED_MAX * shared, height_px / (FRAME_SHARES * threads)));
    int count = 0;
    for (int end = 0; end < height_px; count++) {
        const int left = height_px - end, share = ec_max_i32(left / (SHARES * threads), least);
        const int rows = (share + EC_BAND_STEP - 1) / EC_BAND_STEP * EC_BAND_STEP;
        end = threads == 1 || left - rows < MIN_ROWS ? height_px : end + rows;
        if (ends)
            ends[count] = end;
    }
    return count;
}
