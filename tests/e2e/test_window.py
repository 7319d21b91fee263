"""The window, seen by a screenshot of a screen under Xvfb and steered by synthetic keys."""

import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import support

SCREEN = (1024, 600)
SIZE = (320, 240)
PATIENCE_S = 60

if os.environ.get("EDGECAM_SANITIZED"):
    # A driver of OpenGL is unloaded with what it holds, and then no list of suppressions can name it.
    os.environ.update(SDL_RENDER_DRIVER="software", SDL_FRAMEBUFFER_ACCELERATION="0")
    os.environ.setdefault("LSAN_OPTIONS", f"suppressions={support.SOURCE}/tests/lsan.supp:print_suppressions=0")


@unittest.skipUnless(shutil.which("Xvfb") and shutil.which("xdotool"), "Xvfb or xdotool is missing")
class Window(support.Case):
    def setUp(self):
        super().setUp()
        read_end, write_end = os.pipe()
        screen = subprocess.Popen(["Xvfb", "-displayfd", str(write_end), "-screen", "0", "%dx%dx24" % SCREEN, "-nolisten", "tcp"],
                                  pass_fds=[write_end], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write_end)
        self.addCleanup(screen.wait)
        self.addCleanup(screen.terminate)
        with os.fdopen(read_end) as number:
            self.env = support.environment(DISPLAY=":" + number.readline().strip())

    def clip(self, name, picture, pixel_format="yuv420p"):
        return self.make(name, "-f", "lavfi", "-i", picture, "-pix_fmt", pixel_format, "-c:v", "ffv1")

    def still(self, name="still.mkv", size=SIZE, **options):
        return self.clip(name, "testsrc2=s=%dx%d:r=10,trim=end_frame=1,loop=30:1" % size, **options)

    def expected(self, clip):
        """The rows of the edge picture that the clip shows throughout."""
        self.edgecam(clip, "--frames", "1", "-y", "-o", "expected.y4m", "-q")
        width, height, planes = support.decode_luma(self.folder / "expected.y4m")
        return [planes[0][y * width : (y + 1) * width] for y in range(height)]

    def show(self, *arguments):
        process = subprocess.Popen([support.PROGRAM, *map(str, arguments), "--display", "-q"], env=self.env, cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def steer(self, *arguments):
        return subprocess.run(["xdotool", *map(str, arguments)], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=PATIENCE_S).stdout.decode()

    def window(self, title):
        return self.steer("search", "--sync", "--onlyvisible", "--name", title).split()[0]

    def key(self, window, key):
        self.steer("windowfocus", "--sync", window, "key", key)

    def screenshot(self, window):
        """The window's rows; every pixel must be gray."""
        place = dict(re.findall(r"(\w+)=(\d+)", self.steer("getwindowgeometry", "--shell", window)))
        x, y, width, height = (int(place[k]) for k in ("X", "Y", "WIDTH", "HEIGHT"))
        raw = support.judge("ffmpeg", "-v", "error", "-f", "x11grab", "-draw_mouse", "0", "-video_size", "%dx%d" % SCREEN, "-i",
                            self.env["DISPLAY"], "-frames:v", "1", "-vf", f"crop={width}:{height}:{x}:{y}:exact=1", "-f",
                            "rawvideo", "-pix_fmt", "rgb24", "-")
        self.assertTrue(raw[0::3] == raw[1::3] == raw[2::3], "a colour appeared")
        gray = raw[0::3]
        return [gray[i * width : (i + 1) * width] for i in range(height)]

    def wait_for(self, what, message):
        end = time.monotonic() + PATIENCE_S
        while not what():
            self.assertLess(time.monotonic(), end, message)
            time.sleep(0.05)

    def stands(self, window, picture):
        """True when the window shows `picture` (its rows), which otherwise becomes what it shows now."""
        before, picture[:] = picture[:], self.screenshot(window)
        return before == picture

    def finish(self, process, status=0):
        errors = process.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(process.returncode, status, errors)

    def test_shows_the_expected_picture(self):
        for pixel_format in ("yuv420p", "yuv420p10le"):
            clip = self.still(pixel_format=pixel_format)
            expected = self.expected(clip)
            for options in ([], ["--depth", "native"]):
                with self.subTest(pixel_format=pixel_format, options=options):
                    process = self.show(clip, "--loop", *options)
                    window = self.window("edgecam - still.mkv")
                    self.wait_for(lambda: self.screenshot(window) == expected, "the edge picture never appeared")
                    self.key(window, "q")
                    self.finish(process)

    def test_keeps_the_shape(self):
        clip = self.still()
        expected = self.expected(clip)
        process = self.show(clip, "--loop")
        window = self.window("edgecam - still.mkv")
        self.steer("windowsize", "--sync", window, 640, 240)
        bar = bytes(160)
        self.wait_for(lambda: self.screenshot(window) == [bar + row + bar for row in expected], "no picture between black bars")
        self.key(window, "Escape")
        self.finish(process)

    def test_odd_and_small_pictures(self):
        for size in ((161, 121), (3, 2)):
            with self.subTest(size=size):
                clip = self.clip("small.mkv", "testsrc2=s=%dx%d:r=10:d=1" % size, "gray")
                process = self.show(clip, "--loop")
                window = self.window("edgecam - small.mkv")
                self.key(window, "q")
                self.finish(process)

    def test_space_pauses(self):
        clip = self.clip("moving.mkv", "testsrc2=s=320x240:r=25:d=4")
        process = self.show(clip, "--loop")
        window = self.window("edgecam - moving.mkv")
        first = self.screenshot(window)
        self.wait_for(lambda: self.screenshot(window) != first, "the picture does not move")
        self.key(window, "space")
        still = self.screenshot(window)
        self.wait_for(lambda: self.stands(window, still), "the picture never stood still")
        for _ in range(5):
            time.sleep(0.1)
            self.assertEqual(self.screenshot(window), still)
        self.key(window, "space")
        self.wait_for(lambda: self.screenshot(window) != still, "the picture does not go on")
        process.send_signal(signal.SIGTERM)
        self.finish(process, 143)

    def test_keeps_time(self):
        """Thirty frames of a tenth of a second each: a window alone plays them at their pace, and every one is counted."""
        clip = self.still()
        begin = time.monotonic()
        self.edgecam(clip, "--display", env=self.env)
        self.assertGreater(time.monotonic() - begin, 2.8)

    def test_beside_a_file(self):
        clip = self.still()
        self.edgecam(clip, "--display", "-o", "out.mkv", env=self.env)
        self.assertEqual(support.video_of(support.probe(self.folder / "out.mkv"))["nb_read_frames"], "31")


class NoDisplay(support.Case):
    def test_message(self):
        clip = self.short_clip()
        text = self.message(clip, "--display", expect=5, env=support.environment(DISPLAY=":987", XDG_RUNTIME_DIR=str(self.folder)))
        self.assertIn("no display", text)
        self.assertIn("-o", text)


if __name__ == "__main__":
    support.main()
