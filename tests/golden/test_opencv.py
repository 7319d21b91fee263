"""The detectors equal OpenCV byte by byte: a table of cv2 calls over operators, sizes, depths, contents and borders.

Usage: test_opencv.py LIBRARY. Exits with 77 (skipped) where Python has no OpenCV."""

import sys

try:
    import cv2
    import numpy as np
except ImportError as error:
    print(f"skipped: this Python has no OpenCV or NumPy ({error})")
    sys.exit(77)

import oracle
from edge_library import BORDERS, NORMS, RESPONSES, Library

SIZES = [(1, 1), (1, 7), (7, 1), (2, 2), (3, 3), (5, 5), (17, 9), (64, 48), (131, 37)]
DEPTHS = (8, 10, 12, 16)
GRADIENTS = ("sobel", "scharr", "prewitt", "roberts")


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, got, expected, tolerance=0):
        wrong = np.abs(got.astype(np.int64) - expected.astype(np.int64)) > tolerance
        if got.shape == expected.shape and not wrong.any():
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= 20:
            y, x = np.argwhere(wrong)[0]
            print(f"FAILED {name}: {wrong.sum()} pixels differ, first ({x}, {y}): {got[y, x]}, expected {expected[y, x]}")


def picture(width, height, depth, content, rng):
    """A strided array of that size, so that the pitch is not the width."""
    top = (1 << depth) - 1
    canvas = np.full((height, width + 5), top // 3, np.uint8 if depth == 8 else np.uint16)
    image = canvas[:, 2:width + 2]
    y, x = np.mgrid[0:height, 0:width]
    if content == "noise":
        image[:] = rng.integers(0, top + 1, (height, width))
    elif content == "max":
        image[:] = top
    elif content == "zero":
        image[:] = 0
    elif content == "ramp":
        image[:] = (x * 7 + y * 3) * (top // 255) % (top + 1)
    elif content == "extremes":
        image[:] = rng.integers(0, 2, (height, width)) * top
    else:  # a drawn scene: smooth shades, hard outlines, some grain
        scene = np.uint8(128 + 60 * np.sin(x / 9.0) + 50 * np.cos(y / 7.0))
        cv2.circle(scene, (width // 2, height // 2), max(1, height // 3), 240, 2)
        cv2.putText(scene, "edges", (1, height - 2), cv2.FONT_HERSHEY_SIMPLEX, 0.8, 10, 2)
        image[:] = np.clip(scene.astype(np.int64) * (top // 255) + rng.integers(-2, 3, scene.shape), 0, top)
    return image


CONTENTS = ("noise", "zero", "max", "ramp", "extremes", "scene")


def pictures(rng, sizes=SIZES, depths=DEPTHS, contents=CONTENTS):
    for depth in depths:
        for width, height in sizes:
            for content in contents if width * height > 100 else ("noise", "extremes"):
                yield f"depth {depth} {width}x{height} {content}", picture(width, height, depth, content, rng), depth


def test_operators(library, tally, rng):
    for label, image, depth in pictures(rng):
        for op in RESPONSES:
            for border in BORDERS:
                for norm in NORMS if op in GRADIENTS else ("l2",):
                    for aperture in (3, 5, 7) if op == "sobel" else (0,):
                        m = oracle.response(image, op, norm=norm, border=border, aperture=aperture)
                        got = library.run(image, depth, op, norm=norm, border=border, aperture=aperture)
                        tally.check(f"{op} {norm} {border} aperture {aperture} {label}", got, oracle.finish(m, depth))


def test_extreme_sizes(library, tally, rng):
    for width, height in ((65536, 1), (1, 65536), (65536, 3), (3, 65536), (4099, 257)):
        for depth in (8, 16):
            image = picture(width, height, depth, "noise", rng)
            for op in ("sobel", "kirsch", "log"):
                got = library.run(image, depth, op, threads=3)
                tally.check(f"{op} depth {depth} {width}x{height}", got, oracle.finish(oracle.response(image, op), depth))


def test_blur(library, tally, rng):
    """Through a 1x1 kernel that keeps each pixel, so that the blurred bytes themselves are compared."""
    sigmas = [0.1, 0.3, 0.5, 0.8, 1, 1.4, 2, 2.75, 3.3, 5, 8.125, 13.37, 21, 32] + list(rng.uniform(0.05, 32, 40))
    for label, image, depth in pictures(rng, contents=("noise", "scene", "max")):
        small = image.shape[0] * image.shape[1] < 200
        for index, sigma in enumerate(sigmas if image.shape == (48, 64) else sigmas[:14:3]):
            for border in BORDERS if small or index % 5 == 0 else ("reflect101",):
                got = library.run(image, depth, "convolution", kernel=[[1]], blur=sigma, border=border)
                tally.check(f"blur {sigma} {border} {label}", got, oracle.blur(image, sigma, border))


def test_blurred_operators(library, tally, rng):
    for label, image, depth in pictures(rng, sizes=[(1, 1), (2, 2), (17, 9), (64, 48)], contents=("noise", "scene")):
        for op in RESPONSES:
            for border in BORDERS:
                for sigma in (0.7, 2.2):
                    m = oracle.response(image, op, border=border, blur_sigma=sigma)
                    got = library.run(image, depth, op, border=border, blur=sigma)
                    tally.check(f"{op} blur {sigma} {border} {label}", got, oracle.finish(m, depth))


def test_finish(library, tally, rng):
    choices = [{"scale": 0.25}, {"scale": 3, "delta": 10.5}, {"scale": -1, "delta": 200}, {"threshold": 40},
               {"threshold": 0.5}, {"threshold": 99.7, "scale": 0.3}, {"output_depth": 8},
               {"output_depth": 8, "threshold": 77}, {"output_depth": 8, "scale": 0.6}, {"threshold": 1400}]
    for label, image, depth in pictures(rng, sizes=[(5, 5), (64, 48)], contents=("noise", "scene", "extremes")):
        for op in RESPONSES:
            for norm in NORMS if op in GRADIENTS else ("l2",):
                m = oracle.response(image, op, norm=norm)
                for choice in choices:
                    got = library.run(image, depth, op, norm=norm, **choice)
                    tally.check(f"{op} {norm} {choice} {label}", got, oracle.finish(m, depth, **choice))


def test_luma(library, tally, rng):
    for depth in (8, 9, 10, 11, 12, 13, 14, 15, 16):
        every_value = np.arange(1 << depth, dtype=np.uint8 if depth == 8 else np.uint16).reshape(-1, 64)
        got = library.run(every_value, depth, "convolution", kernel=[[1]], limited=True)
        tally.check(f"luma depth {depth}", got, oracle.expand_luma(every_value, depth))
    for label, image, depth in pictures(rng, sizes=[(3, 3), (64, 48)], contents=("noise", "scene")):
        expanded = oracle.expand_luma(image, depth)
        for op in RESPONSES:
            got = library.run(image, depth, op, limited=True)
            tally.check(f"limited {op} {label}", got, oracle.finish(oracle.response(expanded, op), depth))


def test_too_large_values(library, tally, rng):
    for depth in (9, 10, 13):
        image = rng.integers(0, 1 << 16, (37, 41)).astype(np.uint16)
        clamped = np.minimum(image, (1 << depth) - 1)
        for op in RESPONSES:
            got = library.run(image, depth, op)
            tally.check(f"{op} depth {depth} beyond the range", got, oracle.finish(oracle.response(clamped, op), depth))


def integer_kernels(rng):
    for size in range(1, 32, 2):
        largest = 9 if size < 8 else 1
        yield f"{size}x{size}", rng.integers(-largest, largest + 1, (size, size)), 1
        row, column = rng.integers(-2, 3, size), rng.integers(-2, 3, size)
        if size < 12:
            yield f"{size}x{size} separable", np.outer(column, row), 1
            yield f"{size}x{size} divided", rng.integers(-50, 51, (size, size)), int(rng.integers(2, 300))


def test_integer_convolution(library, tally, rng):
    sizes = [(1, 1), (2, 2), (1, 7), (5, 5), (17, 9), (64, 48)]
    for name, kernel, divisor in integer_kernels(rng):
        for label, image, depth in pictures(rng, sizes=sizes, contents=("noise", "scene", "max")):
            for border in BORDERS:
                got = library.run(image, depth, "convolution", kernel=kernel, divisor=divisor, border=border)
                sums = oracle.correlate(image, kernel, border)
                expected = oracle.finish(oracle.divide_half_even(sums, divisor) if divisor != 1 else sums, depth)
                tally.check(f"convolution {name} {border} {label}", got, expected)
                if divisor == 1:
                    by_cv2 = cv2.filter2D(image, -1, kernel.astype(np.float32), borderType=oracle.CV_BORDERS[border])
                    by_cv2 = np.minimum(by_cv2, (1 << depth) - 1)
                    tally.check(f"filter2D {name} {border} {label}", got, by_cv2)
        image = picture(33, 21, 8, "noise", rng)
        got = library.run(image, 8, "convolution", kernel=kernel, divisor=divisor, absolute=True)
        m = oracle.divide_half_even(oracle.correlate(image, kernel, "reflect101"), divisor)
        tally.check(f"convolution {name} absolute", got, oracle.finish(m, 8, absolute=True))
    wide = rng.integers(-(1 << 24), (1 << 24) + 1, (5, 5))
    for label, image, depth in pictures(rng, sizes=[(17, 9)], contents=("noise",)):
        for divisor in (1, 1 << 20, 12345678):
            got = library.run(image, depth, "convolution", kernel=wide, divisor=divisor)
            m = np.clip(oracle.divide_half_even(oracle.correlate(image, wide, "reflect101"), divisor), -2**31, 2**31 - 1)
            tally.check(f"convolution wide /{divisor} {label}", got, oracle.finish(m, depth))


def test_float_convolution(library, tally, rng):
    for size, shape in ((1, (31, 24)), (3, (37, 29)), (5, (37, 29)), (7, (23, 17)), (11, (16, 12)), (31, (9, 6))):
        kernel = (rng.uniform(-1, 1, (size, size)) / size + 0.5 / size ** 2).astype(np.float32)
        for label, image, depth in pictures(rng, sizes=[(1, 1), (3, 3), shape], contents=("noise", "scene")):
            for border in BORDERS if size < 8 else ("reflect101",):
                got = library.run(image, depth, "convolution", kernel=kernel, border=border)
                m = oracle.fused_sum(image, kernel, border)
                tally.check(f"float {size}x{size} {border} {label}", got, oracle.finish(m, depth, is_float=True))
                by_cv2 = cv2.filter2D(image, -1, kernel, borderType=oracle.CV_BORDERS[border])
                by_cv2 = np.minimum(by_cv2, (1 << depth) - 1)
                tally.check(f"float filter2D {size}x{size} {border} {label}", got, by_cv2, tolerance=1)
                for choice in ({"absolute": True}, {"scale": 0.7, "delta": 3.25, "absolute": True}, {"threshold": 33}):
                    got = library.run(image, depth, "convolution", kernel=kernel, border=border, **choice)
                    tally.check(f"float {size}x{size} {choice} {label}", got, oracle.finish(m, depth, is_float=True, **choice))


TESTS = (test_operators, test_extreme_sizes, test_blur, test_blurred_operators, test_finish, test_luma, test_too_large_values,
         test_integer_convolution, test_float_convolution)


def main():
    library, tally = Library(sys.argv[1]), Tally()
    for test in TESTS:
        before = tally.passed, tally.failed
        test(library, tally, np.random.default_rng(20240229))
        passed, failed = tally.passed - before[0], tally.failed - before[1]
        print(f"{test.__name__}: {passed} passed, {failed} failed")
        if passed + failed == 0:
            print(f"FAILED {test.__name__}: nothing was compared")
            tally.failed += 1
    print(f"OpenCV {cv2.__version__}: {tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
