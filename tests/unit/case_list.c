/* The list of cases: settings (operator, norm, border, depth, ...) times sizes, with contents, offsets and paddings taking
 * turns so that each setting meets several of each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

#define WEIGHT_COUNT (EC_KERNEL_MAX_SIZE * EC_KERNEL_MAX_SIZE)

enum kernel_kind {
    KERNEL_SMALL, /* -2 to 2, sparse */
    KERNEL_MEDIUM, /* -90 to 90 */
    KERNEL_CANCELLING, /* opposite weights around 1, so that the last bit of a large sum is seen */
    KERNEL_HUGE, /* up to +-2^24, so that sums need 64 bits */
    KERNEL_SEPARABLE, /* a binomial-like column times a row with both signs */
    KERNEL_ZERO,
    KERNEL_FLOAT,
    KERNEL_FLOAT_WIDE, /* magnitudes from 2^-20 to 2^20 */
    KERNEL_PRODUCT, /* a column times a row, but for rounding */
    KERNEL_TIES, /* half of a mean, or nearly, so that flat odd pixels become halves, more or less */
    KERNEL_KINDS
};

static const int kernel_sizes[] = {1, 3, 5, 7, 9, 15, 17, 19, 31};

enum { SIZE_KINDS = sizeof kernel_sizes / sizeof *kernel_sizes };

struct ec_case_kernels {
    float weights[KERNEL_KINDS][SIZE_KINDS][WEIGHT_COUNT];
};

static uint32_t scramble(uint32_t v)
{
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ (v >> 16);
}

static float weight_of(enum kernel_kind kind, int size, int j, int i)
{
    const uint32_t r = scramble((uint32_t)(((int)kind * 64 + size) * 4096 + j * 64 + i));
    switch (kind) {
    case KERNEL_SMALL:
        return r & 1 ? (float)((int)((r >> 8) % 5) - 2) : 0;
    case KERNEL_MEDIUM:
        return (float)((int)(r % 181) - 90);
    case KERNEL_CANCELLING: {
        const int place = j * size + i, mirrored = size * size - 1 - place;
        if (place == mirrored)
            return 1;
        const int first = place < mirrored ? place : mirrored;
        const float weight = (float)(scramble((uint32_t)first + 99) % 262144);
        return place == first ? weight : -weight;
    }
    case KERNEL_HUGE:
        return (float)((int)(r % 33554433) - 16777216);
    case KERNEL_SEPARABLE: {
        const int middle = size / 2, up = abs(j - middle), along = i - middle;
        return (float)((middle + 1 - up) * (along == 0 ? 2 : along < 0 ? -1 - along % 3 : 1));
    }
    case KERNEL_FLOAT:
        return ((float)(r >> 8) / 16777216.0f - 0.4f) / (float)size;
    case KERNEL_FLOAT_WIDE:
        return ((float)(r >> 16) - 32768.0f) * (1.0f / 1099511627776.0f) * (float)(1u << (r & 31));
    case KERNEL_PRODUCT:
        return (float)(scramble((uint32_t)j) % 1000) * ((float)(scramble((uint32_t)i + 50) % 1000) - 400.0f) * 1e-5f /
               (float)(size * size);
    case KERNEL_TIES: {
        const bool is_mean = size % 4 == 3;
        return (is_mean || j + i > 1 || j == 1 ? 0.5f : i == 0 ? 1.0f : 0.0f) / (float)(size * size);
    }
    default:
        return 0;
    }
}

static struct ec_case_kernels *make_kernels(void)
{
    struct ec_case_kernels *kernels = calloc(1, sizeof *kernels);
    for (int kind = 0; kernels && kind < KERNEL_KINDS; kind++)
        for (int s = 0; s < SIZE_KINDS; s++)
            for (int k = 0; k < kernel_sizes[s] * kernel_sizes[s]; k++)
                kernels->weights[kind][s][k] = weight_of(kind, kernel_sizes[s], k / kernel_sizes[s], k % kernel_sizes[s]);
    return kernels;
}

struct builder {
    struct ec_case_list *list;
    size_t room, thin, seen;
    unsigned turn;
    bool ok;
};

