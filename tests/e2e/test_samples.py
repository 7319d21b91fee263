"""The samples: those on the library in the hands of a stranger who has the installed package only, those in CUDA without a GPU."""

import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import support
from support import BUILD, SANITIZED, SOURCE, cv2, numpy

SAMPLES = SOURCE / "samples"
FOREIGN = ("embed", "webcam_min", "when_not_to")
CUDA = tuple(sorted(p.stem for p in SAMPLES.glob("*.cu")))


programs = environment = None


def setUpModule():
    """Builds the samples on the library outside of the tree, against an installed package. A sanitized library needs its runtime
    in the program: there the ones of the build are taken."""
    global programs, environment
    if SANITIZED or not shutil.which("pkg-config"):
        programs, environment = BUILD / "samples", support.environment()
        if not (programs / "embed").exists():
            raise unittest.SkipTest("built without the samples")
        return
    programs = pathlib.Path(tempfile.mkdtemp(prefix="edgecam-samples-"))
    unittest.addModuleCleanup(shutil.rmtree, programs, ignore_errors=True)
    support.judge("cmake", "--install", BUILD, "--prefix", programs / "prefix")
    pc = next(programs.rglob("edgecam.pc")).parent
    found = support.judge("pkg-config", "--cflags", "--libs", "edgecam", env=support.environment(PKG_CONFIG_PATH=str(pc)))
    shutil.copy(SAMPLES / "sample.h", programs)
    for name in FOREIGN:
        shutil.copy(SAMPLES / f"{name}.c", programs)
        support.judge("cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", f"{name}.c", "-o", name,
                      *shlex.split(found.decode()), "-lm", cwd=programs)
    environment = support.environment(LD_LIBRARY_PATH=str(pc.parent))


