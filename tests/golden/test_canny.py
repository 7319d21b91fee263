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
from edge_library import AUTOMATIC, BORDERS, NORMS, Library
from test_opencv import CONTENTS, Tally, picture


def random_picture(rng, depth):
    width, height = (int(side) for side in rng.integers(1, (90, 70)))
    if rng.integers(20) == 0:
        width, height = int(rng.integers(1, 700)), int(rng.integers(1, 5))
    elif rng.integers(40) == 0:  # several groups of rows, of several blocks of columns
        width, height = int(rng.integers(120, 1400)), int(rng.integers(9, 60))
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


def random_colours(rng, depth):
    """Three channels: unlike ones, or like ones with some pixels changed, so that gradients are equal in many places."""
    red = random_picture(rng, depth)
    channels = [red]
    for _ in range(2):
        kind = rng.integers(3)
        other = red.copy() if kind else rng.integers(0, 1 << depth, red.shape, red.dtype)
        if kind == 2:
            other = np.ascontiguousarray(np.rot90(red, 2))
        changed = rng.random(red.shape) < rng.choice([0, 0.01, 0.3])
        other[changed] = rng.integers(0, 1 << depth, red.shape, red.dtype)[changed]
        channels.append(other)
    return np.dstack([channels[i] for i in rng.permutation(3)])


