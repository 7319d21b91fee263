/* Every 2x2 and 3x3 operator at any depth: strips of 8 columns in single precision, where all of these integers are exact (the
 * largest, 15 * 65535 of Kirsch and 16 * 65535 of Scharr, are below 2^24) and twice as many operations run as on integers. */
#include "pair.cuh"
#include "strip.cuh"

namespace
{

using namespace ec;

constexpr int COLUMNS = 8;

/* Fewer rows where pixels come one by one: that is slow anyway, and the code stays small. */
template <bool WHOLE>
constexpr int STRIP_ROWS = WHOLE ? 8 : 2;

/* Up to here squares are exact and one comparison settles a root. */
constexpr int32_t ROOT_LIMIT = 4095;

enum class Operator { GRADIENT, ROBERTS, KIRSCH, ROBINSON, LAPLACIAN };
enum class Magnitude { L1, L2, L2_LARGE /* beyond ROOT_LIMIT */ };

/* Columns x - 1 to x + COLUMNS of one row. */
struct Row {
    float v[COLUMNS + 2];
};

template <class Pixel, int WORDS>
EC_DEVICE void unpack_row(Row *row, const ec_gpu_source &in, const uint32_t *words, uint32_t left_word, uint32_t right_word)
{
    constexpr int PER_WORD = 4 / sizeof(Pixel);
    row->v[0] = pixel_float<Pixel>(left_word, PER_WORD - 1);
    row->v[COLUMNS + 1] = pixel_float<Pixel>(right_word, 0);
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        row->v[i + 1] = pixel_float<Pixel>(words[i / PER_WORD], i % PER_WORD);
    if (in.expand) {
#pragma unroll
        for (int i = 0; i < COLUMNS + 2; i++)
            row->v[i] = (float)ec_luma_expand((int32_t)row->v[i], &in.luma);
    } else if (sizeof(Pixel) > 1) {
#pragma unroll
        for (int i = 0; i < COLUMNS + 2; i++)
            row->v[i] = fminf(row->v[i], (float)in.max);
    }
}

/* round(sqrt(gx^2 + gy^2)), at most `cap`. Squares from 2^24 on are rounded, but those are beyond the cap's. The estimate is
 * off by less than 2^-9, so its nearest integer r by at most one, which the exact r*r - r and r*r + r tell. */
EC_DEVICE float root(float gx, float gy, float cap, float cap_square)
{
    const float square = fminf(fmaf(gx, gx, gy * gy), cap_square);
    float r = (root_estimate(square) + INTEGER_BIAS) - INTEGER_BIAS;
    if (fmaf(r, r, -r) >= square)
        r = fmaxf(r - 1.0f, 0.0f);
    else if (fmaf(r, r, r) < square)
        r += 1.0f;
    return fminf(r, cap);
}

struct Limits {
    float cap, cap_square;
    int32_t saturation;
};

template <Magnitude MAGNITUDE>
EC_DEVICE float magnitude(float gx, float gy, const Limits &limits)
{
    if (MAGNITUDE == Magnitude::L1)
        return fminf(fabsf(gx) + fabsf(gy), limits.cap);
    if (MAGNITUDE == Magnitude::L2)
        return root(gx, gy, limits.cap, limits.cap_square);
    return fminf((float)magnitude_l2((int32_t)gx, (int32_t)gy, limits.saturation), limits.cap);
}

/* Smoothing taps of a gradient, (outer, inner, outer). */
struct Taps {
    float outer, inner;
};

EC_DEVICE float smooth(float a, float b, float c, const Taps &taps)
{
    return fmaf(taps.inner, b, taps.outer * (a + c));
}

/* Kirsch's masks weigh three neighbours in a row with 5 and the others with -3: 8 * (most of three) - 3 * (all). */
EC_DEVICE float kirsch(const float *u, const float *c, const float *d)
{
    const float ring[8] = {u[0], u[1], u[2], c[2], d[2], d[1], d[0], c[0]};
    float all = 0, best = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        all += ring[k];
        best = fmaxf(best, ring[k] + ring[(k + 1) & 7] + ring[(k + 2) & 7]);
    }
    return fmaf(8.0f, best, -3.0f * all);
}

/* Robinson's opposite masks differ in sign only. */
EC_DEVICE float robinson(const float *u, const float *c, const float *d)
{
    const float ring[8] = {u[0], u[1], u[2], c[2], d[2], d[1], d[0], c[0]};
    float best = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float near_side = fmaf(2.0f, ring[k + 1], ring[k] + ring[k + 2]);
        const float far_side = fmaf(2.0f, ring[(k + 5) & 7], ring[k + 4] + ring[(k + 6) & 7]);
        best = fmaxf(best, fabsf(near_side - far_side));
    }
    return best;
}

/* The response at column i of three neighbouring rows, at most the cap. Terms of one row are spelled the same in every role, so
 * that the compiler computes them once. */
template <Operator OP, Magnitude MAGNITUDE>
EC_DEVICE float respond(const Row &up, const Row &centre, const Row &down, int i, const Taps &taps, const Limits &limits)
{
    const float *u = up.v + i, *c = centre.v + i, *d = down.v + i;
    if (OP == Operator::GRADIENT) {
        const float gx = smooth(u[2] - u[0], c[2] - c[0], d[2] - d[0], taps);
        return magnitude<MAGNITUDE>(gx, smooth(d[0], d[1], d[2], taps) - smooth(u[0], u[1], u[2], taps), limits);
    }
    if (OP == Operator::ROBERTS)
        return magnitude<MAGNITUDE>(c[1] - d[2], c[2] - d[1], limits);
    if (OP == Operator::LAPLACIAN)
        return fminf(fabsf(fmaf(-4.0f, c[1], (u[1] + d[1]) + (c[0] + c[2]))), limits.cap);
    return fminf(OP == Operator::KIRSCH ? kirsch(u, c, d) : robinson(u, c, d), limits.cap);
}

