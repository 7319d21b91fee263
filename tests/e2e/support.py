"""What the end-to-end tests share: the program, FFmpeg's tools as independent judges, and a folder for each test.

Environment: EDGECAM_PROGRAM (the program), EDGECAM_SOURCE_DIR, EDGECAM_BUILD_DIR; EDGECAM_FFMPEG (an ffmpeg for the program's
processor, where that is not this machine's); EDGECAM_TEST_MEDIA may name a folder with more clips. Python's standard library only;
NumPy and OpenCV where a test says so.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("EDGECAM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("EDGECAM_BUILD_DIR", SOURCE / "build"))
PROGRAM = os.environ.get("EDGECAM_PROGRAM", str(BUILD / "src" / "edgecam"))
FFMPEG = os.environ.get("EDGECAM_FFMPEG", "ffmpeg")  # libswscale's colours differ between processors
EMULATED = FFMPEG != "ffmpeg"  # the program is for another processor than this machine's
MEDIA = SOURCE / "samples" / "media"
ROAD = MEDIA / "road_960x540.mp4"  # 221 frames, 25 fps, limited range, AAC
PHONE = MEDIA / "phone_4k60_rot90.mp4"  # 18 frames of 3840x2160 to be turned upright, full range
MORE_MEDIA = pathlib.Path(os.environ["EDGECAM_TEST_MEDIA"]) if os.environ.get("EDGECAM_TEST_MEDIA") else None
SANITIZED = bool(os.environ.get("EDGECAM_SANITIZED"))  # the program is slower then, and needs its sanitizer's runtime
END_LIMIT_S = 15.0 if SANITIZED else 2.0  # of the end of a run after a signal
TIME_LIMIT_S = 300  # of one command, sanitizers included

try:
    import cv2
    import numpy
except ImportError:
    cv2 = numpy = None

# Many short runs that differ in their bytes, not in their threads: ThreadSanitizer has seen enough of those elsewhere.
about_bytes = unittest.skipIf("thread" in os.environ.get("EDGECAM_SANITIZED", ""), "nothing new for ThreadSanitizer")
needs_opencv = unittest.skipUnless(cv2, "NumPy or OpenCV is missing")


def environment(**changes):
    """The tests' environment: no display unless a test brings one, C locale. A value of None removes a variable."""
    result = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")}
    result["LC_ALL"] = "C"
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = value
    return result


def judge(*command, **options):
    """Standard output of an FFmpeg tool that must succeed."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_LIMIT_S, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} failed: {done.stderr.decode(errors='replace')}")
    return done.stdout


def probe(path):
    """ffprobe's view of a file, decoded frames counted: {"format": ..., "streams": [...]}."""
    return json.loads(judge("ffprobe", "-v", "error", "-count_frames", "-show_format", "-show_streams", "-of", "json", path))


def video_of(info):
    return next(s for s in info["streams"] if s["codec_type"] == "video")


def packets_md5(path, stream):
    """MD5 of a stream's packets as they are."""
    return judge("ffmpeg", "-v", "error", "-i", path, "-map", f"0:{stream}", "-c", "copy", "-f", "md5", "-").decode().strip()


