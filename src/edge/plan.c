#include "edge/plan.h"

#include <math.h>
#include <string.h>

#include "edge/arith.h"
#include "edge/blur_taps.h"
#include "edge/convolution_taps.h"
#include "edge/error.h"
#include "edge/fraction.h"
#include "edge/stable_arith.h"

#define DEFAULT_SIGMA 1.4
#define DOG_RATIO 1.6
#define SCALE_MAX 65536.0
#define CANNY_LOW 100.0
#define CANNY_HIGH 200.0
#define AUTO_TIME_S 0.5
#define AUTO_TIME_MAX_S 1e6
#define CANNY_MAX 1048576.0 /* above every magnitude, aperture 7 too */

/* round(above * top / span), top = 2^d - 1, span = 219 * 2^(d-8), as a multiplication and a shift, exact for every input.
 *
 * Reduce the fraction to p/q. above*p/q + 1/2 has denominator 2q, so where it is not an integer it lies at least 1/(2q) below
 * the next one. Rounding the multiplier up adds less than above/2^shift, and from above = span on the result is clamped, so
 * 2^shift >= 2q * span keeps the sum below that integer. An even q (every depth but 8) makes the half a multiple of 1/q too,
 * so that q * span is enough. */
static struct ec_luma_map make_luma_map(int depth_bits)
{
    const int extra = depth_bits - 8;
    const int32_t top = (1 << depth_bits) - 1, span = 219 << extra;
    const int32_t common = ec_common_divisor(top, span);
    const uint64_t p = (uint64_t)(top / common), q = (uint64_t)(span / common);
    const uint64_t grid = q % 2 == 0 ? q : 2 * q;

    struct ec_luma_map map = {.offset = 16 << extra, .max = top, .shift = 1};
    while ((1ull << map.shift) < grid * (uint64_t)span)
        map.shift++;
    map.multiplier = (uint32_t)(((p << map.shift) + q - 1) / q);
    map.half = 1ull << (map.shift - 1);
    return map;
}

static const struct ec_gradient_taps sobel3 = {3, {1, 2, 1}, {-1, 0, 1}};
static const struct ec_gradient_taps sobel5 = {5, {1, 4, 6, 4, 1}, {-1, -2, 0, 2, 1}};
static const struct ec_gradient_taps sobel7 = {7, {1, 6, 15, 20, 15, 6, 1}, {-1, -4, -5, 0, 5, 4, 1}};
static const struct ec_gradient_taps scharr = {3, {3, 10, 3}, {-1, 0, 1}};
static const struct ec_gradient_taps prewitt = {3, {1, 1, 1}, {-1, 0, 1}};

/* Smallest m >= 0 from which on every larger response finishes the same. The float steps of ec_scale_round are monotonic in m,
 * so it can be searched by halves; 2^30 is above every response but a convolution's. */