/* A response to the pixel in its low bits. */
EC_DEVICE uint32_t finish(float m, const struct ec_finish &f)
{
    if (!f.identity || f.narrow_shift)
        return ec_finish_float(m, &f);
    if (f.has_threshold)
        return m >= (float)f.threshold ? (uint32_t)f.max : 0;
    return float_bits(m + INTEGER_BIAS);
}

/* The low bits of COLUMNS values, side by side. */
EC_DEVICE void pack_bytes(uint32_t *words, const uint32_t *v)
{
#pragma unroll
    for (int i = 0; i < COLUMNS / 4; i++)
        words[i] = permute(permute(v[4 * i], v[4 * i + 1], 0x0040), permute(v[4 * i + 2], v[4 * i + 3], 0x0040), 0x5410);
}

EC_DEVICE void pack_halves(uint32_t *words, const uint32_t *v)
{
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i++)
        words[i] = permute(v[2 * i], v[2 * i + 1], 0x5410);
}

template <class Pixel, Operator OP, Magnitude MAGNITUDE, bool WHOLE>
__global__ void STRIP_LAUNCH_BOUNDS neighbours_kernel(const __grid_constant__ ec_gpu_source in,
                                                      const __grid_constant__ ec_gpu_target out,
                                                      const __grid_constant__ StripGrid grid, const Taps taps)
{
    constexpr int WORDS = COLUMNS * sizeof(Pixel) / 4, ROWS = STRIP_ROWS<WHOLE>;
    Strip<Pixel, WORDS, ROWS, WHOLE> strip;
    strip.load(in, grid);
    const Limits limits = {(float)out.saturation, (float)out.saturation * (float)out.saturation, out.saturation};
    Row rows[3];
#pragma unroll
    for (int j = 0; j < ROWS + 2; j++) {
        uint32_t left, right;
        strip.neighbours(j, &left, &right);
        unpack_row<Pixel, WORDS>(&rows[j % 3], in, strip.words[j], left, right);
        if (j < 2)
            continue;
        uint32_t v[COLUMNS], words[COLUMNS / 2];
#pragma unroll
        for (int i = 0; i < COLUMNS; i++)
            v[i] =
                finish(respond<OP, MAGNITUDE>(rows[(j - 2) % 3], rows[(j - 1) % 3], rows[j % 3], i, taps, limits), out.finish);
        const int32_t y = strip.y + j - 2;
        if (!strip.has_row(in, j - 2))
            continue;
        if (sizeof(Pixel) > 1 && out.wide) {
            pack_halves(words, v);
            store_strip<uint16_t, COLUMNS / 2, WHOLE>(out, in.width_px, strip.x, y, words);
        } else {
            pack_bytes(words, v);
            store_strip<uint8_t, COLUMNS / 4, WHOLE>(out, in.width_px, strip.x, y, words);
        }
    }
}

using Kernel = void (*)(ec_gpu_source, ec_gpu_target, StripGrid, Taps);

template <class Pixel, Operator OP, bool WHOLE>
Kernel choose_magnitude(const ec_plan *plan)
{
    if (plan->norm == EC_NORM_L1)
        return neighbours_kernel<Pixel, OP, Magnitude::L1, WHOLE>;
    return plan->saturation <= ROOT_LIMIT ? neighbours_kernel<Pixel, OP, Magnitude::L2, WHOLE>
                                          : neighbours_kernel<Pixel, OP, Magnitude::L2_LARGE, WHOLE>;
}

template <class Pixel, bool WHOLE>
Kernel choose_operator(const ec_plan *plan)
{
    switch (plan->op) {
    case EC_OPERATOR_ROBERTS:
        return choose_magnitude<Pixel, Operator::ROBERTS, WHOLE>(plan);
    case EC_OPERATOR_KIRSCH:
        return neighbours_kernel<Pixel, Operator::KIRSCH, Magnitude::L1, WHOLE>;
    case EC_OPERATOR_ROBINSON:
        return neighbours_kernel<Pixel, Operator::ROBINSON, Magnitude::L1, WHOLE>;
    case EC_OPERATOR_LAPLACIAN:
    case EC_OPERATOR_LOG:
        return neighbours_kernel<Pixel, Operator::LAPLACIAN, Magnitude::L1, WHOLE>;
    default:
        return choose_magnitude<Pixel, Operator::GRADIENT, WHOLE>(plan);
    }
}

template <class Pixel>
Kernel choose(const ec_plan *plan, bool whole)
{
    return whole ? choose_operator<Pixel, true>(plan) : choose_operator<Pixel, false>(plan);
}

} // namespace

enum ec_status ec_neighbours(const ec_gpu_queue *queue, const ec_gpu_source *in, const ec_gpu_target *out)
{
    const ec_plan *plan = queue->plan;
    const bool whole = strips_are_whole(*in, *out, COLUMNS);
    const StripGrid grid = make_strip_grid(*in, COLUMNS, whole ? STRIP_ROWS<true> : STRIP_ROWS<false>);
    const int block = ec_tuned_block_threads(plan);
    const Taps taps = {(float)plan->gradient.smooth[0], (float)plan->gradient.smooth[1]};
    return launch(queue, "neighbours_kernel",
                  plan->depth_bits == 8 ? choose<uint8_t>(plan, whole) : choose<uint16_t>(plan, whole),
                  strip_blocks(grid, block), dim3(block), *in, *out, grid, taps);
}