static void add_case(struct builder *b, struct ec_case test)
{
    if (b->seen++ % b->thin != 0 || !b->ok)
        return;
    if (b->list->count == b->room) {
        b->room = b->room ? 2 * b->room : 1024;
        struct ec_case *cases = realloc(b->list->cases, b->room * sizeof *cases);
        if (!cases) {
            b->ok = false;
            return;
        }
        b->list->cases = cases;
    }
    b->list->cases[b->list->count++] = test;
}

static const struct {
    int width, height;
} tiny_sizes[] = {{1, 1}, {1, 7}, {7, 1}, {2, 2}, {3, 3}, {5, 5}, {17, 9}};

/* Around the widths of vectors and of the blocks that row functions work in. */
static const int odd_widths[] = {15, 16, 18, 31, 32, 34, 63, 65, 67, 95, 127, 129, 130, 255, 257, 511, 512, 513, 519, 1025};

/* One setting at every tiny size, at 64x48, at a tall size and at one of the odd widths. */
static void add_setting(struct builder *b, const struct ec_edge_params *params, int depth_bits, bool limited_range)
{
    const char *const names[EC_CONTENT_COUNT] = {"noise", "zero", "max", "ramp", "impulse", "extremes", "too-large"};
    enum { TINY = sizeof tiny_sizes / sizeof *tiny_sizes, WIDTHS = sizeof odd_widths / sizeof *odd_widths };
    const bool heavy = params->op == EC_OPERATOR_CONVOLUTION ? params->kernel.size > 9 : params->blur_sigma > 4;
    for (int s = 0; s < TINY + 3; s++) {
        const unsigned turn = b->turn++;
        struct ec_case test = {
            .params = *params, .depth_bits = depth_bits, .limited_range = limited_range, .seed = turn * 77 + 1};
        test.content = s < TINY && turn % 2 ? EC_CONTENT_NOISE : (enum ec_content)(turn % EC_CONTENT_COUNT);
        if (s < TINY) {
            test.width_px = tiny_sizes[s].width;
            test.height_px = tiny_sizes[s].height;
        } else if (s == TINY) {
            test.width_px = heavy ? 33 : 64;
            test.height_px = heavy ? 24 : 48;
        } else if (s == TINY + 1) {
            test.width_px = 5;
            test.height_px = heavy ? 41 : 131;
        } else {
            test.width_px = odd_widths[turn / 10 % WIDTHS];
            /* Canny and Gaussians go through rows in groups. */
            test.height_px = params->op == EC_OPERATOR_CANNY || (params->blur_sigma > 0 && !heavy) ? 19 : heavy ? 2 : 5;
        }
        test.in_offset_px = (int)(turn / 3 % 4);
        test.out_offset_px = (int)(turn / 5 % 3);
        test.in_padding_px = (int)(turn % 3) * 7;
        test.out_padding_px = (int)(turn / 2 % 3) * 5;
        test.gray = params->channels == EC_CHANNELS_RGB && turn % 7 == 0;
        const struct ec_edge_params *p = params;
        snprintf(test.name, sizeof test.name,
                 "%s%s auto %d norm %d border %d aperture %d kernel %d/%d blur %g scale %g delta %g threshold %g %g %g abs %d "
                 "depth %d to "
                 "%d%s, %dx%d %s",
                 ec_operator_name(p->op), p->channels ? test.gray ? " rgb of gray" : " rgb" : "", (int)p->automatic,
                 (int)p->norm, (int)p->border, p->aperture, p->kernel.size, p->kernel.divisor, p->blur_sigma, p->scale,
                 p->delta, p->threshold, p->low, p->high, p->absolute, depth_bits,
                 p->output_depth_bits ? p->output_depth_bits : depth_bits, limited_range ? " limited" : "", test.width_px,
                 test.height_px, names[test.content]);
        add_case(b, test);
    }
}

static const int depths[] = {8, 9, 10, 11, 12, 16};

enum { DEPTHS = sizeof depths / sizeof *depths };