class Sample(support.Case):
    def run_sample(self, name, *arguments, expect=0, **changes):
        done = subprocess.run([programs / name, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=support.TIME_LIMIT_S, env={**environment, **changes},
                              cwd=self.folder)
        self.assertEqual(done.returncode, expect, f"{name} {arguments}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode(), done.stderr.decode()


class Embed(Sample):
    def pgm(self, name, pixels, width, height, header="P5\n%d %d\n255\n"):
        (self.folder / name).write_bytes((header % (width, height)).encode() + bytes(pixels))

    def pixels(self, name):
        raw = (self.folder / name).read_bytes()
        header, rest = re.fullmatch(rb"(P5\n\d+ \d+\n255\n)(.*)", raw, re.DOTALL).groups()
        return header, rest

    @support.needs_opencv
    def test_the_edges_are_opencvs(self):
        image = numpy.random.default_rng(1).integers(0, 256, (37, 61), numpy.uint8)
        self.pgm("in.pgm", image.tobytes(), 61, 37, "P5 # made by hand\n# two comments\n%d\t%d 255\n")
        said, _ = self.run_sample("embed", "in.pgm", "sobel.pgm")
        self.assertRegex(said, r"\A61 x 37 pixels, sobel on the (cpu|cuda)\n\Z")
        header, result = self.pixels("sobel.pgm")
        self.assertEqual(header, b"P5\n61 37\n255\n")
        self.assertEqual(result, support.sobel_by_opencv(image.tobytes(), 61, 37, False).tobytes())
        self.run_sample("embed", "in.pgm", "canny.pgm", "canny")
        self.assertEqual(self.pixels("canny.pgm")[1], cv2.Canny(image, 100, 200, L2gradient=True).tobytes())

    def test_what_is_no_picture_is_refused(self):
        self.pgm("good.pgm", range(12), 4, 3)
        self.pgm("short.pgm", range(11), 4, 3)
        self.pgm("deep.pgm", range(24), 4, 3, "P5\n%d %d\n65535\n")
        self.pgm("plain.pgm", b"1 2 3", 3, 1, "P2\n%d %d\n255\n")
        self.pgm("huge.pgm", b"", 99999999999, 9, "P5\n%d %d\n255\n")
        self.pgm("empty.pgm", b"", 0, 9)
        for name in ("short", "deep", "plain", "huge", "empty"):
            with self.subTest(name=name):
                _, said = self.run_sample("embed", f"{name}.pgm", "out.pgm", expect=1)
                self.assertEqual(said, f"embed: '{name}.pgm' is not a complete 8-bit PGM image (P5, largest value 255)\n")
        self.assertIn("cannot be opened", self.run_sample("embed", "none.pgm", "out.pgm", expect=1)[1])
        self.assertIn("'sobbel'", self.run_sample("embed", "good.pgm", "out.pgm", "sobbel", expect=1)[1])
        self.assertIn("cannot be written", self.run_sample("embed", "good.pgm", "no/out.pgm", expect=1)[1])
        self.assertIn("usage", self.run_sample("embed", "good.pgm", expect=2)[1])
        self.assertFalse((self.folder / "out.pgm").exists())
        self.run_sample("embed", "good.pgm", "out.pgm")


class Webcam(Sample):
    """A file stands for the camera, SDL's dummy driver for the display."""

    def test_every_frame_of_a_file_is_shown(self):
        clip = self.short_clip(frames=12)
        said, _ = self.run_sample("webcam_min", clip, "scharr", SDL_VIDEODRIVER="dummy")
        self.assertRegex(said, r"\A12 frames on (cpu|cuda), \d+\.\d a second, 0 dropped, ")

    def test_no_camera_is_status_3(self):
        _, said = self.run_sample("webcam_min", "/dev/video-none", SDL_VIDEODRIVER="dummy", expect=3)
        self.assertIn("/dev/video-none", said)

    def test_no_operator_is_status_2(self):
        _, said = self.run_sample("webcam_min", "demo:64x48@30", "sobbel", expect=2)
        self.assertEqual(said, "webcam_min: there is no operator 'sobbel'\n")

    def test_it_stays_under_a_hundred_lines(self):
        self.assertLess(len((SAMPLES / "webcam_min.c").read_text().splitlines()), 100)


class BreakEven(Sample):
    def test_rows_are_checked_and_the_answer_is_given(self):
        said, _ = self.run_sample("when_not_to", 256)
        rows = [line.split(" | ") for line in said.splitlines() if re.match(r"\| \d+ x \d+, ", line)]
        self.assertIn(len(rows), (6, 9))  # 64, 128, 256 wide: a core, all cores, and perhaps a GPU
        self.assertEqual({row[-1] for row in rows}, {"passed |"})
        self.assertRegex(said, r"(?:(?:No GPU can be used here|On this machine).*\n){2}\Z")

    def test_the_size_must_be_a_number(self):
        for word in ("x", "12x", "0", "-5", ""):
            with self.subTest(word=word):
                _, said = self.run_sample("when_not_to", word, expect=2)
                self.assertIn(f"'{word}' is not a number from", said)


class Ladder(support.Case):
    def built(self):
        programs = [BUILD / "samples" / name for name in CUDA]
        if not all(p.exists() for p in programs):
            self.skipTest("built without CUDA")
        return programs

    def test_without_a_gpu_one_sentence_says_so(self):
        for program in self.built():
            with self.subTest(program=program.name):
                done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=support.TIME_LIMIT_S,
                                      env=support.environment(CUDA_VISIBLE_DEVICES=""))
                self.assertEqual((done.returncode, done.stderr), (77, b""))
                said = done.stdout.decode()
                self.assertTrue(said.startswith(f"{program.name}: nothing was measured, because ") and said.count("\n") == 1, said)

    def test_the_script_runs_what_can_run(self):
        if SANITIZED:
            self.skipTest("figures of a sanitized build mean nothing")
        programs = self.folder / "samples"
        programs.mkdir()
        for name in CUDA:
            (programs / name).write_text("#!/bin/sh\necho \"$(basename $0) $*\"\nexit 77\n")
        (programs / "when_not_to").write_text("#!/bin/sh\nexit ${WRONG:-0}\n")
        for program in programs.iterdir():
            program.chmod(0o755)
        script = [str(SAMPLES / "run_all.sh"), str(self.folder), "trace.json"]
        said = support.judge(*script, env=support.environment()).decode()
        self.assertEqual(re.findall("^### (.*)$", said, re.MULTILINE), ["matmul", "coalescing", "convolution", "streams", "occupancy",
                                                                        "divergence", "when_not_to"])
        self.assertIn("streams 60 8294400 trace.json\n", said)
        failed = subprocess.run(script, stdout=subprocess.DEVNULL, timeout=support.TIME_LIMIT_S, env=support.environment(WRONG="1"))
        self.assertEqual(failed.returncode, 1)

    def test_the_course_names_every_program(self):
        course = (SAMPLES / "README.md").read_text()
        for name in (*CUDA, *FOREIGN):
            self.assertIn(f"`{name}`", course)

    def test_the_files_that_the_course_points_at_are_there(self):
        named = set()
        for text in (SAMPLES / "README.md", *SAMPLES.glob("*.c*"), *SAMPLES.glob("*.h")):
            named.update(re.findall(r"\b(?:cuda|samples|src)/[a-z_/]+\.[a-z]+\b", text.read_text()))
        self.assertGreater(len(named), 8)
        self.assertEqual([name for name in sorted(named) if not (SOURCE / name).is_file()], [])

    def test_programs_stay_short(self):
        for source in (*SAMPLES.glob("*.c*"), *SAMPLES.glob("*.h")):
            with self.subTest(source=source.name):
                self.assertTrue(50 <= len(source.read_text().splitlines()) <= 250, source.name)


if __name__ == "__main__":
    support.main()
