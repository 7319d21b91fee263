"""Many inputs into one folder."""

import os
import shutil
import signal
import subprocess
import time

import support
from support import PROGRAM, ROAD


class Batch(support.Running):
    def outputs(self, folder="out"):
        """The files that a person sees, as paths below the folder."""
        root = self.folder / folder
        return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and not p.name.startswith("."))

    def frames(self, name):
        return int(support.video_of(support.probe(self.folder / name))["nb_read_frames"])

    def clip(self, name, frames=10):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        return self.short_clip(name, "160x120", frames, *(["-c:v", "mpeg4"] if name.endswith(".avi") else []))

    def report(self, *arguments, expect=0):
        """{input: its line of the report} of a batch into "out"."""
        self.edgecam(*arguments, "--out-dir", "out", "--report", "r.jsonl", "-y", expect=expect)
        lines = [support.json.loads(line) for line in (self.folder / "r.jsonl").read_text().splitlines()]
        self.assertEqual({line["schema"] for line in lines}, {"edgecam.report/1"})
        return {line["input"]: line for line in lines}


class Inputs(Batch):
    def test_one_bad_file_does_not_stop_the_rest(self):
        (self.folder / "broken.mp4").write_bytes(b"this is not a video" * 100)
        self.clip("first.mp4")
        self.clip("second.mkv")
        done = self.edgecam("first.mp4", "broken.mp4", "second.mkv", "--out-dir", "out", expect=1)
        self.assertEqual(self.outputs(), ["first.mp4", "second.mkv"])
        for name in self.outputs():
            self.assertEqual(self.frames("out/" + name), 10)
        text = done.stderr.decode()
        self.assertIn("broken.mp4", text)
        self.assertIn("1 of 3 inputs failed", text)

    def test_names_that_meet(self):
        self.clip("one.avi")
        self.clip("one.mp4", 12)
        self.edgecam("one.avi", "one.mp4", "--out-dir", "out", "--jobs", "2")
        self.assertEqual({name: self.frames("out/" + name) for name in self.outputs()}, {"one.mp4": 10, "one-2.mp4": 12})

    def test_slashes_behind_the_folder(self):
        """It is the same folder, to --resume too, and is printed as one would write it."""
        self.clip("in/s/a.mp4")
        self.assertIn(b" -> out/s/a.mp4:", self.edgecam("in", "--out-dir", "out//").stderr)
        before = (self.folder / "out/s/a.mp4").stat()
        self.edgecam("in", "--out-dir", "out", "--resume")
        self.assertEqual((self.folder / "out/s/a.mp4").stat().st_mtime_ns, before.st_mtime_ns)

    def test_folder(self):
        """The tree is mirrored; hidden files, other files and the outputs of an earlier run are no inputs."""
        for name in ("b.mp4", "a.MOV", "deep/deeper/c.mkv", "deep/b.mp4", ".hidden/d.mp4", "deep/.e.mp4"):
            self.clip("in/" + name)
        (self.folder / "in" / "notes.txt").write_text("no video")
        (self.folder / "in" / "sub.mp4").mkdir()
        os.symlink("..", self.folder / "in" / "deep" / "round")
        for _ in range(2):
            self.edgecam("in", "--out-dir", "in/out", "-y", "--jobs", "3")
            self.assertEqual(self.outputs("in/out"), ["a.mov", "b.mp4", "deep/b.mp4", "deep/deeper/c.mkv"])

    def test_empty_folder(self):
        (self.folder / "in").mkdir()
        text = self.edgecam("in", "--out-dir", "out", expect=1).stderr.decode()
        self.assertIn("no videos", text)

    def test_inputs_are_never_overwritten(self):
        """An output that would land on another input of the same run is refused, even with -y."""
        self.clip("a.avi")
        target = self.clip("a.mp4")
        before = target.read_bytes()
        text = self.edgecam("a.avi", "a.mp4", "--out-dir", ".", "-y", expect=1).stderr.decode()
        self.assertIn("a.mp4", text)
        self.assertEqual(target.read_bytes(), before)

    def test_out_dir_that_is_a_file(self):
        self.clip("a.mp4")
        (self.folder / "out").write_text("")
        self.assertIn("'out'", self.message("a.mp4", "--out-dir", "out", expect=4))

    def test_what_needs_a_batch(self):
        for option in (["--jobs", "2"], ["--resume"], ["--report", "r"]):
            self.assertIn("--out-dir", self.message(ROAD, "--null", *option, expect=2))
        self.assertIn("--hash", self.message(ROAD, "--out-dir", "out", "--hash", "--jobs", "2", expect=2))
        self.assertIn("both name", self.message(ROAD, "--out-dir", "out", "--report", "x", "--stats", "x", expect=2))
        self.assert_only()


