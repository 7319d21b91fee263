#!/usr/bin/env python3
"""How much do edges flicker, without and with --stable?

Usage: tools/flicker.py [PROGRAM [SVG]]   (build/src/edgecam, docs/flicker.svg)

Flicker is the share of edge pixels that change from a frame to the next where the source does not move. Two films: the bundled
road clip, where "does not move" means that the luma around a pixel (9x9) differs by less than 3 on average; and its first frame,
standing still, with camera noise. Thresholds with --stable are scaled until both have the same number of edge pixels. Needs
FFmpeg and NumPy; draws the road's flicker, each point the mean around a frame."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parents[1]
ROAD = SOURCE / "samples" / "media" / "road_960x540.mp4"
SETTLED = 5  # frames at the beginning that do not count
WINDOW = 11  # frames that a point of the picture stands for
LOW, HIGH, STRENGTH = 100, 200, 0.5


def frames_of(command):
    """The gray planes of a yuv4mpegpipe stream."""
    raw = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout
    header, _, rest = raw.partition(b"\n")
    words = {w[:1]: w[1:] for w in header.split()[1:]}
    width, height = int(words[b"W"]), int(words[b"H"])
    step = len(b"FRAME\n") + width * height
    return np.stack([np.frombuffer(rest, np.uint8, width * height, at + 6).reshape(height, width)
                     for at in range(0, len(rest) - step + 1, step)])


def luma(clip):
    return frames_of(["ffmpeg", "-v", "error", "-i", clip, "-pix_fmt", "gray", "-strict", "-1", "-f", "yuv4mpegpipe", "-"])


def edges(program, clip, scale, *options):
    return frames_of([program, clip, "-q", "-e", "canny", "--low", LOW * scale, "--high", HIGH * scale, "-o", "-", *options]) > 0


def box_mean(image, size):
    padded = np.pad(image.astype(np.float64), size // 2, mode="edge").cumsum(0).cumsum(1)
    padded = np.pad(padded, ((1, 0), (1, 0)))
    return (padded[size:, size:] - padded[:-size, size:] - padded[size:, :-size] + padded[:-size, :-size]) / size**2


def still_masks(planes):
    return np.stack([box_mean(np.abs(a.astype(np.int16) - b), 9) < 3 for a, b in zip(planes[1:], planes)])


def flicker(found, masks):
    """Of each frame but the first: changed pixels in the mask, and edge pixels there (the mean of both frames)."""
    changed = ((found[1:] ^ found[:-1]) & masks).sum((1, 2))
    total = ((found[1:] & masks).sum((1, 2)) + (found[:-1] & masks).sum((1, 2))) / 2
    return changed[SETTLED:], total[SETTLED:]


def over_time(changed, total):
    """The share that changes around each frame."""
    window = np.ones(WINDOW)
    return np.convolve(changed, window, "valid") / np.maximum(np.convolve(total, window, "valid"), 1)


def equal_count(program, clip, wanted):
    """The scale of both thresholds with which --stable finds as many edges."""
    low, high = 0.9, 1.5
    for _ in range(8):
        middle = (low + high) / 2
        if edges(program, clip, middle, f"--stable={STRENGTH}")[SETTLED:].sum() > wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def compare(program, name, clip, masks):
    off = edges(program, clip, 1)
    scale = equal_count(program, clip, off[SETTLED:].sum())
    on = edges(program, clip, scale, f"--stable={STRENGTH}")
    results = []
    for label, found in (("off", off), (f"--stable={STRENGTH}", on)):
        changed, total = flicker(found, masks)
        results.append(over_time(changed, total))
        print(f"{name:12} {label:14} thresholds x {1 if label == 'off' else scale:.3f}  "
              f"{found[SETTLED:].mean() * 100:5.2f} % edges  {changed.sum() / total.sum() * 100:5.1f} % of them change")
    return results


def draw(path, series):
    """A line for each series, in percent over frames."""
    width, height, left, bottom = 720, 240, 44, 30
    top = max(s.max() for s in series) * 1.05
    x = lambda i: left + i * (width - left - 10) / (len(series[0]) - 1)
    y = lambda v: 10 + (1 - v / top) * (height - bottom - 10)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for percent in range(0, int(top * 100) + 1, 10):
        lines.append(f'<path d="M{left} {y(percent / 100):.1f}H{width - 10}" stroke="#ddd"/>'
                     f'<text x="{left - 6}" y="{y(percent / 100) + 4:.1f}" text-anchor="end" fill="#555">{percent} %</text>')
    for values, colour, label, at in zip(series, ("#c33", "#27c"), ("off", f"--stable={STRENGTH}"), (100, 150)):
        points = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(values))
        lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{points}"/>'
                     f'<text x="{at}" y="{height - 8}" fill="{colour}">{label}</text>')
    lines.append(f'<text x="{width - 10}" y="{height - 8}" text-anchor="end" fill="#555">frame of the road clip</text></svg>')
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else SOURCE / "build" / "src" / "edgecam"
    picture = sys.argv[2] if len(sys.argv) > 2 else SOURCE / "docs" / "flicker.svg"
    with tempfile.TemporaryDirectory() as folder:
        for strength in (4, 8, 16):
            noisy = pathlib.Path(folder) / f"noise{strength}.mkv"
            subprocess.run(["ffmpeg", "-v", "error", "-i", ROAD, "-vf",
                            f"trim=end_frame=1,loop=39:1,setpts=N/25/TB,format=gray,noise=c0s={strength}:c0f=t:c0_seed=1",
                            "-c:v", "ffv1", noisy], check=True)
            sigma = np.diff(luma(noisy).astype(np.float64), axis=0).std() / 2**0.5
            compare(program, f"noise {sigma:.1f}", noisy, np.True_)
    draw(picture, compare(program, "road", ROAD, still_masks(luma(ROAD))))


if __name__ == "__main__":
    main()