static int32_t make_saturation(const struct ec_finish *finish)
{
    const int32_t top = finish->has_threshold ? finish->threshold : finish->max;
    if (finish->identity)
        return top;
    const bool falling = finish->scale < 0;
    const int32_t bottom = finish->has_threshold ? finish->threshold - 1 : 0;
    int32_t low = 0, high = 1 << 30;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const int32_t r = ec_scale_round((float)middle, finish);
        if (falling ? r <= bottom : r >= top)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static enum ec_status check_choices(const struct ec_edge_params *params, struct ec_error *error)
{
    if ((unsigned)params->op >= EC_OPERATOR_COUNT)
        return ec_fail(error, EC_ERROR_ARGUMENT, "operator %d is not one of the %d there are", (int)params->op,
                       EC_OPERATOR_COUNT);
    if ((unsigned)params->norm > EC_NORM_L1)
        return ec_fail(error, EC_ERROR_ARGUMENT, "norm %d is neither l2 (0) nor l1 (1)", (int)params->norm);
    if ((unsigned)params->border > EC_BORDER_CONSTANT)
        return ec_fail(error, EC_ERROR_ARGUMENT, "border %d is not reflect101 (0), replicate (1) or constant (2)",
                       (int)params->border);
    if ((unsigned)params->range > EC_RANGE_LIMITED)
        return ec_fail(error, EC_ERROR_ARGUMENT, "range %d is neither full (0) nor limited (1)", (int)params->range);
    if (params->output_depth_bits != 0 && params->output_depth_bits != 8)
        return ec_fail(error, EC_ERROR_ARGUMENT, "output depth %d is neither 0 (the input's) nor 8", params->output_depth_bits);

    const int aperture = params->aperture;
    if (aperture != 0 && aperture != 3 && aperture != 5 && aperture != 7)
        return ec_fail(error, EC_ERROR_ARGUMENT, "aperture %d is not 3, 5 or 7", aperture);
    if (aperture > 3 && params->op != EC_OPERATOR_SOBEL && params->op != EC_OPERATOR_CANNY)
        return ec_fail(error, EC_ERROR_ARGUMENT, "aperture %d is for sobel and canny only, %s has one size", aperture,
                       ec_operator_name(params->op));
    if (params->op != EC_OPERATOR_CANNY && (params->has_low || params->has_high))
        return ec_fail(error, EC_ERROR_ARGUMENT, "the thresholds low and high are for canny only, not for %s",
                       ec_operator_name(params->op));
    if ((unsigned)params->channels > EC_CHANNELS_RGB)
        return ec_fail(error, EC_ERROR_ARGUMENT, "channels %d is neither luma (0) nor rgb (1)", (int)params->channels);
    if (params->op != EC_OPERATOR_CANNY && params->channels != EC_CHANNELS_LUMA)
        return ec_fail(error, EC_ERROR_ARGUMENT, "channels rgb is for canny only, %s takes luma", ec_operator_name(params->op));
    if ((unsigned)params->automatic > EC_AUTO_PERCENTILE)
        return ec_fail(error, EC_ERROR_ARGUMENT, "automatic thresholds %d are not 0 (off) to %d", (int)params->automatic,
                       EC_AUTO_PERCENTILE);
    if (params->op != EC_OPERATOR_CANNY && params->automatic != EC_AUTO_OFF)
        return ec_fail(error, EC_ERROR_ARGUMENT, "automatic thresholds are for canny only, not for %s",
                       ec_operator_name(params->op));
    if (params->automatic != EC_AUTO_OFF && (params->has_low || params->has_high))
        return ec_fail(error, EC_ERROR_ARGUMENT, "low and high are given, or chosen automatically, not both");
    if (params->op != EC_OPERATOR_CANNY && params->stable != 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "stable is for canny only, not for %s", ec_operator_name(params->op));
    if (params->op == EC_OPERATOR_CANNY && (params->scale != 0 || params->delta != 0 || params->threshold != 0))
        return ec_fail(error, EC_ERROR_ARGUMENT, "canny takes low and high, not scale, delta or threshold");
    return EC_OK;
}

/* Every comparison is written so that a NaN fails it. */
static enum ec_status check_numbers(const struct ec_edge_params *params, struct ec_error *error)
{
    if (!(params->blur_sigma >= 0 && params->blur_sigma <= EC_BLUR_MAX_SIGMA))
        return ec_fail(error, EC_ERROR_ARGUMENT, "blur sigma %g is not between 0 and %g pixels", params->blur_sigma,
                       EC_BLUR_MAX_SIGMA);
    if (!(fabs(params->scale) <= SCALE_MAX))
        return ec_fail(error, EC_ERROR_ARGUMENT, "scale %g is not between -%g and %g", params->scale, SCALE_MAX, SCALE_MAX);
    if (!(fabs(params->delta) <= SCALE_MAX))
        return ec_fail(error, EC_ERROR_ARGUMENT, "delta %g is not between -%g and %g", params->delta, SCALE_MAX, SCALE_MAX);
    if (!(params->threshold >= 0 && params->threshold <= SCALE_MAX))
        return ec_fail(error, EC_ERROR_ARGUMENT, "threshold %g is not between 0 (none) and %g", params->threshold, SCALE_MAX);
    if (params->has_low && !(params->low >= 0 && params->low <= CANNY_MAX))
        return ec_fail(error, EC_ERROR_ARGUMENT, "low threshold %g is not between 0 and %g", params->low, CANNY_MAX);
    if (!(params->stable >= 0 && params->stable <= 1))
        return ec_fail(error, EC_ERROR_ARGUMENT, "stable %g is not between 0 (off) and 1", params->stable);
    if (params->has_auto_time && !(params->auto_time_s >= 0 && params->auto_time_s <= AUTO_TIME_MAX_S))
        return ec_fail(error, EC_ERROR_ARGUMENT, "the time of automatic thresholds, %g s, is not between 0 and %g",
                       params->auto_time_s, AUTO_TIME_MAX_S);
    if (params->has_high && !(params->high >= 0 && params->high <= CANNY_MAX))
        return ec_fail(error, EC_ERROR_ARGUMENT, "high threshold %g is not between 0 and %g", params->high, CANNY_MAX);
    return EC_OK;
}

static void make_window(struct ec_plan *plan, int aperture)
{
    switch (plan->op) {
    case EC_OPERATOR_SOBEL:
    case EC_OPERATOR_CANNY:
        plan->gradient = aperture == 7 ? sobel7 : aperture == 5 ? sobel5 : sobel3;
        break;
    case EC_OPERATOR_SCHARR:
        plan->gradient = scharr;
        break;
    case EC_OPERATOR_PREWITT:
        plan->gradient = prewitt;
        break;
    case EC_OPERATOR_ROBERTS:
        plan->window_size = 2;
        return;
    case EC_OPERATOR_DOG:
        plan->window_size = 1;
        return;
    case EC_OPERATOR_CONVOLUTION:
        plan->window_size = plan->convolution.size;
        plan->window_before = plan->convolution.size / 2;
        return;
    default:
        break;
    }
    plan->window_size = plan->gradient.size ? plan->gradient.size : 3;
    plan->window_before = plan->window_size / 2;
}

/* As cv2 rounds them. Where a square is too large to be exact, it is above every magnitude anyway. */
static int64_t canny_threshold(double threshold, const struct ec_plan *plan)
{
    const double scaled = ldexp(threshold, plan->depth_bits - 8) / (plan->gradient.size == 7 ? 16 : 1);
    return (int64_t)floor(plan->norm == EC_NORM_L2 ? scaled * scaled : scaled);
}

static void make_canny(struct ec_plan *plan, const struct ec_edge_params *params)
{
    double low = CANNY_LOW, high = CANNY_HIGH;
    if (params->has_low)
        low = params->low;
    if (params->has_high)
        high = params->high;
    else if (params->has_low)
        high = fmax(high, 2 * low);
    if (!params->has_low && params->has_high)
        low = fmin(low, high / 2);
    plan->canny.low = canny_threshold(fmin(low, high), plan);
    plan->canny.high = canny_threshold(fmax(low, high), plan);
}

/* A gradient of an edge of height 1 is 4, 48 and 640 at apertures 3, 5 and 7. The largest sums of bytes, 2040, 24480 and after
 * the division 20400, fit into EC_AUTO_MAGNITUDES bins. */
static void make_auto(struct ec_plan *plan, const struct ec_edge_params *params)
{
    const int size = plan->gradient.size;
    const double time_s = params->has_auto_time ? params->auto_time_s : AUTO_TIME_S;
    plan->automatic = (struct ec_canny_auto){
        .kind = params->automatic,
        .time_ns = (int64_t)(time_s * 1e9),
        .gain = size == 3   ? 1
                : size == 5 ? 12
                            : 160,
        .magnitude_shift = size == 3 ? 1 : 5,
    };
}

/* A gradient of (1 + s) times the length has (1 + s)^2 times the square. */
static int32_t stable_boost(const struct ec_edge_params *params)
{
    const double factor = 1 + params->stable;
    return (int32_t)lrint((params->norm == EC_NORM_L2 ? factor * factor - 1 : factor - 1) * EC_STABLE_ONE);
}

static void make_finish(struct ec_plan *plan, const struct ec_edge_params *params)
{
    struct ec_finish *finish = &plan->finish;
    finish->max = (1 << plan->depth_bits) - 1;
    finish->narrow_shift = plan->depth_bits - plan->output_depth_bits;
    finish->absolute = params->absolute && params->op == EC_OPERATOR_CONVOLUTION;
    finish->scale = params->scale == 0 ? 1.0f : (float)params->scale;
    finish->delta = (float)params->delta;
    finish->identity = finish->scale == 1.0f && finish->delta == 0.0f;
    finish->has_threshold = params->threshold > 0;
    if (finish->has_threshold)
        finish->threshold = (int32_t)ceil(ldexp(params->threshold, plan->depth_bits - 8));
}

enum ec_status ec_plan_make(struct ec_plan *plan, const struct ec_edge_params *params, int depth_bits, struct ec_error *error)
{
    memset(plan, 0, sizeof *plan);
    if (depth_bits < 8 || depth_bits > 16)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the depth is %d bits, expected 8 to 16", depth_bits);
    enum ec_status status = check_choices(params, error);
    if (status == EC_OK)
        status = check_numbers(params, error);
    if (status == EC_OK && params->op == EC_OPERATOR_CONVOLUTION)
        status = ec_convolution_taps_make(&plan->convolution, &params->kernel, (1 << depth_bits) - 1, error);
    if (status != EC_OK)
        return status;

    plan->op = params->op;
    plan->norm = params->norm;
    plan->border = params->border;
    plan->depth_bits = depth_bits;
    plan->output_depth_bits = params->output_depth_bits ? params->output_depth_bits : depth_bits;
    plan->channels = params->channels == EC_CHANNELS_RGB ? EC_CHANNELS_MAX : 1;
    plan->luma = make_luma_map(depth_bits);

    const bool needs_blur = params->op == EC_OPERATOR_LOG || params->op == EC_OPERATOR_DOG;
    const double sigma = params->blur_sigma == 0 && needs_blur ? DEFAULT_SIGMA : params->blur_sigma;
    if (sigma > 0)
        ec_blur_taps_make(&plan->blur, sigma, depth_bits);
    if (params->op == EC_OPERATOR_DOG)
        ec_blur_taps_make(&plan->blur_wide, sigma * DOG_RATIO, depth_bits);

    make_window(plan, params->aperture);
    if (params->op == EC_OPERATOR_CANNY) {
        make_canny(plan, params);
        make_auto(plan, params);
        plan->stable_boost = stable_boost(params);
    }
    make_finish(plan, params);
    plan->saturation = plan->op == EC_OPERATOR_CONVOLUTION ? INT32_MAX : make_saturation(&plan->finish);
    return EC_OK;
}
