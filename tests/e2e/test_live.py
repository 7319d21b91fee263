"""A live source: a screen under Xvfb stands in for a camera."""

import os
import shutil
import subprocess
import unittest

import support


@unittest.skipUnless(shutil.which("Xvfb"), "Xvfb is missing")
class Webcam(support.Case):
    def setUp(self):
        super().setUp()
        read_end, write_end = os.pipe()
        self.screen = subprocess.Popen(["Xvfb", "-displayfd", str(write_end), "-screen", "0", "320x240x24", "-nolisten", "tcp"],
                                       pass_fds=[write_end], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write_end)
        with os.fdopen(read_end) as number:
            self.display = ":" + number.readline().strip()
        self.addCleanup(self.screen.wait)
        self.addCleanup(self.screen.terminate)

    def test_screen_into_a_file(self):
        done = self.edgecam(f"--webcam=x11grab:{self.display}", "-o", "live.mkv", "--frames", "12", "--stats", "-")
        video = support.video_of(support.probe(self.folder / "live.mkv"))
        frames = support.json.loads(done.stdout)["frames"]
        self.assertEqual((video["width"], video["height"], int(video["nb_read_frames"])), (320, 240, frames["out"]))
        self.assertEqual(frames["out"], 12, "dropped frames do not count")

    def test_options_reach_the_device(self):
        self.edgecam("--webcam", self.display, "-f", "x11grab", "--input-opt", "video_size=160x120", "--null", expect=2)
        lines = self.hashes(f"--webcam=x11grab:{self.display}", "--input-opt", "video_size=160x120", "--input-opt", "framerate=50",
                            "--input-opt", "draw_mouse=0", "--frames", "5")
        self.assertEqual(len(lines), 5)
        self.assertEqual({h for _, _, h in lines}, {support.md5(bytes(160 * 120))}, "a black screen has no edges")

    def test_display_that_is_not_there(self):
        text = self.message("--webcam=x11grab::987", "--null", expect=3)
        self.assertIn(":987", text)


class NoCamera(support.Case):
    @unittest.skipIf(os.path.exists("/dev/video0"), "this machine has a camera")
    def test_message(self):
        self.assertIn("/dev/video0", self.edgecam("--webcam", "--null", expect=3).stderr.decode())


class Synthetic(support.Case):
    def test_every_frame_is_accounted_for(self):
        """FFmpeg's generator is a device too; it is faster than any camera, so the newest frame wins and the rest is counted."""
        stats = support.json.loads(self.edgecam("--webcam=lavfi:testsrc2=s=640x480:r=25:d=8", "--null", "--stats", "-").stdout)
        frames = stats["frames"]
        self.assertEqual(frames["out"] + frames["dropped"], frames["in"])
        self.assertIn(frames["in"], (199, 200), "one is what FFmpeg read to find the format")
        self.assertGreater(frames["out"], 0)


if __name__ == "__main__":
    support.main()
