"""Signals, full disks, and what is left behind."""

import os
import pathlib
import signal
import subprocess
import time

import support
from support import PROGRAM, ROAD


class Signals(support.Running):
    def check_signal(self, number, status):
        p = self.start(ROAD, "--loop", "--realtime", "-o", "edges.mp4")
        p.send_signal(number)
        self.assertEqual(self.finish(p), status)
        self.assert_only("edges.mp4")
        self.assertGreater(int(support.video_of(support.probe(self.folder / "edges.mp4"))["nb_read_frames"]), 5)

    def test_interrupt(self):
        self.check_signal(signal.SIGINT, 130)

    def test_terminate(self):
        self.check_signal(signal.SIGTERM, 143)

    def test_hang_up(self):
        self.check_signal(signal.SIGHUP, 129)

    def test_killed(self):
        """What could not be finished never bears the output's name, and is not in the way of the next run."""
        p = self.start(ROAD, "--loop", "--realtime", "-o", "edges.mp4")
        p.kill()
        self.assertEqual(self.finish(p), -signal.SIGKILL)
        self.assertEqual([name[:9] for name in os.listdir(self.folder)], [".edgecam-"])
        self.edgecam(ROAD, "-o", "edges.mp4", "--frames", "2", "--preset", "ultrafast")
        self.assertEqual(int(support.video_of(support.probe(self.folder / "edges.mp4"))["nb_read_frames"]), 2)

    def test_interrupt_in_the_background(self):
        """A shell's `&` makes its children ignore SIGINT; whoever sends one means it."""
        script = f'"{PROGRAM}" demo:320x240@25 --realtime -o edges.mkv & p=$!; sleep 1.5; kill -INT $p; wait $p; echo "status $?"'
        text = subprocess.run(["sh", "-c", script], cwd=self.folder, env=support.environment(), stdout=subprocess.PIPE, timeout=60).stdout
        self.assertEqual(text, b"status 130\n")
        self.assert_only("edges.mkv")

    def end_unread(self, *options):
        """One signal ends a run whose standard output nobody reads."""
        p = subprocess.Popen([PROGRAM, "demo:640x480@30", "-o", "-", "-q", *options], cwd=self.folder, env=support.environment(),
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.stdout.close)
        self.addCleanup(lambda: p.poll() is None and p.kill())
        with self.assertRaises(subprocess.TimeoutExpired):
            p.wait(timeout=1)
        p.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(p, support.END_LIMIT_S + 2), -signal.SIGTERM)

    def test_standard_output_that_nobody_reads(self):
        self.end_unread()

    def test_statistics_of_a_run_that_nobody_reads(self):
        """What was measured is not lost."""
        self.end_unread("--stats", "s.json")
        self.assertEqual(support.json.loads((self.folder / "s.json").read_text())["output"], "-")

    def test_interrupt_while_opening(self):
        """Nothing writes to the pipe, so its opening never ends by itself."""
        os.mkfifo(self.folder / "pipe.y4m")
        p = subprocess.Popen([PROGRAM, "pipe.y4m", "--null"], cwd=self.folder, env=support.environment(), stderr=subprocess.PIPE)
        self.addCleanup(p.stderr.close)
        self.addCleanup(lambda: p.poll() is None and p.kill())
        with self.assertRaises(subprocess.TimeoutExpired):
            p.wait(timeout=1)
        p.send_signal(signal.SIGINT)
        self.assertIn(self.finish(p, support.END_LIMIT_S + 1), (130, -signal.SIGINT))


class Disk(support.Case):
    def test_full_device(self):
        self.short_clip("in.mp4")
        for arguments in (["-o", "/dev/full", "--out-format", "matroska"], ["-o", "/dev/full", "--out-format", "yuv4mpegpipe"]):
            with self.subTest(arguments=arguments):
                self.assertIn("/dev/full", self.edgecam("in.mp4", *arguments, "-y", expect=4).stderr.decode())

    def test_full_standard_output(self):
        self.short_clip("in.mp4")
        for arguments in (["-o", "-"], ["--hash"], ["--null", "--stats", "-"]):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, "in.mp4", *arguments], cwd=self.folder, env=support.environment(), stdout=full,
                                      stderr=subprocess.PIPE, timeout=60)
                self.assertEqual(done.returncode, 4, done.stderr.decode())

    def test_file_size_limit(self):
        """The write fails midway: status 4, one sentence with the name, and nothing is left."""
        script = f'ulimit -f 64; exec "{PROGRAM}" "{ROAD}" -o edges.mp4 --no-audio --crf 1 --preset ultrafast'
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=support.environment(), stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(done.returncode, 4, done.stderr.decode())
        self.assertIn("edges.mp4", done.stderr.decode())
        self.assert_only()

    def test_special_files_are_written_directly(self):
        self.short_clip("in.mp4")
        self.edgecam("in.mp4", "-o", "/dev/null", "--out-format", "matroska", "-y")
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())


class InputsOfManyFiles(support.Case):
    """-y never replaces a file that the input may read, however it is named."""

    def test_lists_addresses_and_patterns(self):
        clip = self.folder / "x.mp4"
        clip.write_bytes(ROAD.read_bytes())
        (self.folder / "list.txt").write_text("file x.mp4\n")
        for arguments in (("-f", "concat", "list.txt"), ("concat:x.mp4",), ("async:x.mp4",)):
            self.assertIn("x.mp4", self.message(*arguments, "-o", "x.mp4", "-y", expect=4))
        self.assertEqual(clip.read_bytes(), ROAD.read_bytes())
        support.judge("ffmpeg", "-v", "error", "-i", clip, "-frames:v", "3", self.folder / "s%03d.png")
        before = (self.folder / "s002.png").read_bytes()
        for output in ("s%3d.png", "s00%d.png", "s002.png"):
            self.message("s%03d.png", "-o", output, "-y", "--frames", "1", "--threads", "1", expect=4)
        self.assertEqual((self.folder / "s002.png").read_bytes(), before)
        # One decoder thread: ThreadSanitizer cannot see how FFmpeg's hand their pictures over, and doubts every byte of them.
        for _ in range(2):
            self.edgecam("s%03d.png", "-o", "edges%03d.png", "-y", "--threads", "1")
            self.edgecam("s%03d.png", "-o", "edges.mp4", "-y", "--threads", "1")


class Sound(support.Case):
    def test_formats_of_sound_hold_no_video(self):
        for name in ("x.mp3", "x.flac", "x.wav"):
            self.assertIn("holds no video", self.message(ROAD, "-o", name, expect=2))
            self.assertFalse((self.folder / name).exists())


if __name__ == "__main__":
    support.main()