class Reports(Batch):
    def test_every_input_has_its_line(self):
        """Those that could not be opened too, in the report and in the statistics."""
        self.clip("a.mp4")
        (self.folder / "bad.mp4").write_text("no video")
        text = self.edgecam("a.mp4", "bad.mp4", "gone.mp4", "--out-dir", "out", "--jobs", "2", "--stats", "s", "--report", "r",
                            expect=1).stderr.decode()
        report, stats = ([support.json.loads(line) for line in (self.folder / name).read_text().splitlines()] for name in "rs")
        by = {line["input"]: line for line in report}
        self.assertEqual({name: (line["result"], line["status"]) for name, line in by.items()},
                         {"a.mp4": ("done", 0), "bad.mp4": ("failed", 3), "gone.mp4": ("failed", 3)})
        self.assertEqual(by["a.mp4"]["frames"], {"in": 10, "out": 10, "damaged": 0})
        self.assertIn("bad.mp4", by["bad.mp4"]["message"])
        self.assertIsNone(by["gone.mp4"]["frames"]["out"])
        self.assertEqual({line["input"]: line["frames"]["out"] for line in stats}, {"a.mp4": 10, "bad.mp4": None, "gone.mp4": None})
        self.assertRegex(text, r"(?m)^done +10 .* a\.mp4$")
        self.assertRegex(text, r"(?m)^all +10 .* 3 files: 1 done, 2 failed$")

    def test_damage(self):
        good = self.clip("good.ts", 50).read_bytes()
        (self.folder / "cut.mp4").write_bytes(self.make("whole.mp4", "-i", self.folder / "good.ts", "-c", "copy", "-movflags",
                                                        "+faststart").read_bytes()[: len(good) // 2])
        line = self.report("cut.mp4", expect=1)["cut.mp4"]
        self.assertEqual((line["result"], line["status"]), ("damaged", 1))
        self.assertGreater(line["frames"]["damaged"], 0)
        self.assertEqual(self.frames("out/cut.mp4"), line["frames"]["out"])

    def test_overall_progress(self):
        for name in ("a.mp4", "b.mp4", "c.mp4"):
            self.clip(name)
        lines = self.edgecam("a.mp4", "b.mp4", "c.mp4", "gone.mp4", "--out-dir", "out", "--jobs", "2", "--progress", "json", "-q",
                             expect=1).stderr.splitlines()
        state = support.json.loads([line for line in lines if line.startswith(b"{")][-1])
        self.assertEqual((state["done"], state["files"], state["files_done"], state["files_failed"], state["frame"]), (True, 4, 4, 1, 30))


class Resume(Batch):
    def results(self, *arguments, expect=0):
        done = self.edgecam("in", "--out-dir", "out", "--resume", "--report", "-", "-q", *arguments, expect=expect)
        lines = [support.json.loads(line) for line in done.stdout.splitlines()]
        return {line["input"][3:]: line["result"] for line in lines}

    def test_only_what_has_changed_is_made_again(self):
        for name in ("a.mp4", "b.mkv", "sub/odd\x01 %n\xe4me.mp4"):
            self.clip("in/" + name)
        names = ["a.mp4", "b.mkv", "sub/odd\x01 %n\xe4me.mp4"]
        self.edgecam("in", "--out-dir", "out", "--jobs", "2")
        times = [(self.folder / "out" / name).stat().st_mtime_ns for name in names]
        self.assertEqual(self.results("--jobs", "3"), dict.fromkeys(names, "skipped"))
        self.assertEqual([(self.folder / "out" / name).stat().st_mtime_ns for name in names], times)

        os.utime(self.folder / "in" / "a.mp4")
        self.assertEqual(self.results(), {names[0]: "done", names[1]: "skipped", names[2]: "skipped"})
        (self.folder / "out" / "b.mkv").unlink()
        self.assertEqual(self.results(), {names[0]: "skipped", names[1]: "done", names[2]: "skipped"})
        self.assertEqual(self.results("-e", "prewitt"), dict.fromkeys(names, "done"))
        self.assertEqual(self.results("-e", "prewitt"), dict.fromkeys(names, "skipped"))

    def test_what_others_wrote_is_kept(self):
        """An output that was changed since, or never ours, needs -y as ever."""
        self.clip("in/a.mp4")
        self.clip("in/b.mp4")
        (self.folder / "out").mkdir()
        (self.folder / "out" / "b.mp4").write_text("mine")
        self.assertEqual(self.results(expect=1), {"a.mp4": "done", "b.mp4": "failed"})
        (self.folder / "out" / "a.mp4").write_text("edited")
        self.assertEqual(self.results(expect=1), {"a.mp4": "failed", "b.mp4": "failed"})
        self.assertEqual([(self.folder / "out" / n).read_text() for n in ("a.mp4", "b.mp4")], ["edited", "mine"])

    def test_what_was_interrupted_is_made_again(self):
        (self.folder / "in").mkdir()
        shutil.copy(ROAD, self.folder / "in" / "a.mp4")
        shutil.copy(ROAD, self.folder / "in" / "b.mp4")
        p = self.start("in", "--out-dir", "out", "--jobs", "2", "--realtime", "--pre", "scale=240:-2")
        p.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(p), 130)
        self.assertEqual(self.outputs(), ["a.mp4", "b.mp4"])
        for name in self.outputs():
            self.assertTrue(0 < self.frames("out/" + name) < 221, name)
        self.assertEqual(self.results("--pre", "scale=240:-2"), {"a.mp4": "done", "b.mp4": "done"})
        self.assertEqual(self.frames("out/a.mp4"), 221)


class Interrupts(Batch):
    def test_the_rest_is_not_begun(self):
        for name in ("a.mp4", "b.mp4", "c.mp4"):
            shutil.copy(ROAD, self.folder / name)
        p = self.start("a.mp4", "b.mp4", "c.mp4", "--out-dir", "out", "--realtime", "--report", "r")
        p.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(p), 130)
        self.assertEqual(self.outputs(), ["a.mp4"])
        lines = [support.json.loads(line) for line in (self.folder / "r").read_text().splitlines()]
        self.assertEqual([line["result"] for line in lines], ["stopped", "not started", "not started"])

    def test_a_second_signal_ends_at_once(self):
        """Nothing is left of what was not complete. Encoding this slowly, the run cannot end between the two signals."""
        for name in ("a.mp4", "b.mp4"):
            shutil.copy(ROAD, self.folder / name)
        p = self.start("a.mp4", "b.mp4", "--out-dir", "out", "--jobs", "2", "--preset", "placebo", "--pre", "scale=1920:1080", frames=0)
        while not [x for x in (self.folder / "out").iterdir() if x.name.startswith(".edgecam-") and x.name != ".edgecam-batch"]:
            time.sleep(0.01)
        p.send_signal(signal.SIGTERM)
        p.send_signal(signal.SIGINT)  # another one: two of a kind that wait to be taken are one
        self.assertIn(self.finish(p), (-signal.SIGTERM, -signal.SIGINT))
        self.assertEqual([x.name for x in (self.folder / "out").iterdir()], [])


    def test_at_any_moment(self):
        """Whatever it was doing: it ends in time, what has a name plays, and nothing else is left."""
        for name in ("a.mp4", "b.mp4", "c.mp4"):
            shutil.copy(ROAD, self.folder / name)
        kinds = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        for n in range(4 if support.SANITIZED else 12):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            p = subprocess.Popen([PROGRAM, "a.mp4", "b.mp4", "c.mp4", "--out-dir", "out", "--jobs", str(1 + n % 3), "--pre", "scale=160:-2"],
                                 cwd=self.folder, env=support.environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.addCleanup(p.stderr.close)
            self.addCleanup(lambda p=p: p.poll() is None and p.kill())
            time.sleep(n * n * 0.01)
            p.send_signal(kinds[n % 3])
            self.assertIn(self.finish(p), (0, 128 + kinds[n % 3], -kinds[n % 3]))
            if (self.folder / "out").exists():
                hidden = {x.name for x in (self.folder / "out").iterdir() if x.name.startswith(".")}
                self.assertLessEqual(hidden, {".edgecam-batch"})
                for name in self.outputs():
                    self.assertGreater(self.frames("out/" + name), 0)


class Memory(Batch):
    def peak(self, *arguments):
        """The most memory that the program held, in bytes."""
        with subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, env=support.environment(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as p:
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(p.returncode, 0)
        return usage.ru_maxrss * 1024

    def test_200_files(self):
        if support.SANITIZED:
            self.skipTest("a sanitizer keeps what was freed")
        first = self.make("in.avi", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-frames:v", "4", "-c:v", "mpeg4")
        (self.folder / "many").mkdir()
        (self.folder / "few").mkdir()
        for i in range(200):
            os.link(first, self.folder / ("few" if i < 20 else "many") / f"{i:03}.avi")
        options = ["--jobs", "2", "--codec", "mpeg4"]
        few = self.peak("few", "--out-dir", "a", *options)
        many = self.peak("few", "many", "--out-dir", "b", *options)
        self.assertEqual(len(self.outputs("b")), 200)
        self.assertLess(many, few + (8 << 20))

    def test_20000_frames(self):
        if support.SANITIZED:
            self.skipTest("a sanitizer keeps what was freed")
        options = ["--codec", "mpeg4", "-y"]
        few = self.peak("demo:64x48@100", "--frames", "2000", "-o", "few.mp4", *options)
        many = self.peak("demo:64x48@100", "--frames", "20000", "-o", "many.mp4", *options)
        self.assertEqual(self.frames("many.mp4"), 20000)
        self.assertLess(many, few + (8 << 20))


if __name__ == "__main__":
    support.main()
