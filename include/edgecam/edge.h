/* Edge detectors on single images: the same bytes from every backend, thread count and lane count.
 *
 * A detector maps one plane of depth d (8, or 9 to 16) to one plane of depth d, or of depth 8; Canny also maps three.
 * Everything is integer arithmetic, or correctly rounded IEEE float operations without contraction. In order:
 *
 *   luma       limited-range input is expanded to full range: floor((y - 16*2^(d-8)) * (2^d - 1) / (219*2^(d-8)) + 1/2),
 *              clamped to [0, 2^d - 1]
 *   blur       cv2.GaussianBlur(image, (0, 0), sigma) of that depth (its bit-exact fixed-point form)
 *   operator   gives a response m, see enum ec_operator
 *   finish     |m| if `absolute`; r = round(scale*m + delta) in float32, half to even; with a threshold T: 2^d - 1 where
 *              r >= T*2^(d-8), else 0; without: r clamped to [0, 2^d - 1]. For depth-8 output of deeper input the result v
 *              becomes min(255, (v + 2^(d-9)) >> (d-8)).
 *
 * Borders: reflect-101 (cv2.BORDER_DEFAULT) unless `border` says otherwise; every step extends its own input.
 *
 * Canny is cv2.Canny(image, low, high, apertureSize=aperture, L2gradient=norm is l2), interior and border:
 *
 *   gradient   cv2.Sobel of that aperture; aperture 7 divides gx and gy by 16, rounded half to even, and the thresholds too;
 *              of a colour picture, in each pixel that of the channel with the largest magnitude, the first of equals
 *   magnitude  m = |gx| + |gy|, compared with floor(threshold), or m = gx^2 + gy^2, compared with floor(threshold^2); 0
 *              outside the image
 *   maxima     candidates are pixels with m > low, m greater than the neighbour towards the left or the top, and m at least
 *              (along a diagonal: greater than) the opposite one; the gradient's direction chooses the pair: horizontal where
 *              |gy| < tan(22.5 deg)*|gx|, vertical where |gy| > tan(67.5 deg)*|gx|, else a diagonal, with 13573/2^15 and
 *              2 + 13573/2^15 for the tangents
 *   edges      candidates that are 8-connected, through candidates, to one with m > high
 *
 * Automatic thresholds come from the picture: every 8th row of the operator's input (blurred, of every channel), and in it
 * every 4th pixel, from the first on, is counted. g is 1, 12 and 160 for apertures 3, 5 and 7: so much larger are their
 * gradients.
 *
 *   median      high = 1.33*g*v and low = 0.67*g*v of the median v in 8-bit units (of an even count the lower one)
 *
 *   otsu        high = g*v and low = high/2 of Otsu's threshold v ("A Threshold Selection Method from Gray-Level Histograms",
 *               1979; cv2.THRESH_OTSU)
 *
 *   percentile  high is the magnitude below which 9 of 10 magnitudes are, up to the next multiple of 2 (aperture 3), 32 or 512,
 *               and low = 0.4*high, as in MATLAB's edge(image, "canny")
 *
 * At least 8*g and 16*g. They follow the picture: each moves towards what the frame asks for by 1 - exp(-t/auto_time_s), t
 * since the frame before, and to it at once where a scene begins: where the grays' distribution has moved by more than 16 of
 * 256. They are multiples of 1/16; given as low and high they find the same edges.
 *
 * With `stable` s an edge of the picture before counts as (1 + s) times as strong, from the maxima on (its square as
 * (1 + s)^2, the factor rounded to 1/256), where the picture stands still: in squares of 16x16 in which, of the sums of 4
 * pixels next to each other in every 4th row (input values in 8-bit units), differences are 16 on average for each channel,
 * or less. So a line that was found stays, though noise weakens it, and stays in its place; a new one must be as strong as
 * ever.
 *
 * Edges are the largest value of the output, everything else 0. Deeper pixels: the same on wider integers, the thresholds
 * times 2^(d-8). low > high are exchanged. The gradient's border is replicate, as in cv2.Canny; `border` is the blur's.
 */
