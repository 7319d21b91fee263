#include <stddef.h>

#include "edgecam/edge.h"

static const struct {
    const char *name, *text;
} operators[EC_OPERATOR_COUNT] = {
    [EC_OPERATOR_SOBEL] = {"sobel", "gradient with binomial smoothing, aperture 3, 5 or 7"},
    [EC_OPERATOR_SCHARR] = {"scharr", "3x3 gradient, smoothing 3 10 3, the most even over all directions"},
    [EC_OPERATOR_PREWITT] = {"prewitt", "3x3 gradient, smoothing 1 1 1"},
    [EC_OPERATOR_ROBERTS] = {"roberts", "2x2 diagonal differences, the thinnest lines"},
    [EC_OPERATOR_KIRSCH] = {"kirsch", "strongest of 8 compass directions, weights 5 and -3"},
    [EC_OPERATOR_ROBINSON] = {"robinson", "strongest of 8 compass directions, weights 1 2 1"},
    [EC_OPERATOR_LAPLACIAN] = {"laplacian", "second derivative, 4 neighbours"},
    [EC_OPERATOR_LOG] = {"log", "Laplacian of the Gaussian-blurred image, sigma 1.4 unless a blur is given"},
    [EC_OPERATOR_DOG] = {"dog", "difference of two Gaussians, sigma and 1.6 sigma"},
    [EC_OPERATOR_CONVOLUTION] = {"convolution", "a kernel of your own, up to 31x31"},
    [EC_OPERATOR_CANNY] = {"canny", "thin contours between two thresholds, aperture 3, 5 or 7"},
};

const char *ec_operator_name(enum ec_operator op)
{
    return (unsigned)op < EC_OPERATOR_COUNT ? operators[op].name : NULL;
}

const char *ec_operator_text(enum ec_operator op)
{
    return (unsigned)op < EC_OPERATOR_COUNT ? operators[op].text : NULL;
}