static void add_operators(struct builder *b)
{
    for (int op = 0; op < EC_OPERATOR_CONVOLUTION; op++) {
        const bool gradient = op <= EC_OPERATOR_ROBERTS;
        for (int norm = 0; norm <= (gradient ? EC_NORM_L1 : 0); norm++)
            for (int aperture = 3; aperture <= (op == EC_OPERATOR_SOBEL ? 7 : 3); aperture += 2)
                for (int border = 0; border <= EC_BORDER_CONSTANT; border++)
                    for (int d = 0; d < DEPTHS; d++) {
                        const struct ec_edge_params params = {.op = (enum ec_operator)op,
                                                              .norm = (enum ec_norm)norm,
                                                              .border = (enum ec_border)border,
                                                              .aperture = aperture};
                        add_setting(b, &params, depths[d], (border + d + op) % 3 == 0);
                    }
    }
}

/* Every way to finish, for one operator of each family. */
static void add_finishes(struct builder *b, const struct ec_case_kernels *kernels)
{
    static const struct {
        double scale, delta, threshold;
    } finishes[] = {{0, 0, 60},   {0, 0, 1500},   {0, 0, 0.3},     {0.25, 0, 0},  {3.5, -20, 0}, {-0.5, 200, 0},
                    {1e-4, 0, 0}, {0.1, 0, 12.5}, {-1, 255, 45.5}, {65536, 0, 0}, {1, 0.5, 0},   {0.01, 3, 1}};
    static const enum ec_operator ops[] = {EC_OPERATOR_SOBEL,    EC_OPERATOR_SCHARR, EC_OPERATOR_ROBERTS,    EC_OPERATOR_KIRSCH,
                                           EC_OPERATOR_ROBINSON, EC_OPERATOR_DOG,    EC_OPERATOR_CONVOLUTION};
    for (size_t f = 0; f < sizeof finishes / sizeof *finishes; f++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (int d = 0; d < DEPTHS; d++) {
                const unsigned turn = (unsigned)(f + o + (unsigned)d);
                struct ec_edge_params params = {.op = ops[o],
                                                .norm = turn % 3 == 0 ? EC_NORM_L1 : EC_NORM_L2,
                                                .aperture = ops[o] == EC_OPERATOR_SOBEL && f % 4 == 3 ? 7 : 0,
                                                .scale = finishes[f].scale,
                                                .delta = finishes[f].delta * (1 << (depths[d] - 8)),
                                                .threshold = finishes[f].threshold,
                                                .absolute = turn % 2,
                                                .output_depth_bits = turn % 4 < 2 ? 8 : 0};
                if (params.op == EC_OPERATOR_CONVOLUTION) {
                    const enum kernel_kind kind = f % 2 == 0             ? KERNEL_MEDIUM
                                                  : f % 4 == 3 && d == 0 ? KERNEL_PRODUCT
                                                                         : KERNEL_FLOAT;
                    const size_t size = kind == KERNEL_PRODUCT ? 5 : kind == KERNEL_FLOAT ? 1 + f / 2 % 3 : 1;
                    params.kernel = (struct ec_kernel){kernel_sizes[size], kernels->weights[kind][size], 0};
                }
                add_setting(b, &params, depths[d], turn % 5 == 0);
            }
    /* Deeper input to 8-bit output with nothing else to do. */
    for (int op = 0; op < EC_OPERATOR_CONVOLUTION; op++)
        for (int d = 1; d < DEPTHS; d++) {
            const struct ec_edge_params params = {.op = (enum ec_operator)op, .output_depth_bits = 8};
            add_setting(b, &params, depths[d], false);
        }
}

static void add_blurs(struct builder *b)
{
    static const double sigmas[] = {0.01, 0.4, 1.4, 2.6, 7.3, 32};
    static const enum ec_operator ops[] = {EC_OPERATOR_SOBEL, EC_OPERATOR_KIRSCH, EC_OPERATOR_LOG, EC_OPERATOR_DOG};
    for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (int border = 0; border <= EC_BORDER_CONSTANT; border++)
                for (int d = 0; d<DEPTHS; d += sigmas[s]> 7 ? 5 : 1) {
                    const struct ec_edge_params params = {
                        .op = ops[o], .border = (enum ec_border)border, .blur_sigma = sigmas[s]};
                    add_setting(b, &params, depths[d], (border + d) % 2);
                }
}

static void add_kernels(struct builder *b, const struct ec_case_kernels *kernels)
{
    static const int divisors[] = {0, 2, 7, 16, 1000};
    for (int kind = 0; kind < KERNEL_KINDS; kind++)
        for (int s = 0; s < SIZE_KINDS; s++)
            for (int border = 0; border <= EC_BORDER_CONSTANT; border++)
                for (int d = 0; d<DEPTHS; d += kernel_sizes[s]> 9 ? 5 : 1) {
                    const unsigned turn = b->turn / 10;
                    /* Of those that matter to large kernels one border each is enough. */
                    if (kind >= KERNEL_PRODUCT && (kernel_sizes[s] < 5 || border != kernel_sizes[s] / 2 % 3))
                        continue;
                    struct ec_edge_params params = {.op = EC_OPERATOR_CONVOLUTION,
                                                    .border = (enum ec_border)border,
                                                    .absolute = turn % 2,
                                                    .kernel = {kernel_sizes[s], kernels->weights[kind][s], 0}};
                    if (kind < KERNEL_FLOAT && kernel_sizes[s] > 1)
                        params.kernel.divisor = divisors[turn % (sizeof divisors / sizeof *divisors)];
                    if (turn % 7 == 0)
                        params.blur_sigma = 0.8;
                    add_setting(b, &params, depths[d], turn % 4 == 0);
                }
}

/* Thresholds that nearly nothing, something and nearly everything passes, each in turn weak and strong. */
static void add_canny(struct builder *b)
{
    static const double thresholds[][2] = {{100, 200}, {0, 0}, {3.5, 900.25}, {40, 41}, {700, 20}, {0, 1e6}};
    static const double sigmas[] = {0, 1.4, 0, 5};
    for (int norm = 0; norm <= EC_NORM_L1; norm++)
        for (int aperture = 3; aperture <= 7; aperture += 2)
            for (size_t t = 0; t < sizeof thresholds / sizeof *thresholds; t++)
                for (int d = 0; d < DEPTHS; d++) {
                    const unsigned turn = b->turn / 10;
                    const double factor = aperture == 3 ? 1 : aperture == 5 ? 12 : 160;
                    struct ec_edge_params params = {.op = EC_OPERATOR_CANNY,
                                                    .norm = (enum ec_norm)norm,
                                                    .border = (enum ec_border)(turn % 3),
                                                    .aperture = aperture,
                                                    .blur_sigma = sigmas[turn % 4],
                                                    .low = fmin(thresholds[t][0] * factor, 1e6),
                                                    .high = fmin(thresholds[t][1] * factor, 1e6),
                                                    .has_low = true,
                                                    .has_high = true,
                                                    .output_depth_bits = turn % 5 == 0 ? 8 : 0};
                    add_setting(b, &params, depths[d], turn % 4 == 1);
                    params.channels = EC_CHANNELS_RGB;
                    add_setting(b, &params, depths[d], turn % 4 == 1);
                    /* Without a look back, as the definition is. */
                    params.channels = (enum ec_channels)(turn / 2 % 2);
                    params.has_low = params.has_high = false;
                    params.automatic = (enum ec_auto)(EC_AUTO_MEDIAN + t % 3);
                    params.has_auto_time = true;
                    add_setting(b, &params, depths[d], turn % 4 == 1);
                }
}

bool ec_case_list_open(struct ec_case_list *list, size_t thin)
{
    *list = (struct ec_case_list){.kernels = make_kernels()};
    struct builder b = {.list = list, .thin = thin, .ok = list->kernels};
    if (b.ok) {
        add_operators(&b);
        add_finishes(&b, list->kernels);
        add_blurs(&b);
        add_kernels(&b, list->kernels);
        add_canny(&b);
    }
    if (!b.ok)
        ec_case_list_close(list);
    return b.ok;
}

void ec_case_list_close(struct ec_case_list *list)
{
    free(list->cases);
    free(list->kernels);
    *list = (struct ec_case_list){0};
}