def test_colour(library, tally, rng, cases):
    for index in range(cases // 4):
        depth = 8 if index % 3 else int(rng.choice([9, 10, 11, 12, 14, 16]))
        image, aperture, norm = random_colours(rng, depth), int(rng.choice([3, 3, 5, 7])), str(rng.choice(NORMS))
        low, high = random_thresholds(rng, aperture)
        sigma = float(rng.uniform(0.3, 3)) if index % 5 == 0 else 0
        got = library.run(image, depth, "canny", norm=norm, aperture=aperture, low=low, high=high, blur=sigma,
                          threads=1 + index % 3)
        source = image
        if sigma:
            source = np.dstack([oracle.blur(np.ascontiguousarray(image[:, :, c]), sigma, "reflect101") for c in range(3)])
        name = f"canny rgb {norm} aperture {aperture} {low} {high} blur {sigma} depth {depth} {image.shape[1::-1]}"
        tally.check(name + " by definition", got, oracle.canny(source, low, high, aperture=aperture, norm=norm, depth=depth))
        if depth == 8:
            by_cv2 = cv2.Canny(np.ascontiguousarray(source), low, high, apertureSize=aperture, L2gradient=norm == "l2")
            tally.check(name + " by cv2", got, by_cv2)


def test_automatic(library, tally, rng, cases):
    """Each picture by itself: the thresholds are the definition's, to a sixteenth, and given by hand they find the same edges."""
    for index in range(cases // 6):
        depth = 8 if index % 3 else int(rng.choice([9, 10, 12, 16]))
        image = random_colours(rng, depth) if index % 4 == 0 else random_picture(rng, depth)
        aperture, norm, kind = int(rng.choice([3, 3, 5, 7])), str(rng.choice(NORMS)), str(rng.choice(AUTOMATIC[1:]))
        options = {"norm": norm, "aperture": aperture}
        threads = 1 + index % 3
        [(edges, chosen)] = library.sequence([image], depth, "canny", automatic=kind, threads=threads, **options)
        name = f"canny auto {kind} {norm} aperture {aperture} depth {depth} {image.shape[1::-1]}"
        wanted = oracle.automatic(image, kind, depth=depth, **options)
        gain = {3: 1, 5: 12, 7: 160}[aperture]
        if kind == "otsu" and oracle.otsu_is_as_good(image, chosen[1] / gain, depth=depth):
            wanted = (max(chosen[1] / 2, 8.0 * gain), chosen[1])
        tally.check(name, np.abs(np.array([chosen]) - np.array([wanted])) <= 1 / 16, np.array([[True, True]]))
        tally.check(name + " by hand", edges, library.run(image, depth, "canny", low=chosen[0], high=chosen[1], **options))


def test_following(library, tally, rng, _):
    """Thresholds move towards what each picture asks for as its time says, and jump where a scene begins."""
    scene = picture(256, 192, 8, "scene", rng).astype(np.float64)
    for kind in AUTOMATIC[1:]:
        gains = 0.6 + 0.1 * np.cumsum(rng.uniform(-0.4, 0.5, 12))
        images = [np.clip(scene * gain + rng.normal(0, 2, scene.shape), 0, 255).astype(np.uint8) for gain in gains]
        images[7] = 255 - images[7] // 4  # much brighter than the one before
        times = np.cumsum(rng.uniform(0.01, 0.3, len(images)))
        times[3] = times[2]  # counts as 40 ms later
        results = library.sequence(images, 8, "canny", automatic=kind, auto_time=0.25, times=list(times))
        state = None
        for k, image in enumerate(images):
            wanted = np.array(oracle.automatic(image, kind))
            begins = k in (0, 7, 8)
            elapsed = times[k] - times[k - 1] if k and times[k] > times[k - 1] else 0.04
            state = wanted if begins else state + (wanted - state) * (1 - np.exp(-elapsed / 0.25))
            chosen = np.array(results[k][1])
            tally.check(f"canny auto {kind} frame {k}: {chosen}, expected {state}", np.abs(chosen - state)[None] < 0.2,
                        np.array([[True, True]]))
            by_hand = library.run(image, 8, "canny", low=chosen[0], high=chosen[1])
            tally.check(f"canny auto {kind} frame {k} by hand", results[k][0], by_hand)


def random_film(rng, depth, length=6):
    """A picture with noise of different strength in which a part moves."""
    base = picture(int(rng.integers(5, 140)), int(rng.integers(5, 90)), depth, "scene", rng).astype(np.float64)
    if rng.integers(3) == 0:
        base = np.dstack([np.roll(base, shift, 1) for shift in (0, 1, 2)])
    unit, height, width = 2.0 ** (depth - 8), *base.shape[:2]
    sigma, frames = float(rng.choice([1, 4, 9, 20])), []
    for k in range(length):
        frame = base.copy()
        x, y = 9 * k % width, 5 * k % height
        frame[y:y + 21, x:x + 25] = (1 << depth) - 1 - frame[y:y + 21, x:x + 25]
        frame = np.rint(frame + rng.normal(0, sigma * unit, frame.shape))
        frames.append(np.clip(frame, 0, (1 << depth) - 1).astype(np.uint8 if depth == 8 else np.uint16))
    return frames


def test_stable(library, tally, rng, cases):
    differ = 0
    for index in range(cases // 40):
        depth = 8 if index % 3 else int(rng.choice([9, 10, 12, 16]))
        film, aperture, norm = random_film(rng, depth), int(rng.choice([3, 3, 5, 7])), str(rng.choice(NORMS))
        gain = {3: 1, 5: 12, 7: 160}[aperture]
        low, high = float(rng.uniform(20, 120)) * gain, float(rng.uniform(60, 300)) * gain
        strength = float(rng.choice([0.1, 0.5, 1]))
        options = {"norm": norm, "aperture": aperture}
        got = library.sequence(film, depth, "canny", low=low, high=high, stable=strength, threads=1 + index % 3, **options)
        wanted = oracle.canny_film(film, low, high, strength, depth=depth, **options)
        for k, (edges, _) in enumerate(got):
            name = f"canny stable {strength} {norm} aperture {aperture} {low} {high} depth {depth} frame {k} {film[0].shape}"
            tally.check(name, edges, wanted[k])
            differ += k > 0 and (wanted[k] != oracle.canny(film[k], low, high, depth=depth, **options)).any()
    tally.check("canny stable looks back", np.array([[differ > cases // 40]]), np.array([[True]]))


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


def contour(width, height, step):
    """One line of three pixels through the whole picture that turns at the borders, and is darker where it begins."""
    image = np.full((height, width), 128, np.uint8)
    last = width - 8
    for k, y in enumerate(range(4, height, step)):
        image[y:y + 3, 4:last + 3] = 96
        turn = 4 if k % 2 else last
        image[y:y + step + 3, turn:turn + 3] = 96
    image[4:7, 4:10] = 0
    return image


def test_long_contours(library, tally, rng, _):
    """A single strong place makes an edge of the whole line; the blur rounds the turns, at which it would break."""
    for width, height in ((1000, 300), (257, 700), (64, 64)):
        for step in (10, 13):
            for turned in range(4):
                image = np.ascontiguousarray(np.rot90(contour(width, height, step), turned))
                by_cv2 = cv2.Canny(oracle.blur(image, 1.4, "reflect101"), 10, 150)
                whole = cv2.Canny(oracle.blur(image, 1.4, "reflect101"), 10, 11)
                name = f"contour {width}x{height} {step} turned {turned}"
                tally.check(name + " is one", np.array([[(by_cv2 > 0).sum() > 0.9 * (whole > 0).sum()]]), np.array([[True]]))
                for threads in (1, 3):
                    got = library.run(image, 8, "canny", norm="l1", low=10, high=150, blur=1.4, threads=threads)
                    tally.check(name, got, by_cv2)


TESTS = (test_random, test_colour, test_automatic, test_following, test_stable, test_defaults, test_output, test_long_contours)


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
