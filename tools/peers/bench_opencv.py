#!/usr/bin/env python3
"""bench_opencv.py FILE: OpenCV on one thread on the 3840x2160 bytes in FILE and on noise, CPU ms a frame, the fastest of many."""

import sys
import time

import cv2
import numpy

cv2.setNumThreads(1)
natural = numpy.fromfile(sys.argv[1], numpy.uint8, 3840 * 2160).reshape(2160, 3840)
random = numpy.random.default_rng(1)
noise = random.integers(0, 256, natural.shape, numpy.uint8)


def fastest(work):
    times = []
    begin = time.thread_time()
    while len(times) < 40 and (len(times) < 3 or time.thread_time() - begin < 1):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times) * 1e3


def line(name, natural_work, noise_work=None):
    both = f"{fastest(noise_work):8.3f} ms on noise" if noise_work else ""
    print(f"{name:<44} {fastest(natural_work):8.3f} ms {both}")


def on_both(name, work):
    line(name, lambda: work(natural), lambda: work(noise))


def weights(size, kind):
    if kind == "float":
        values = random.random((size, size), numpy.float32)
        return values / values.sum()
    most = 500000 if kind == "large" else 8
    return random.integers(-most, most + 1, (size, size)).astype(numpy.float32)


def length(image):
    return cv2.convertScaleAbs(cv2.magnitude(cv2.Sobel(image, cv2.CV_32F, 1, 0), cv2.Sobel(image, cv2.CV_32F, 0, 1)))


def sums(image):
    across = cv2.convertScaleAbs(cv2.Sobel(image, cv2.CV_16S, 1, 0))
    return cv2.add(across, cv2.convertScaleAbs(cv2.Sobel(image, cv2.CV_16S, 0, 1)))


print(f"OpenCV {cv2.__version__}, one thread")
line("copy", natural.copy)
line("Sobel x 2, convertScaleAbs x 2, add", lambda: sums(natural))
line("Sobel x 2 in float, magnitude", lambda: length(natural))
line("Laplacian", lambda: cv2.convertScaleAbs(cv2.Laplacian(natural, cv2.CV_16S)))
line("GaussianBlur 1.4", lambda: cv2.GaussianBlur(natural, (0, 0), 1.4))
for size in (3, 5, 9, 15, 31):
    for kind in ("small", "float", "large"):
        taps = weights(size, kind)
        line(f"filter2D {size}x{size}, {kind}", lambda: cv2.filter2D(natural, -1, taps))
on_both("Canny l1 100 200", lambda image: cv2.Canny(image, 100, 200))
on_both("Canny l2 100 200", lambda image: cv2.Canny(image, 100, 200, None, 3, True))
on_both("GaussianBlur 1.4, Canny l2 100 200",
        lambda image: cv2.Canny(cv2.GaussianBlur(image, (0, 0), 1.4), 100, 200, None, 3, True))
