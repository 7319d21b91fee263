"""How long OpenCV (CPU), CuPy and PyTorch take for the rounded length of the Sobel gradient of a 4K frame of noise.

tools/bench_gpu.sh runs this where python3 is. A package that is not there is left out. Prints a line a package: name, where it
ran, us a frame (median).
"""

import time

import numpy

HEIGHT, WIDTH = 2160, 3840
FRAME = numpy.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH), dtype=numpy.uint8)
REPETITIONS = 15


def show(name, where, run, wait):
    """Times `run`; `wait` returns when the device is done."""
    for _ in range(3):
        run()
    wait()
    times = []
    for _ in range(REPETITIONS):
        begin = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - begin)
    print(f"{name:<24} {where:<7}  {sorted(times)[REPETITIONS // 2] * 1e6:>9.2f}", flush=True)


def by_opencv():
    import cv2

    def run():
        gx = cv2.Sobel(FRAME, cv2.CV_32F, 1, 0)
        gy = cv2.Sobel(FRAME, cv2.CV_32F, 0, 1)
        return cv2.convertScaleAbs(cv2.magnitude(gx, gy))

    for threads in (1, cv2.getNumberOfCPUs()):
        cv2.setNumThreads(threads)
        show(f"OpenCV, {threads} thread{'s' if threads > 1 else ''}", "cpu", run, lambda: None)


def by_cupy():
    import cupy
    from cupyx.scipy import ndimage

    frame = cupy.asarray(FRAME)

    def run():
        image = frame.astype(cupy.float32)
        length = cupy.hypot(ndimage.sobel(image, 0), ndimage.sobel(image, 1))
        return cupy.clip(cupy.rint(length), 0, 255).astype(cupy.uint8)

    show("CuPy", "cuda", run, cupy.cuda.Device().synchronize)


def by_torch():
    import torch

    frame = torch.from_numpy(FRAME).cuda()[None, None]
    along = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]], device="cuda")
    weights = torch.stack([along, along.t()])[:, None]

    def run():
        padded = torch.nn.functional.pad(frame.float(), (1, 1, 1, 1), mode="reflect")
        gradient = torch.nn.functional.conv2d(padded, weights)
        return gradient.square().sum(1).sqrt().round().clamp(0, 255).to(torch.uint8)

    show("PyTorch", "cuda", run, torch.cuda.synchronize)


for package in (by_opencv, by_cupy, by_torch):
    try:
        package()
    except Exception as problem:  # of any package, of any kind: the others still run
        print(f"{package.__name__[3:]}: left out ({type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''})")
