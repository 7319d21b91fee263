/* Canny up to its bitmaps: gradients, magnitudes, maxima, row by row. */
#include <math.h>
#include <string.h>

#include "edge/canny_arith.h"
#include "edge/stable_arith.h"
#include "edge/strip.h"
#include "edge/strip_state.h"

/* Columns whose gradients stay in the first-level cache until their magnitudes are taken; a multiple of 64. */
#define BLOCK 512

/* Elements before the first and after the last become copies of them. */
static void replicate_left(char *row, int margin, size_t bytes)
{
    for (int i = 1; i <= margin; i++)
        memcpy(row - (size_t)i * bytes, row, bytes);
}

static void replicate_right(char *end, int margin, size_t bytes)
{
    for (int i = 0; i < margin; i++)
        memcpy(end + (size_t)i * bytes, end - bytes, bytes);
}

/* What a magnitude has to be above to count, raised or not. */
static int64_t lowest_threshold(const struct ec_strip *s)
{
    return s->raised ? ec_stable_lowered(s->low, s->plan->stable_boost) : s->low;
}

/* No magnitude is above `low` where no sum of |gx| and |gy| is above this, and then what they are does not matter. */
static int active_limit(int64_t low, enum ec_norm norm)
{
    const int64_t limit = norm == EC_NORM_L1 ? low : (int64_t)sqrt((double)low) - 1;
    return limit > INT16_MAX ? INT16_MAX : limit < 0 ? 0 : (int)limit;
}

static bool takes_active_only(const struct ec_strip *s)
{
    return s->rows->canny_gradient_active && s->plan->depth_bits == 8 && s->plan->gradient.size == 3 && s->plan->channels == 1;
}

/* Columns from x on that are measured together: where only active ones are, those at the sides stand alone. */
static int block_columns(const struct ec_strip *s, int x)
{
    const int rest = s->width - x, inner = (rest - 1) / 64 * 64;
    if (!takes_active_only(s))
        return ec_min_i32(BLOCK, rest);
    return x == 0 || inner == 0 ? ec_min_i32(64, rest) : ec_min_i32(BLOCK, inner);
}

/* The window's columns start to start + n - 1, and the margin that the gradient looks at. */
static void gradient_block(struct ec_strip *s, char *smooth, char *derive, const struct ec_canny_gradients *gradients,
                           int start, int n)
{
    const int margin = s->plan->window_before, left = start > 0 ? margin : 0, right = ec_min_i32(margin, s->width - start - n);
    const size_t bytes = s->canny->gradient_bytes;
    const void *rows[7];
    for (int j = 0; j < s->plan->window_size; j++)
        rows[j] = (const char *)s->windows[s->channel][j] + (start - left) * (ptrdiff_t)s->kind->pixel_bytes;
    if (takes_active_only(s) && start > 0 && start + n < s->width) {
        for (int j = 0; j < s->plan->window_size; j++)
            rows[j] = (const char *)rows[j] + left;
        s->rows->canny_gradient_active(gradients, rows, n, active_limit(lowest_threshold(s), s->plan->norm));
        return;
    }
    const size_t offset = (size_t)left * bytes, end = (size_t)(n + right) * bytes;
    s->kind->gradient_down(smooth - offset, derive - offset, rows, left + n + right, s->plan);
    replicate_left(smooth - offset, margin - left, bytes);
    replicate_left(derive - offset, margin - left, bytes);
    replicate_right(smooth + end, margin - right, bytes);
    replicate_right(derive + end, margin - right, bytes);
    s->kind->canny_gradient(gradients, smooth, derive, n, s->plan);
}

/* Rows that the processor's own prefetching does not reach in time, as it stops at each page. */
#define PREFETCH_ROWS 4

static void prefetch(const struct ec_strip *s, int y, int start, int n)
{
    const char *plane = (const char *)s->in->data + s->channel * s->in->plane_bytes;
    const char *row = plane + ec_min_i32(y, s->height - 1) * s->in->pitch_bytes;
    const char *first = row + start * (ptrdiff_t)s->kind->pixel_bytes;
    for (ptrdiff_t i = 0; i < n * (ptrdiff_t)s->kind->pixel_bytes; i += 64)
        __builtin_prefetch(first + i);
}

/* A block's gradients, in each pixel those of the channel that has the largest. */
static void measure_channels(struct ec_strip *s, const struct ec_canny_gradients *gradients, int channels, int y, int start,
                             int n)
{
    char *smooth = ec_strip_scratch(&s->smooth), *derive = ec_strip_scratch(&s->derive);
    s->channel = 0;
    prefetch(s, y + PREFETCH_ROWS, start, n);
    gradient_block(s, smooth, derive, gradients, start, n);
    for (s->channel = 1; s->channel < channels; s->channel++) {
        const struct ec_canny_gradients others = {ec_strip_scratch(&s->other_gx), ec_strip_scratch(&s->other_gy),
                                                  ec_strip_scratch(&s->other_sums)};
        prefetch(s, y + PREFETCH_ROWS, start, n);
        gradient_block(s, smooth, derive, &others, start, n);
        s->canny->take_larger(gradients, &others, n, lowest_threshold(s));
    }
}

struct ec_canny_row ec_strip_measure(struct ec_strip *s, int y)
{
    bool fresh;
    if (y < 0 || y >= s->height)
        return (struct ec_canny_row){.magnitudes = ec_strip_scratch(&s->zeros)};
    const struct ec_canny_row row = {ec_ring_row(&s->magnitudes, y, &fresh), ec_ring_row(&s->directions, y, &fresh),
                                     ec_ring_row(&s->active, y, &fresh)};
    struct ec_canny_gradients gradients = {ec_strip_scratch(&s->gx), ec_strip_scratch(&s->gy), ec_strip_scratch(&s->sums)};
    const struct ec_canny_raise raise = {
        .bits = s->raised ? s->raised->kept + y * s->raised->stride : NULL,
        .boost = s->plan->stable_boost,
        .lowered = ec_stable_lowered(s->low, s->plan->stable_boost),
    };
    const struct ec_canny_raise *raises = s->raised ? &raise : NULL;
    const int channels = s->in->plane_bytes ? s->plan->channels : 1;
    for (s->channel = 0; s->channel < channels; s->channel++)
        ec_strip_gather(s, y, EC_BORDER_REPLICATE);
    for (int x = 0, columns; x < s->width; x += columns) {
        columns = block_columns(s, x);
        if (s->plan->norm == EC_NORM_L1)
            gradients.sums = (char *)row.magnitudes + (size_t)x * s->canny->magnitude_bytes;
        measure_channels(s, &gradients, channels, y, x, columns);
        s->canny->measure(&row, x, &gradients, columns, s->low, raises);
    }
    return row;
}

void ec_strip_run_canny(struct ec_strip *strip, const struct ec_image *in, bool limited_range,
                        const struct ec_canny_thresholds *thresholds, struct ec_edge_map *map, int first, int end)
{
    ec_strip_begin(strip, in, limited_range);
    strip->raised = map->kept ? map : NULL;
    strip->low = thresholds->low;
    struct ec_canny_row rows[3] = {ec_strip_measure(strip, first - 1), ec_strip_measure(strip, first)};
    for (int y = first; y < end; y++) {
        rows[2] = ec_strip_measure(strip, y + 1);
        strip->canny->maxima(map->candidates + y * map->stride, map->edges + y * map->stride, rows, strip->width,
                             thresholds->low, thresholds->high);
        rows[0] = rows[1];
        rows[1] = rows[2];
    }
}