#ifndef EDGECAM_EDGE_H
#define EDGECAM_EDGE_H

#include <stdbool.h>

#include "edgecam/image.h"
#include "edgecam/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* p(x, y) is the input of the operator; gx grows to the right, gy downwards. */
enum ec_operator {
    EC_OPERATOR_SOBEL = 0, /* gradient, cv2.Sobel with `aperture` 3, 5 or 7 */
    EC_OPERATOR_SCHARR, /* gradient, cv2.Scharr (3, 10, 3) */
    EC_OPERATOR_PREWITT, /* gradient, (1, 1, 1) smoothing */
    EC_OPERATOR_ROBERTS, /* gradient, gx = p(x,y) - p(x+1,y+1), gy = p(x+1,y) - p(x,y+1) */
    EC_OPERATOR_KIRSCH, /* maximum of the 8 rotations of (5 5 5; -3 0 -3; -3 -3 -3) */
    EC_OPERATOR_ROBINSON, /* maximum of the 8 rotations of (1 2 1; 0 0 0; -1 -2 -1) */
    EC_OPERATOR_LAPLACIAN, /* |cv2.Laplacian(ksize=1)|, kernel (0 1 0; 1 -4 1; 0 1 0) */
    EC_OPERATOR_LOG, /* |Laplacian| of the image blurred with sigma = blur_sigma, 1.4 when that is 0 */
    EC_OPERATOR_DOG, /* |G(sigma) - G(1.6 sigma)|, sigma as for LOG; the two blurs are cv2.GaussianBlur's bytes */
    EC_OPERATOR_CONVOLUTION, /* cv2.filter2D with `kernel`: correlation, anchor in the middle, no flip */
    EC_OPERATOR_CANNY, /* cv2.Canny with `low`, `high`, `aperture` and `norm`, see above */
    EC_OPERATOR_COUNT
};

/* Magnitude of a gradient: m = round(sqrt(gx^2 + gy^2)), or |gx| + |gy|. For Canny: cv2's L2gradient, true or false. */
enum ec_norm { EC_NORM_L2 = 0, EC_NORM_L1 };

enum ec_border { EC_BORDER_REFLECT101 = 0, EC_BORDER_REPLICATE, EC_BORDER_CONSTANT /* zeros */ };

/* Where Canny's thresholds come from, see above. */
enum ec_auto { EC_AUTO_OFF = 0, EC_AUTO_MEDIAN, EC_AUTO_OTSU, EC_AUTO_PERCENTILE };

/* What Canny looks at: one plane of luma, or planes of red, green and blue, each expanded and blurred by itself. */
enum ec_channels { EC_CHANNELS_LUMA = 0, EC_CHANNELS_RGB };

enum ec_range { EC_RANGE_FULL = 0, EC_RANGE_LIMITED };

#define EC_KERNEL_MAX_SIZE 31

/* size x size weights (size odd, 1 to EC_KERNEL_MAX_SIZE), row-major, finite, |weight| <= 2^24. The caller owns the array; it
 * is copied by ec_edge_open. If every weight is an integer the response is the exact sum divided by `divisor` (>= 1; 0 counts
 * as 1), rounded half to even. Otherwise `divisor` must be 0 or 1 and the response is the float32 sum of fused
 * multiply-adds in row-major order, starting at 0. */
struct ec_kernel {
    int size;
    const float *weights;
    int divisor;
};

/* Zero-initialised: sobel, l2, aperture 3, no blur, scale 1, delta 0, no threshold, canny's low 100 and high 200, reflect-101,
 * full range in, depth kept. */
