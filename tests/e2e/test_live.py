"""A live source: a screen under Xvfb stands in for a camera."""

import os
import shutil
import socket
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
        """One sentence with the name of what is not there, whatever would become of the frames."""
        for arguments, name in ((["--webcam"], "/dev/video0"), (["--webcam=/dev/video987"], "/dev/video987"),
                                (["-f", "v4l2", "/dev/video987"], "/dev/video987"), (["--webcam=v4l2:/dev/video987"], "/dev/video987")):
            self.assertIn(name, self.message(*arguments, "-o", "o.mp4", expect=3))
        self.assert_only()


class Synthetic(support.Case):
    def test_every_frame_is_accounted_for(self):
        """FFmpeg's generator is a device too; it is faster than any camera, so the newest frame wins and the rest is counted."""
        stats = support.json.loads(self.edgecam("--webcam=lavfi:testsrc2=s=640x480:r=25:d=8", "--null", "--stats", "-").stdout)
        frames = stats["frames"]
        self.assertEqual(frames["out"] + frames["dropped"], frames["in"])
        self.assertIn(frames["in"], (199, 200), "one is what FFmpeg read to find the format")
        self.assertGreater(frames["out"], 0)

    @unittest.skipIf(support.SANITIZED, "a sanitizer keeps what was freed")
    def test_memory_stays_flat(self):
        """As many frames as a camera sends in an hour, but faster than they can be taken: late as much is held as early."""
        size, frames, early = 160 * 120, 90000, 5000
        picture = bytes(i * 7 % 251 for i in range(size))
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        options = ["-f", "rawvideo", "--input-opt", "video_size=160x120", "--input-opt", "pixel_format=gray", "-e", "canny", "--blur", "4"]
        p = subprocess.Popen([support.PROGRAM, f"--webcam=tcp://127.0.0.1:{server.getsockname()[1]}", *options, "-o", "o.mkv", "--stats", "-",
                              "--progress", "none", "-q"], cwd=self.folder, env=support.environment(), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE)
        self.addCleanup(p.stdout.close)
        self.addCleanup(lambda: p.poll() is None and p.kill())

        def held():
            with open(f"/proc/{p.pid}/statm") as pages:
                return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        camera, _ = server.accept()
        with camera:
            for _ in range(early):
                camera.sendall(picture)
            before = held()
            for _ in range(frames - early):
                camera.sendall(picture)
            self.assertLess(held(), before + (8 << 20))
        told = support.json.loads(p.stdout.read())["frames"]
        self.assertEqual(p.wait(timeout=support.TIME_LIMIT_S), 0)
        self.assertEqual((told["in"], told["out"] + told["dropped"]), (frames, frames))
        self.assertGreater(told["dropped"], 0)


if __name__ == "__main__":
    support.main()
