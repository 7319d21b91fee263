"""Canny equals cv2.Canny byte by byte, and at greater depths the same definition on wider integers.

Usage: test_canny.py LIBRARY [CASES]. Exits with 77 (skipped) where Python has no OpenCV."""

import sys

try:
    import cv2
    import numpy as np
except ImportError as error:
    print(f"skipped: this Python has no OpenCV or NumPy ({error})")
    sys.exit(77)

import oracle
from edge_library import BORDERS, NORMS, Library
from test_opencv import CONTENTS, Tally, picture


def random_picture(rng, depth):
    width, height = (int(side) for side in rng.integers(1, (90, 70)))
    if rng.integers(20) == 0:
        width, height = int(rng.integers(1, 700)), int(rng.integers(1, 5))
    kind = rng.integers(4)
    if kind == 0:  # many ties and many ramps, from few values
        image = picture(width, height, depth, "zero", rng)
        image[:] = rng.integers(0, 4, image.shape) * (((1 << depth) - 1) // int(rng.integers(3, 40)))
    else:
        image = picture(width, height, depth, str(rng.choice(CONTENTS)), rng)
        if kind == 1:
            image[:] = cv2.GaussianBlur(image, (0, 0), float(rng.uniform(0.5, 3)))
    return image


def random_thresholds(rng, aperture):
    """Whole and fractional ones, in either order, from those that everything passes to those that nothing does."""
    largest = float(rng.choice([4, 60, 400, 1500])) * {3: 1, 5: 12, 7: 160}[aperture]
    low, high = (float(t) for t in rng.uniform(0, largest, 2))
    if rng.integers(2):
        low, high = np.floor(low), np.floor(high)
    return (0.0 if rng.integers(12) == 0 else low), high


def test_random(library, tally, rng, cases):
    for index in range(cases):
        depth = 8 if index % 3 else int(rng.choice([9, 10, 11, 12, 14, 16]))
        image, aperture, norm = random_picture(rng, depth), int(rng.choice([3, 3, 5, 7])), str(rng.choice(NORMS))
        low, high = random_thresholds(rng, aperture)
        sigma = float(rng.uniform(0.3, 3)) if index % 5 == 0 else 0
        border = str(rng.choice(BORDERS))
        got = library.run(image, depth, "canny", norm=norm, aperture=aperture, low=low, high=high, blur=sigma, border=border,
                          threads=1 + index % 3)
        source = oracle.blur(image, sigma, border) if sigma else image
        name = f"canny {norm} aperture {aperture} {low} {high} blur {sigma} {border} depth {depth} {image.shape[::-1]}"
        expected = oracle.canny(source, low, high, aperture=aperture, norm=norm, depth=depth)
        tally.check(name + " by definition", got, expected)
        if depth == 8:
            by_cv2 = cv2.Canny(np.ascontiguousarray(source), low, high, apertureSize=aperture, L2gradient=norm == "l2")
            tally.check(name + " by cv2", got, by_cv2)


def test_defaults(library, tally, rng, _):
    image = picture(131, 97, 8, "scene", rng)
    for low, high, used in ((None, None, (100, 200)), (30, None, (30, 200)), (150, None, (150, 300)), (None, 80, (40, 80)),
                            (None, 300, (100, 300)), (0, None, (0, 200)), (0, 0, (0, 0)), (250, 60, (60, 250))):
        got = library.run(image, 8, "canny", low=low, high=high)
        tally.check(f"canny low {low} high {high}", got, cv2.Canny(image, *used, L2gradient=True))


def test_output(library, tally, rng, _):
    for depth in (9, 10, 12, 16):
        image = picture(131, 37, depth, "scene", rng)
        expected = oracle.canny(image, 100, 200, depth=depth)
        tally.check(f"canny depth {depth}", library.run(image, depth, "canny"), expected)
        narrow = library.run(image, depth, "canny", output_depth=8)
        tally.check(f"canny depth {depth} to 8", narrow, np.where(expected > 0, 255, 0))
        limited = library.run(image, depth, "canny", limited=True)
        tally.check(f"canny depth {depth} limited", limited, oracle.canny(oracle.expand_luma(image, depth), 100, 200, depth=depth))


def contours(width, height, step, kind):
    """One long contour of which only a single pixel is strong: dark lines on gray, and one that is darker at its start."""
    image = np.full((height, width), 128, np.uint8)
    inside = image[4:-4, 4:-4]
    for k in range(0, inside.shape[0] if kind == "rows" else inside.shape[1], step):
        line, join = (inside[k], inside[k:k + step]) if kind == "rows" else (inside[:, k], inside[:, k:k + step])
        line[:] = 96
        if kind == "rows":
            join[:, -1 if k // step % 2 else 0] = 96
        else:
            join[-1 if k // step % 2 else 0] = 96
    inside[0, 0:4] = 0
    return image


def test_long_contours(library, tally, rng, _):
    for width, height in ((1000, 300), (257, 700), (64, 64)):
        for step in (4, 6, 9):
            for kind in ("rows", "columns"):
                for turned in (0, 2):
                    image = np.ascontiguousarray(np.rot90(contours(width, height, step, kind), turned))
                    for threads in (1, 3):
                        got = library.run(image, 8, "canny", norm="l1", low=20, high=250, threads=threads)
                        by_cv2 = cv2.Canny(image, 20, 250)
                        tally.check(f"contour {width}x{height} {step} {kind} {turned}", got, by_cv2)


TESTS = (test_random, test_defaults, test_output, test_long_contours)


def main():
    library, tally = Library(sys.argv[1]), Tally()
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 6000
    for test in TESTS:
        before = tally.passed, tally.failed
        test(library, tally, np.random.default_rng(20240301), cases)
        passed, failed = tally.passed - before[0], tally.failed - before[1]
        print(f"{test.__name__}: {passed} passed, {failed} failed")
        if passed + failed == 0:
            print(f"FAILED {test.__name__}: nothing was compared")
            tally.failed += 1
    print(f"OpenCV {cv2.__version__}: {tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
