"""What the detectors must give, from OpenCV's own calls or, where it has none, from a definition in NumPy.

Nothing here shares code or constants with the library: responses are float64 arrays that hold exact integers."""

import ctypes
import ctypes.util
from fractions import Fraction

import cv2
import numpy as np

CV_BORDERS = {"reflect101": cv2.BORDER_REFLECT_101, "replicate": cv2.BORDER_REPLICATE, "constant": cv2.BORDER_CONSTANT}
_KIRSCH = [5, 5, 5, -3, -3, -3, -3, -3]
_ROBINSON = [1, 2, 1, 0, -1, -2, -1, 0]


def expand_luma(image, depth):
    """Limited to full range, by exact fractions."""
    steps = 1 << (depth - 8)
    top = (1 << depth) - 1
    table = np.array([min(max((Fraction((y - 16 * steps) * top, 219 * steps) + Fraction(1, 2)).__floor__(), 0), top)
                      for y in range(top + 1)])
    return table[image].astype(image.dtype)


def blur(image, sigma, border):
    return cv2.GaussianBlur(image, (0, 0), sigma, borderType=CV_BORDERS[border], hint=cv2.ALGO_HINT_ACCURATE)


def correlate(image, kernel, border):
    """The correlation sums, exact while they stay below 2^53."""
    kernel = np.asarray(kernel, np.float64)
    padded = pad(image.astype(np.float64), kernel.shape[0] // 2, border)
    total = np.zeros(image.shape)
    for j, i in np.ndindex(kernel.shape):
        total += kernel[j, i] * padded[j:j + image.shape[0], i:i + image.shape[1]]
    return total


def pad(image, margin, border):
    return cv2.copyMakeBorder(image, margin, margin, margin, margin, CV_BORDERS[border], value=0)


def magnitude(gx, gy, norm):
    if norm == "l1":
        return np.abs(gx) + np.abs(gy)
    gx, gy = gx.astype(np.int64), gy.astype(np.int64)
    square = gx * gx + gy * gy
    root = np.floor(np.sqrt(square.astype(np.float64))).astype(np.int64)
    root += (root + 1) ** 2 <= square
    root -= root ** 2 > square
    # sqrt(s) >= r + 1/2 exactly if s >= r^2 + r + 1/4; s is an integer.
    return (root + (square > root * root + root)).astype(np.float64)


def compass(image, ring, border):
    """Largest response of the eight rotations of a 3x3 kernel given by its ring."""
    places = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0)]
    best = None
    for turn in range(8):
        kernel = np.zeros((3, 3))
        for k, place in enumerate(places):
            kernel[place] = ring[(k + turn) % 8]
        response = cv2.filter2D(image, cv2.CV_64F, kernel, borderType=CV_BORDERS[border])
        best = response if best is None else np.maximum(best, response)
    return best


def response(image, op, *, norm="l2", border="reflect101", aperture=0, blur_sigma=0):
    """The integer response of every operator but convolution."""
    cv_border = CV_BORDERS[border]
    sigma = blur_sigma or (1.4 if op in ("log", "dog") else 0)
    if op == "dog":
        return cv2.absdiff(blur(image, sigma, border), blur(image, 1.6 * sigma, border)).astype(np.float64)
    source = blur(image, sigma, border) if sigma else image
    if op == "sobel":
        size = aperture or 3
        return magnitude(cv2.Sobel(source, cv2.CV_64F, 1, 0, ksize=size, borderType=cv_border),
                         cv2.Sobel(source, cv2.CV_64F, 0, 1, ksize=size, borderType=cv_border), norm)
    if op == "scharr":
        return magnitude(cv2.Scharr(source, cv2.CV_64F, 1, 0, borderType=cv_border),
                         cv2.Scharr(source, cv2.CV_64F, 0, 1, borderType=cv_border), norm)
    if op == "prewitt":
        kernel = np.array([[-1, 0, 1]] * 3, np.float64)
        return magnitude(cv2.filter2D(source, cv2.CV_64F, kernel, borderType=cv_border),
                         cv2.filter2D(source, cv2.CV_64F, kernel.T.copy(), borderType=cv_border), norm)
    if op == "roberts":
        p = pad(source, 1, border)[1:, 1:].astype(np.float64)
        return magnitude(p[:-1, :-1] - p[1:, 1:], p[:-1, 1:] - p[1:, :-1], norm)
    if op in ("kirsch", "robinson"):
        return compass(source, _KIRSCH if op == "kirsch" else _ROBINSON, border)
    return np.abs(cv2.Laplacian(source, cv2.CV_64F, ksize=1, borderType=cv_border))


