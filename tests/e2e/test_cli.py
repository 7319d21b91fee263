"""The command line: what it takes, what it refuses, and in which words."""

import os

import support
from support import ROAD


class Help(support.Case):
    def test_one_screen(self):
        text = self.edgecam("--help").stdout.decode()
        lines = text.splitlines()
        self.assertLessEqual(len(lines), 50)
        self.assertLessEqual(max(map(len, lines)), 110)
        for word in ("Input", "Edges", "Output", "Run", "Report"):
            self.assertTrue(any(line.startswith(word) for line in lines), word)
        self.assertEqual(self.edgecam("-h").stdout.decode(), text)

    def test_readme_tells_the_same(self):
        self.assertIn(self.edgecam("--help").stdout.decode(), (support.SOURCE / "README.md").read_text())

    def test_version(self):
        self.assertRegex(self.edgecam("--version").stdout.decode(), r"^edgecam \d+\.\d+\.\d+ ")

    def test_list(self):
        text = self.edgecam("--list").stdout.decode()
        for word in ("sobel", "convolution", "reflect101", "l2", "cuda", "ffv1", "x11grab"):
            self.assertIn(word, text)

    def test_into_a_full_disk(self):
        bench = ["--bench=kernels", "--demo=64x48@25", "--backend", "cpu"]
        for arguments in (["--help"], ["--list"], ["--doctor", "--backend", "cpu"], bench):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                p = support.subprocess.run([support.PROGRAM, *arguments], env=support.environment(), stdout=full,
                                           stderr=support.subprocess.PIPE, timeout=support.TIME_LIMIT_S)
                self.assertEqual(p.returncode, 4)
                self.assertRegex(p.stderr.decode(), r"^edgecam: .*standard output: No space left on device\n$")


class Words(support.Case):
    def test_refusals(self):
        """Status 2, and a sentence that names the word and the cause."""
        table = [
            ([], "no input"),
            (["a.mp4"], "no display"),
            (["a.mp4", "--displya"], "'--display'"),
            (["a.mp4", "--opertor=sobel"], "'--operator'"),
            (["a.mp4", "--lo"], "ambiguous option '--lo': it could be --loop, --low, --low-latency"),
            (["a.mp4", "--f=3"], "--format, --frames"),
            (["a.mp4", "-Z"], "'-Z'"),
            (["a.mp4", "-e", "sobl"], "'sobel'"),
            (["a.mp4", "--norm", "l3"], "'l2'"),
            (["a.mp4", "--border", "replicte"], "'replicate'"),
            (["a.mp4", "--backend", "cudda"], "'cuda'"),
            (["a.mp4", "--progress", "jsn"], "'json'"),
            (["a.mp4", "--aperture", "4"], "3, 5, 7"),
            (["a.mp4", "--frames", "0"], "--frames"),
            (["a.mp4", "--frames", "3x"], "'3x'"),
            (["a.mp4", "--frames", ""], "--frames"),
            (["a.mp4", "--frames", "99999999999999999999"], "--frames"),
            (["a.mp4", "--lanes", "17"], "from 1 to 16"),
            (["a.mp4", "--blur", "nan"], "--blur"),
            (["a.mp4", "--blur", "-1"], "--blur"),
            (["a.mp4", "--blur", "33"], "--blur"),
            (["a.mp4", "--scale", "0"], "--scale"),
            (["a.mp4", "--start", "1:3x"], "'1:3x'"),
            (["a.mp4", "--start", "-3"], "'-3'"),
            (["a.mp4", "--duration", "0"], "--duration"),
            (["a.mp4", "--input-opt", "novalue"], "KEY=VALUE"),
            (["a.mp4", "--kernel", "1 2; 3 4"], "odd number"),
            (["a.mp4", "--kernel", "1 2 3; 4 5 6"], "--kernel"),
            (["a.mp4", "--kernel", "1 2 1; 0 x 0; 1 2 1"], "--kernel"),
            (["a.mp4", "--kernel", "1 / 0"], "divisor"),
            (["a.mp4", "-e", "sobel", "--kernel", "1"], "-e sobel"),
            (["a.mp4", "-e", "convolution"], "--kernel"),
            (["a.mp4", "-e", "sobel,scharr"], "one operator"),
            (["a.mp4", "--codec"], "--codec"),
            (["a.mp4", "--null=1"], "--null"),
            (["a.mp4", "-o", ""], "--output"),
            (["a.mp4", "b.mp4", "-o", "c.mp4"], "--out-dir"),
            (["a.mp4", "--demo", "--null"], "--out-dir"),
            (["a.mp4", "-o", "c.mp4", "--out-dir", "d"], "--out-dir"),
            (["a.mp4", "-o", "-", "--hash"], "standard output"),
            (["a.mp4", "--hash", "--stats", "-"], "standard output"),
            (["a.mp4", "-o", "-", "--stats", "-"], "standard output"),
            ([".", "--null"], "folder"),
            (["a.mp4", "--gpu", "0", "--backend", "cpu"], "--gpu"),
            (["--bench", "a.mp4"], "--bench"),
        ]
        for arguments, words in table:
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.message(*arguments, expect=2))
        self.assert_only()

    def test_options_stand_anywhere(self):
        wanted = self.edgecam(ROAD, "--hash", "--frames", "2", "-e", "prewitt").stdout
        for arguments in (["--frames=2", "-eprewitt", ROAD, "--hash"], ["--hash", "-e", "prewitt", "--frames", "2", "--", ROAD],
                          ["--hash", "--oper", "prewitt", "--frames", "2", ROAD]):
            self.assertEqual(self.edgecam(*arguments).stdout, wanted)
        self.assertEqual(self.edgecam("--frames=2", ROAD, "--hash", "-e", "prewitt",
                                      env=support.environment(POSIXLY_CORRECT="1")).stdout, wanted)

    def test_quiet_and_verbose(self):
        self.assertEqual(self.edgecam(ROAD, "--null", "--frames", "2", "-q").stderr, b"")
        self.assertTrue(all(line.startswith(b"edgecam: ") for line in
                            self.edgecam(ROAD, "--null", "--frames", "2").stderr.splitlines()))

    def test_a_window_is_the_default_with_a_display(self):
        """SDL's dummy driver stands for a display that nobody sees."""
        self.edgecam("demo:64x48@25", "--frames", "3", env=support.environment(SDL_VIDEODRIVER="dummy"))


