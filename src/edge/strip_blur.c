/* Gaussians of several rows of bytes at once, by rows->blur_pair: columns that stay in the first-level cache go through both
 * passes. */
#include <string.h>

#include "edge/arith.h"
#include "edge/group_taps.h"
#include "edge/strip.h"
#include "edge/strip_state.h"

#define BLOCK 64
#define COLUMNS 512
#define ROWS_MAX (EC_TALL_ROWS + 2)
#define PAIRS_MAX ((ROWS_MAX + EC_BLUR_PAIRS_MAX_SIZE) / 2 + 2)

/* What is to be computed: two rows of the output at once, their pairs of input, and those of them that are not there yet with
 * their rows. */
struct job {
    int twos, pair_count, fresh_count;
    uint8_t *out[ROWS_MAX / 2 + 1][2];
    const char *pairs[PAIRS_MAX];
    char *fresh[PAIRS_MAX];
    const uint8_t *rows[PAIRS_MAX][2];
};

static int pairs_of(const struct ec_strip *s)
{
    return (ROWS_MAX + s->plan->blur.size) / 2 + 2;
}

int ec_strip_blur_pair_rows(const struct ec_strip *s)
{
    const struct ec_blur_taps *taps = &s->plan->blur;
    const bool fits = s->rows->blur_pair && (s->tall || s->canny_tall) && s->plan->depth_bits == 8 && s->width >= 2 * BLOCK &&
                      taps->size > 1 && taps->size <= EC_BLUR_PAIRS_MAX_SIZE && taps->weights[taps->size / 2] < 128;
    return fits ? 2 * pairs_of(s) : 0;
}

bool ec_strip_open_blur_pairs(struct ec_strip *s)
{
    const int margin = s->plan->blur.size / 2 + EC_BLUR_SLACK, columns = (s->width / BLOCK + 2) * BLOCK;
    bool ok =
        ec_ring_open(&s->blur_sides, 2, 2 * BLOCK, 1, margin, margin) && ec_ring_open(&s->blur_spare, 1, s->width, 1, 0, 0);
    ec_blur_pair_taps_make(&s->blur_pair, &s->plan->blur);
    for (int c = 0; ok && c < s->plan->channels; c++)
        ok = ec_ring_open(&s->blur_pairs[c], pairs_of(s), columns, 2 * sizeof(int16_t), 0, 0);
    return ok;
}

/* Row y of the output, or of a run's first and last job none that is wanted. */
static uint8_t *output_row(struct ec_strip *s, int y, int first, int last)
{
    bool is_there;
    return y < first || y > last ? ec_strip_scratch(&s->blur_spare) : ec_ring_row(&s->blurred[s->channel], y, &is_there);
}

/* Pair p has rows s->blur_top + 2 * p and the next, outside the image those that the border rule says. Jobs after the first are
 * of as many rows as go together, so that they begin with a pair, if the first one ends with one. */
static void prepare(struct ec_strip *s, struct job *job, int first, int last)
{
    const int half = s->plan->blur.size / 2;
    bool is_there;
    if (!s->blur_begun)
        s->blur_top = first - half - (last + 1 - first) % 2;
    s->blur_begun = true;
    const int start = (first - half - s->blur_top) / 2, top = s->blur_top + 2 * start + half; /* row */
    job->twos = (last - top) / 2 + 1;
    job->pair_count = job->twos + half;
    job->fresh_count = 0;
    for (int i = 0; i < job->twos; i++)
        for (int j = 0; j < 2; j++)
            job->out[i][j] = output_row(s, top + 2 * i + j, first, last);
    for (int i = 0; i < job->pair_count; i++) {
        char *sums = ec_ring_row(&s->blur_pairs[s->channel], start + i, &is_there);
        job->pairs[i] = sums;
        if (is_there)
            continue;
        for (int j = 0; j < 2; j++) {
            const int y = ec_border_index(s->blur_top + 2 * (start + i) + j, s->height, s->plan->border);
            job->rows[job->fresh_count][j] = y < 0 ? ec_strip_scratch(&s->zeros) : ec_strip_input(s, y);
        }
        job->fresh[job->fresh_count++] = sums;
    }
}

/* Columns start to start + n - 1 of a row, and as many more as the Gaussian looks at, by the border rule. */
static const uint8_t *extend(struct ec_strip *s, int slot, const uint8_t *row, int start, int n)
{
    bool is_there;
    uint8_t *to = ec_ring_row(&s->blur_sides, slot, &is_there);
    const int margin = s->plan->blur.size / 2 + EC_BLUR_SLACK, left = ec_min_i32(margin, start);
    const int right = ec_min_i32(n + margin, s->width - start);
    memcpy(to - left, row + start - left, (size_t)left + (size_t)right);
    for (int x = -margin; x < n + margin; x++) {
        if (x >= -left && x < right)
            x = right;
        const int from = ec_border_index(start + x, s->width, s->plan->border);
        if (x < n + margin)
            to[x] = from < 0 ? 0 : row[from];
    }
    return to;
}

/* The next group's rows, should they follow in the image; asking for memory that is not there does no harm. */
static void prefetch(const struct ec_strip *s, const struct job *job, int start, int n)
{
    const uintptr_t ahead = (uintptr_t)(2 * job->fresh_count * s->in->pitch_bytes) + (uintptr_t)start;
    for (int i = 0; i < 2 * job->fresh_count; i++)
        for (int x = 0; x < n; x += 64)
            __builtin_prefetch((const void *)((uintptr_t)job->rows[i / 2][i % 2] + ahead + (uintptr_t)x), 0, 2);
}

static void run_columns(struct ec_strip *s, const struct job *job, int start, int n, bool is_side)
{
    const struct ec_blur_pair_taps *taps = &s->blur_pair;
    const ptrdiff_t at = start * (ptrdiff_t)(2 * sizeof(int16_t));
    for (int i = 0; i < job->fresh_count; i++) {
        const uint8_t *const *r = job->rows[i];
        const void *rows[2] = {is_side ? extend(s, 0, r[0], start, n) : r[0] + start,
                               is_side ? extend(s, 1, r[1], start, n) : r[1] + start};
        s->rows->blur_pair(job->fresh[i] + at, rows, n, taps);
    }
    for (int i = 0; i < job->twos; i++) {
        uint8_t *const out[2] = {job->out[i][0] + start, job->out[i][1] + start};
        const void *pairs[EC_BLUR_PAIRS_MAX_SIZE / 2 + 1];
        for (int k = 0; k <= taps->size / 2; k++)
            pairs[k] = job->pairs[i + k] + at;
        s->rows->blur_pairs(out, pairs, n, taps);
    }
}

void ec_strip_blur(struct ec_strip *s, int first, int last)
{
    const int half = s->plan->blur.size / 2, width = s->width;
    const int inner = (width - half - EC_BLUR_SLACK) / BLOCK * BLOCK; /* from here on neighbours may be outside */
    while (first <= last && s->blurred[s->channel].held[first % s->blurred[s->channel].slots] == first)
        first++;
    if (first > last)
        return;
    struct job job;
    prepare(s, &job, first, last);
    run_columns(s, &job, 0, BLOCK, true);
    for (int x = BLOCK, n; x < inner; x += n) {
        n = ec_min_i32(COLUMNS, inner - x);
        prefetch(s, &job, x, n);
        run_columns(s, &job, x, n, false);
    }
    run_columns(s, &job, inner, width - inner, true);
}