def divide_half_even(sums, divisor):
    rounded = [round(Fraction(int(s), divisor)) for s in sums.ravel()]
    return np.array(rounded, np.float64).reshape(sums.shape)


_fmaf = ctypes.CDLL(ctypes.util.find_library("m")).fmaf
_fmaf.argtypes = [ctypes.c_float] * 3
_fmaf.restype = ctypes.c_float


def fused_sum(image, kernel, border):
    """float32 fused multiply-adds in row-major order, by the C library's fmaf."""
    size = kernel.shape[0]
    padded = pad(image, size // 2, border).tolist()
    weights = np.asarray(kernel, np.float32).tolist()
    out = np.zeros(image.shape, np.float32)
    for y, x in np.ndindex(image.shape):
        total = 0.0
        for j in range(size):
            for i in range(size):
                total = _fmaf(weights[j][i], padded[y + j][x + i], total)
        out[y, x] = total
    return out


def finish(m, depth, *, scale=0, delta=0, threshold=0, absolute=False, output_depth=None, is_float=False):
    """From responses to pixels."""
    top = (1 << depth) - 1
    if absolute:
        m = np.abs(m)
    if scale not in (0, 1) or delta or is_float:
        m = np.rint(m.astype(np.float32) * np.float32(scale or 1) + np.float32(delta)).astype(np.float64)
    if threshold:
        pixels = np.where(m >= threshold * 2 ** (depth - 8), top, 0)
    else:
        pixels = np.clip(m, 0, top)
    pixels = pixels.astype(np.int64)
    if output_depth == 8 and depth > 8:
        pixels = np.minimum(255, (pixels + (1 << (depth - 9))) >> (depth - 8))
    return pixels


def canny(image, low, high, *, aperture=3, norm="l2", depth=8, raised=None, strength=0):
    """cv2.Canny's definition on integers of any width; which candidates are connected comes from cv2.connectedComponents. Of a
    colour image the gradient of the channel with the largest magnitude counts, the first of equals. Pixels of the mask `raised`
    count as 1 + strength times as strong."""
    low, high = (t * 2.0 ** (depth - 8) for t in (min(low, high), max(low, high)))
    if aperture == 7:
        low, high = low / 16, high / 16
    if norm == "l2":
        low, high = low * low, high * high
    gx = gy = m = None
    for c, own in enumerate(_gradients(image, aperture)):
        own_x, own_y = (g.astype(np.int64) for g in own)
        own_m = own_x * own_x + own_y * own_y if norm == "l2" else np.abs(own_x) + np.abs(own_y)
        larger = None if c == 0 else own_m > m
        gx, gy, m = (new if c == 0 else np.where(larger, new, old) for new, old in ((own_x, gx), (own_y, gy), (own_m, m)))
    if raised is not None:
        boost = int(np.rint(256 * ((1 + strength) ** 2 - 1 if norm == "l2" else strength)))
        m = m + np.where(raised, m * boost // 256, 0)
    padded = np.pad(m, 1)

    def moved(dx, dy):
        return padded[1 + dy:1 + dy + m.shape[0], 1 + dx:1 + dx + m.shape[1]]

    run, rise = np.abs(gx), np.abs(gy) << 15
    horizontal, vertical = rise < 13573 * run, rise > (13573 + (2 << 15)) * run
    lines = [horizontal, vertical, (gx ^ gy) >= 0]
    before = np.select(lines, [moved(-1, 0), moved(0, -1), moved(-1, -1)], moved(1, -1))
    after = np.select(lines, [moved(1, 0), moved(0, 1), moved(1, 1)], moved(-1, 1))
    candidates = (m > np.floor(low)) & (m > before) & ((m > after) | ((horizontal | vertical) & (m == after)))
    count, labels = cv2.connectedComponents(candidates.astype(np.uint8), connectivity=8)
    is_edge = np.zeros(count, bool)
    is_edge[labels[candidates & (m > np.floor(high))]] = True
    return is_edge[labels] * np.int64((1 << depth) - 1)


def automatic(image, kind, *, aperture=3, norm="l2", depth=8):
    """What a picture by itself asks for: low and high in 8-bit units, before they are rounded to sixteenths."""
    gain = {3: 1, 5: 12, 7: 160}[aperture]
    grays = np.sort(image[::8, ::4].ravel() >> (depth - 8))
    if kind == "median":
        median = int(grays[(len(grays) - 1) // 2])
        low, high = 0.67 * median * gain, 1.33 * median * gain
    elif kind == "otsu":
        high = gain * int(cv2.threshold(grays.astype(np.uint8)[None], 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)[0])
        low = high / 2
    else:
        length = np.hypot if norm == "l2" else lambda x, y: np.abs(x) + np.abs(y)
        m = np.max([length(*g) for g in _gradients(image, aperture)], 0)
        bins = np.sort(np.floor(np.rint(m[::8, ::4]) / 2.0 ** (depth - 8) / (2 if aperture == 3 else 32)).ravel())
        below = bins[-(-9 * len(bins) // 10) - 1]
        high = (min(below, 1023) + 1) * {3: 2, 5: 32, 7: 512}[aperture]
        low = 0.4 * high
    return max(low, 8.0 * gain), max(high, 16.0 * gain)


def otsu_is_as_good(image, threshold, *, depth=8):
    """Whether `threshold` parts the sampled grays as well as Otsu's does: few samples may have several such, and cv2's rounding
    chooses between them."""
    grays = image[::8, ::4].ravel() >> (depth - 8)

    def spread(t):
        dark, bright = grays[grays <= t], grays[grays > t]
        return len(dark) * len(bright) * (dark.mean() - bright.mean()) ** 2 if len(dark) and len(bright) else 0

    best = max(spread(t) for t in np.unique(grays))
    return spread(threshold) >= best * (1 - 1e-9)


def _gradients(image, aperture):
    for channel in np.moveaxis(np.atleast_3d(image), 2, 0):
        own = [cv2.Sobel(np.ascontiguousarray(channel), cv2.CV_64F, dx, 1 - dx, ksize=aperture, borderType=cv2.BORDER_REPLICATE)
               for dx in (1, 0)]
        yield [np.rint(g / 16) if aperture == 7 else g for g in own]


def stands_still(before, now, depth=8):
    """A mask of the pixels in squares of 16x16 in which the two pictures are about the same."""
    sums = []
    for image in (before, now):
        values = np.atleast_3d(image).astype(np.int64)[::4] >> (depth - 8)
        values = values.sum(2) if values.shape[2] > 1 else values[:, :, 0]
        sums.append(np.add.reduceat(values, np.arange(0, values.shape[1], 4), 1))
    distance, channels = np.abs(sums[0] - sums[1]), np.atleast_3d(now).shape[2]
    height, width = now.shape[:2]
    mask = np.zeros((height, width), bool)
    for y in range(0, height, 16):
        for x in range(0, width, 16):
            mask[y:y + 16, x:x + 16] = distance[y // 4:y // 4 + 4, x // 4:x // 4 + 4].mean() <= 16 * channels
    return mask


def canny_film(images, low, high, strength, **options):
    """Canny with hysteresis in time: a list of edges."""
    results = []
    for k, image in enumerate(images):
        raised = None
        if k:
            raised = (results[-1] > 0) & stands_still(images[k - 1], image, options.get("depth", 8))
        results.append(canny(image, low, high, raised=raised, strength=strength, **options))
    return results