class Statuses(support.Case):
    def test_no_frames(self):
        (self.folder / "none.y4m").write_bytes(b"YUV4MPEG2 W64 H48 F25:1 Ip A1:1 C420jpeg\n")
        done = self.edgecam("none.y4m", "-o", "out.mp4", expect=1)
        self.assertIn("none.y4m", done.stderr.decode())
        self.assert_only("none.y4m")

    def test_damaged(self):
        clip = self.short_clip("good.ts", "320x240", 50, "-g", "10")
        data = bytearray(clip.read_bytes())
        for i in range(20):
            data[len(data) // 3 + 997 * i] ^= 0xFF
        (self.folder / "bad.ts").write_bytes(data)
        done = self.edgecam("bad.ts", "-o", "out.mkv", "--stats", "s.json", expect=1)
        self.assertIn("bad.ts", done.stderr.decode())
        stats = support.json.loads((self.folder / "s.json").read_text())
        self.assertGreater(stats["frames"]["damaged"], 0)
        self.assertGreater(int(support.video_of(support.probe(self.folder / "out.mkv"))["nb_read_frames"]), 20)

    def test_input(self):
        (self.folder / "text.mp4").write_text("this is not a video\n" * 50)
        (self.folder / "empty.mp4").write_bytes(b"")
        self.make("sound.m4a", "-f", "lavfi", "-i", "sine=d=0.5", "-c:a", "aac")
        for name in ("missing.mp4", "text.mp4", "empty.mp4", "sound.m4a"):
            with self.subTest(name=name):
                self.assertIn(name, self.message(name, "-o", "out.mp4", expect=3))
        self.assertIn("no video", self.message("sound.m4a", "--null", expect=3))
        self.assert_only("empty.mp4", "sound.m4a", "text.mp4")

    def test_output(self):
        self.short_clip("in.mp4")
        (self.folder / "there.mp4").write_bytes(b"precious")
        (self.folder / "folder.mp4").mkdir()
        for name in ("there.mp4", "folder.mp4", "nowhere/out.mp4", "out.unknownformat"):
            with self.subTest(name=name):
                status = 2 if name.startswith("out.") else 4
                done = self.edgecam("in.mp4", "-o", name, expect=status) if status == 4 else None
                if done:
                    self.assertIn(name, done.stderr.decode())
        self.assertEqual((self.folder / "there.mp4").read_bytes(), b"precious")
        self.edgecam("in.mp4", "-o", "there.mp4", "-y")
        self.assertEqual(int(support.video_of(support.probe(self.folder / "there.mp4"))["nb_read_frames"]), 10)
        self.assert_only("folder.mp4", "in.mp4", "there.mp4")

    def test_device(self):
        if "CUDA backend: no" in self.edgecam("--version").stdout.decode():
            self.message("demo:64x48@25", "--null", "--backend", "cuda", expect=5)
        # libwayland has a line of its own to say when there is no such folder.
        env = support.environment(XDG_RUNTIME_DIR=str(self.folder))
        self.assertIn("no display", self.message("demo:64x48@25", "--display", "--frames", "5", expect=5, env=env))

    def test_the_input_is_never_overwritten(self):
        clip = self.short_clip("in.mp4")
        before = clip.read_bytes()
        os.symlink("in.mp4", self.folder / "symbolic.mp4")
        os.link(clip, self.folder / "hard.mp4")
        for name in ("in.mp4", "symbolic.mp4", "hard.mp4", "./in.mp4"):
            for overwrite in ([], ["-y"]):
                with self.subTest(name=name, overwrite=overwrite):
                    self.message("in.mp4", "-o", name, *overwrite, expect=4)
        self.assertIn("in.mp4", self.message("in.mp4", "--null", "--stats", "hard.mp4", expect=2))
        self.assertEqual(clip.read_bytes(), before)
        self.assert_only("hard.mp4", "in.mp4", "symbolic.mp4")


if __name__ == "__main__":
    support.main()