def decode_luma(path, count=None, turn=True):
    """The Y planes of an 8-bit 4:2:0 or gray video as FFmpeg decodes (and turns) them: a list of bytes."""
    info = video_of(probe(path))
    flags = [] if turn else ["-noautorotate"]
    limit = ["-frames:v", str(count)] if count else []
    raw = judge("ffmpeg", "-v", "error", *flags, "-i", path, "-map", "0:v:0", *limit, "-vsync", "passthrough", "-f", "yuv4mpegpipe", "-")
    header, _, rest = raw.partition(b"\n")
    words = {w[:1]: w[1:] for w in header.split()[1:]}
    width, height, chroma = int(words[b"W"]), int(words[b"H"]), words.get(b"C", b"420")
    size = width * height
    frame = size if chroma.startswith(b"mono") else size + 2 * ((width + 1) // 2) * ((height + 1) // 2)
    assert chroma.startswith((b"420", b"mono")) and info, chroma
    planes = []
    for at in range(0, len(rest), 6 + frame):
        assert rest.startswith(b"FRAME\n", at), rest[at : at + 20]
        planes.append(rest[at + 6 : at + 6 + size])
    return width, height, planes


def decode_rgb(path, count, filters=None):
    """The RGB24 pictures of a video as FFmpeg decodes, filters, turns and converts them: width, height, a list of bytes."""
    chain = ["-vf", filters] if filters else []
    raw = judge(FFMPEG, "-v", "error", "-i", path, "-map", "0:v:0", *chain, "-frames:v", str(count), "-pix_fmt", "rgb24", "-c:v", "ppm",
                "-f", "image2pipe", "-")
    pictures = []
    while raw:
        magic, size, _, rest = raw.split(b"\n", 3)
        width, height = map(int, size.split())
        assert magic == b"P6", magic
        pictures.append(rest[: 3 * width * height])
        raw = rest[3 * width * height :]
    return width, height, pictures


def expand_limited(plane):
    """floor((y - 16) * 255 / 219 + 1/2), clamped: in integers, floor((2 * 255 * (y - 16) + 219) / 438)."""
    y = numpy.arange(256, dtype=numpy.int64)
    table = numpy.clip((510 * (y - 16) + 219) // 438, 0, 255).astype(numpy.uint8)
    return table[plane]


def sobel_by_opencv(plane, width, height, limited, norm="l2"):
    """OpenCV's Sobel and the rounded length of the gradient. Single precision holds the sums of squares exactly, and no root up to
    255 comes closer to a half than 1 / (8 * 255)."""
    image = numpy.frombuffer(plane, numpy.uint8).reshape(height, width)
    if limited:
        image = expand_limited(image)
    gx = cv2.Sobel(image, cv2.CV_32F, 1, 0)
    gy = cv2.Sobel(image, cv2.CV_32F, 0, 1)
    length = numpy.abs(gx) + numpy.abs(gy) if norm == "l1" else numpy.rint(numpy.sqrt(gx * gx + gy * gy))
    return numpy.clip(length, 0, 255).astype(numpy.uint8)


def md5(data):
    return hashlib.md5(data).hexdigest()


class Case(unittest.TestCase):
    """A test with a folder of its own, gone afterwards."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="edgecam-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def edgecam(self, *arguments, expect=0, env=None, **options):
        """Runs the program to its end and checks its exit status; gives back the finished process (bytes)."""
        options.setdefault("stdin", subprocess.DEVNULL if "input" not in options else None)
        if "input" in options:
            options.pop("stdin")
        done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=TIME_LIMIT_S, env=env or environment(), cwd=self.folder, **options)
        self.assertEqual(done.returncode, expect, f"edgecam {arguments}: {done.stderr.decode(errors='replace')}")
        return done

    def message(self, *arguments, expect, **options):
        """The sentence of a run that must fail: exactly one line is on standard error, and it is a sentence of ours."""
        text = self.edgecam(*arguments, expect=expect, **options).stderr.decode(errors="surrogateescape")
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.startswith("edgecam: "), text)
        return text

    def hashes(self, *arguments, **options):
        """[(index, seconds, md5)] of a run with --hash."""
        lines = self.edgecam(*arguments, "--hash", **options).stdout.decode().splitlines()
        return [(int(i), float(t), h) for i, t, h in (line.split() for line in lines)]

    def make(self, name, *arguments):
        """A clip by FFmpeg: make("a.mp4", "-f", "lavfi", "-i", "testsrc2=...")."""
        path = self.folder / name
        judge("ffmpeg", "-nostdin", "-v", "error", "-y", *arguments, path)
        return path

    def short_clip(self, name="short.mp4", size="320x240", frames=10, *arguments):
        return self.make(name, "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25", "-frames:v", str(frames), "-c:v", "libx264",
                         "-preset", "ultrafast", "-pix_fmt", "yuv420p", *arguments)

    def assert_only(self, *names):
        """The folder holds these files and nothing else: no half-written output, no temporary."""
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), sorted(names))


class Running(Case):
    """Tests that do something to a running program."""

    def start(self, *arguments, frames=5):
        """A running program, known to be past its first frames."""
        p = subprocess.Popen([PROGRAM, *map(str, arguments), "--progress", "json"], cwd=self.folder, env=environment(),
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.stdout.close)
        self.addCleanup(lambda: p.poll() is None and p.kill())
        self.wait_for_frames(p, frames)
        return p

    def wait_for_frames(self, p, frames):
        """Until its progress, JSON on standard error, tells of more."""
        for line in p.stderr:
            if line.startswith(b"{") and json.loads(line)["frame"] > frames:
                return
        self.fail(f"the program ended early with status {p.wait()}")

    def finish(self, p, limit_s=END_LIMIT_S):
        begin = time.monotonic()
        p.stderr.read()
        status = p.wait(timeout=60)
        self.assertLess(time.monotonic() - begin, limit_s)
        return status


def main():
    """Runs the tests of the calling file; exit status 77 when every one was skipped."""
    if not shutil.which("ffmpeg") or not shutil.which("ffprobe"):
        print("skipped: ffmpeg and ffprobe are needed to judge the results")
        sys.exit(77)
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    if failed:
        sys.exit(1)
    sys.exit(77 if result.testsRun == len(result.skipped) else 0)
