#!/usr/bin/env python3
"""Where does the time of canny go?

Usage: tools/canny_time.py [PROGRAM [SVG]]   (build/src/edgecam, docs/canny_time.svg)

Samples the program on one thread with Linux's perf while it finds edges in a film that stands still: a frame of a bundled clip,
scaled to 4K, as raw gray so that there is next to nothing to decode. Samples are put together by function, which is what the
functions of the CPU backend are cut by. Needs FFmpeg, perf and a program with its symbols; draws the shares."""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
FRAMES = 120
SETTINGS = (("road, l2", "road_960x540.mp4", []), ("road, l1", "road_960x540.mp4", ["--norm", "l1"]),
            ("phone, l2", "phone_4k60_rot90.mp4", []), ("road, blur 1.4, l2", "road_960x540.mp4", ["--blur", "1.4"]))
# In the order of the work; the first that matches a function's name counts.
PARTS = (("blur", r"blur|gauss|dots|extend|run_columns"), ("bounds of gradients", r"spans?|excess|prefetch"),
         ("gradients, magnitudes, directions", r"canny_measure|measure_side|end_block|forget|ring|strip_row|strip_input|strip_run_canny"), ("maxima", r"thin|maxima"),
         ("contours", r"gain|look_along|find_reached|settle|fill|reach|edge_map|wait_for"), ("bits to bytes", r"expand|write_edges"))
COLOURS = ("#8a6", "#27c", "#59d", "#c33", "#e84", "#888", "#ccc")


def sample(program, film, options, folder):
    """Shares of the parts, of all samples within the program itself."""
    data = pathlib.Path(folder) / "perf.data"
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "5000", "-o", data, program, film, "-q", "-e", "canny",
                    "--backend", "cpu", "--threads", "1", "--luma", "raw", "--null", *options], check=True)
    report = subprocess.run(["perf", "report", "-i", data, "--no-children", "--sort", "dso,symbol", "-g", "none", "--stdio",
                             "-F", "sample,dso,symbol"], check=True, capture_output=True, text=True).stdout
    counts, unknown = collections.Counter(), collections.Counter()
    for count, object_name, function in re.findall(r"^\s*(\d+)\s+(\S+)\s+\[\.\]\s+(\S+)", report, re.M):
        if object_name != pathlib.Path(program).name:
            continue
        part = next((name for name, pattern in PARTS if re.search(pattern, function)), None)
        counts[part or "rest"] += int(count)
        if not part:
            unknown[function] += int(count)
    total = sum(counts.values())
    return {name: counts[name] / total for name in [*(p[0] for p in PARTS), "rest"]}, unknown


def draw(path, results):
    """A bar for each setting, cut into the parts."""
    width, row, left = 720, 34, 130
    names = [name for name in results[0][1] if any(shares[name] > 0 for _, shares in results)]
    height = row * len(results) + 70
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for i, (label, shares) in enumerate(results):
        lines.append(f'<text x="{left - 8}" y="{i * row + 27}" text-anchor="end" fill="#333">{label}</text>')
        x = left
        for name, colour in zip(names, COLOURS[len(COLOURS) - len(names):]):
            w = shares[name] * (width - left - 10)
            lines.append(f'<rect x="{x:.1f}" y="{i * row + 10}" width="{w:.1f}" height="{row - 9}" fill="{colour}"/>')
            if shares[name] > 0.05:
                lines.append(f'<text x="{x + w / 2:.1f}" y="{i * row + 27}" text-anchor="middle" fill="#fff">'
                             f'{100 * shares[name]:.0f} %</text>')
            x += w
    for i, (name, colour) in enumerate(zip(names, COLOURS[len(COLOURS) - len(names):])):
        x, y = left + i % 3 * 200, row * len(results) + 18 + i // 3 * 18
        lines.append(f'<rect x="{x}" y="{y - 2}" width="11" height="11" fill="{colour}"/>'
                     f'<text x="{x + 16}" y="{y + 8}" fill="#333">{name}</text>')
    pathlib.Path(path).write_text("\n".join([*lines, "</svg>"]) + "\n")


def main():
    program = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else SOURCE / "build" / "src" / "edgecam")
    picture = sys.argv[2] if len(sys.argv) > 2 else SOURCE / "docs" / "canny_time.svg"
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for label, clip, options in SETTINGS:
            film = pathlib.Path(folder) / "film.y4m"
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", SOURCE / "samples" / "media" / clip, "-vf",
                            f"scale=3840:2160:flags=bicubic,format=gray,trim=end_frame=1,loop={FRAMES}:1,setpts=N/25/TB",
                            "-frames:v", str(FRAMES), "-strict", "-1", film], check=True)
            shares, unknown = sample(program, film, options, folder)
            results.append((label, shares))
            print(f"{label:20} " + ", ".join(f"{name} {100 * share:.1f} %" for name, share in shares.items() if share > 0))
            if unknown:
                print(f"{'':20} rest: " + ", ".join(f"{name} {count}" for name, count in unknown.most_common(6)))
    draw(picture, results)


if __name__ == "__main__":
    main()