struct ec_edge_params {
    enum ec_operator op;
    enum ec_norm norm;
    enum ec_border border;
    enum ec_range range; /* of the input's values; LIMITED is expanded first */
    int aperture; /* sobel and canny only: 0 (= 3), 3, 5 or 7 */
    double blur_sigma; /* px, 0 (none) to EC_BLUR_MAX_SIGMA */
    double scale; /* 0 counts as 1; |scale| <= 65536; not for canny */
    double delta; /* in units of the input's depth, |delta| <= 65536; not for canny */
    double threshold; /* 0: none; else in 8-bit units, above 0 to 65536; not for canny */
    double low, high; /* canny only, where has_low, has_high: in 8-bit units, 0 to 2^20, fractions allowed. Without */
    bool has_low, has_high; /* them 100 and 200; one without the other: high = max(200, 2*low), low = min(100, high/2) */
    enum ec_channels channels; /* RGB: canny only */
    enum ec_auto automatic; /* canny only, without low and high */
    double stable; /* canny only: strength of the hysteresis in time, 0 (none) to 1 */
    double auto_time_s; /* where has_auto_time: 0 to 10^6, 0: each picture by itself; else 0.5 */
    bool has_auto_time;
    bool absolute; /* convolution only: take |m|; the other operators are never negative */
    int output_depth_bits; /* 0: the input's; or 8 */
    struct ec_kernel kernel; /* convolution only */
    struct ec_logger logger;
};

#define EC_BLUR_MAX_SIGMA 32.0

enum ec_backend_kind { EC_BACKEND_AUTO = 0, EC_BACKEND_CPU, EC_BACKEND_CUDA };

#define EC_GPU_ALL (-1)

/* How the GPU's kernels divide a frame; 0: the default. Speed only: every choice gives the same bytes, and one that this build
 * has no kernel for counts as the default. */
struct ec_tuning {
    int block_threads;
    int rows_per_thread;
};

/* Zero-initialised: the first GPU if one works, else the CPU with one thread for each core this process may use. */
struct ec_device_params {
    enum ec_backend_kind backend; /* AUTO falls back to the CPU with a notice; CUDA fails with EC_ERROR_DEVICE */
    int gpu; /* CUDA ordinal; EC_GPU_ALL: a pipeline's frames take turns on all GPUs */
    int threads; /* of the CPU backend; 0: one for each core this process may use */
    const char *cpu_features; /* CPU: run on "baseline", "avx2", "avx512" or "avx512vnni"; NULL: the best there is */
    bool low_latency; /* CUDA: each frame is cut in bands, to have its result sooner, at the price of throughput */
    struct ec_tuning tuning; /* CUDA */
    bool untimed; /* CUDA: no events take the times of copies and kernels, and the statistics do not know them */
};

struct ec_edge;

/* Name of an operator as the command line spells it ("sobel"), NULL outside the enum. Static storage. */
EC_API const char *ec_operator_name(enum ec_operator op);
/* One line about an operator, NULL outside the enum. Static storage. */
EC_API const char *ec_operator_text(enum ec_operator op);

/* Checks the parameters and takes the device. `device` may be NULL (defaults). On failure *out is NULL, the reason went to
 * the logger, and the status is EC_ERROR_ARGUMENT, EC_ERROR_DEVICE or EC_ERROR_MEMORY. The caller owns *out. */
EC_API enum ec_status ec_edge_open(struct ec_edge **out, const struct ec_edge_params *params,
                                   const struct ec_device_params *device);

/* Detects edges in one image; blocks until `out` is complete. `in` and `out` have the same size, must not overlap, and
 * out->depth_bits is in->depth_bits, or 8 (output_depth_bits, when set, must agree). Device memory is taken by the CUDA
 * backend only. Any size from 1x1; a change of size or depth from call to call costs an allocation. One call at a time for one
 * `edge`; different edges may run in parallel. Returns EC_ERROR_ARGUMENT for a bad image and touches nothing then. */
EC_API enum ec_status ec_edge_run(struct ec_edge *edge, const struct ec_image *in, struct ec_image *out);

/* The thresholds, in 8-bit units, that Canny chose for the last image; false, and nothing is written, if it chose none. */
EC_API bool ec_edge_thresholds(const struct ec_edge *edge, double *low, double *high);

/* "cpu" or "cuda": what ec_edge_open chose. Static storage. */
EC_API const char *ec_edge_backend(const struct ec_edge *edge);

/* Releases everything and sets *edge to NULL; NULL and half-open objects are fine. */
EC_API void ec_edge_close(struct ec_edge **edge);

#ifdef __cplusplus
}
#endif
#endif
