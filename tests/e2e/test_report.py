"""Progress, summary, statistics and the benchmark's report."""

import os
import unittest

import support
from support import ROAD

STATS = {
    "schema": None, "input": None, "output": None, "operator": None, "width": None, "height": None, "depth": None, "backend": None,
    "device": None,
    "frames": {"in": None, "out": None, "dropped": None, "damaged": None},
    "wall_s": None, "fps": None, "realtime_factor": None,
    "latency_ms": {"p50": None, "p95": None, "p99": None, "max": None},
    "stages": {name: {"busy_s": None, "wait_s": None} for name in ("decode", "queue_in", "stage", "queue_out", "sink")},
    "thresholds": {key: dict.fromkeys(("min", "mean", "max")) for key in ("low", "high")},
    "gpu": {
        "name": None, "driver": None, "count": None, "lanes": None,
        "engines": {name: {"busy_percent": None, "bytes": None, "gb_per_s": None, "limit_gb_per_s": None}
                    for name in ("h2d", "compute", "d2h", "decode", "encode")},
        "overlap_percent": None,
        "utilization_percent": {"mean": None, "min": None, "samples": None},
        "memory_bytes": None, "power_w": None, "pcie": None,
    },
    "memory": {"rss_peak_bytes": None, "pinned_bytes": None},
    "bottleneck": None, "bottleneck_busy_percent": None, "advice": None,
}


def shape(value):
    return {key: shape(v) for key, v in value.items()} if isinstance(value, dict) else None


def leaves(value):
    return [leaf for v in value.values() for leaf in leaves(v)] if isinstance(value, dict) else [value]


class Statistics(support.Case):
    def test_every_key(self):
        stats = support.json.loads(self.edgecam(ROAD, "--null", "--stats", "-", "--backend", "cpu").stdout)
        self.assertEqual(shape(stats), STATS)
        self.assertEqual(stats["schema"], "edgecam.stats/1")
        self.assertEqual((stats["input"], stats["output"], stats["operator"]), (str(ROAD), None, "sobel"))
        self.assertEqual((stats["width"], stats["height"], stats["depth"], stats["backend"]), (960, 540, 8, "cpu"))
        self.assertEqual(stats["frames"], {"in": 221, "out": 221, "dropped": 0, "damaged": 0})
        self.assertEqual(set(leaves(stats["gpu"])), {None}, "without a GPU nothing of it was measured")
        self.assertAlmostEqual(stats["fps"], 221 / stats["wall_s"], delta=0.1 * stats["fps"])
        self.assertAlmostEqual(stats["realtime_factor"], stats["fps"] / 25, delta=0.1 * stats["realtime_factor"])
        latency = stats["latency_ms"]
        self.assertTrue(0 < latency["p50"] <= latency["p95"] <= latency["p99"] <= latency["max"], latency)
        self.assertGreater(stats["memory"]["rss_peak_bytes"], 1 << 20)
        self.assertIn(stats["bottleneck"], ("source", "compute", "sink"))
        self.assertTrue(0 < stats["bottleneck_busy_percent"] <= 100)
        self.assertTrue(stats["advice"])
        for name, stage in stats["stages"].items():
            self.assertGreaterEqual(stage["busy_s"], 0, name)

    @unittest.skipIf(support.SANITIZED, "another part is the slowest with a sanitizer")
    def test_advice(self):
        """Of the part that was the slowest, and only what there is to try."""
        clip = self.short_clip("clip.mkv", "640x480", 20)
        kernel = "; ".join(["0.1 " * 31] * 31)
        for arguments, part, words in (([clip, "-o", "e.mp4", "--preset", "veryslow"], "sink", ["--preset", "--codec"]),
                                       ([clip, "-o", "e.webp"], "sink", ["--codec"]),
                                       ([clip, "--hash", "--kernel", kernel], "compute", ["kernel"]),
                                       (["--demo=1920x1080@60", "--frames", "20", "--null"], None, []),
                                       ([clip, "--style", "glow", "--null"], None, [])):
            with self.subTest(arguments[1:]):
                done = self.edgecam(*arguments, "--stats", "s.json", "-y")
                stats = support.json.loads((self.folder / "s.json").read_text())
                self.assertIn(stats["advice"], done.stderr.decode())
                if part:
                    self.assertEqual(stats["bottleneck"], part)
                for word in ("--preset", "--codec", "kernel"):
                    self.assertEqual(word in stats["advice"], word in words or (not part and word == "kernel" and
                                                                                stats["bottleneck"] == "compute"), stats["advice"])

    def test_file(self):
        (self.folder / "s.json").write_text("x" * 10000)
        run = [ROAD, "-o", "edges.mkv", "--frames", "3", "--stats", "s.json"]
        self.assertIn("-y", self.message(*run, expect=4))
        self.assertEqual((self.folder / "s.json").read_text(), "x" * 10000)
        self.edgecam(*run, "-y")
        stats = support.json.loads((self.folder / "s.json").read_text())
        self.assertEqual((stats["output"], stats["frames"]["out"]), ("edges.mkv", 3))

    def test_file_that_cannot_be_written(self):
        self.assertIn("nowhere/s.json", self.message(ROAD, "-o", "edges.mkv", "--stats", "nowhere/s.json", expect=4))
        self.assert_only()

    def test_failed_run_leaves_no_file(self):
        (self.folder / "old.json").write_text("old")
        self.edgecam("missing.mp4", "--null", "--stats", "new.json", expect=3)
        self.edgecam("missing.mp4", "--null", "--stats", "old.json", "-y", expect=3)
        self.assert_only("old.json")
        self.assertEqual((self.folder / "old.json").read_text(), "old")


class Names(support.Case):
    def test_two_outputs_of_one_name(self):
        (self.folder / "there").write_bytes(b"")
        os.link(self.folder / "there", self.folder / "same")
        for arguments in (["--null", "--trace", "f", "--stats", "f"], ["-o", "f.mkv", "--trace", "f.mkv"],
                          ["-o", "f.mkv", "--stats", "./f.mkv"], ["--null", "--stats", "there", "--trace", "same"],
                          ["--bench", "--stats", "f", "--trace", "f"]):
            with self.subTest(arguments=arguments):
                inputs = [] if "--bench" in arguments else [ROAD]
                self.assertIn("both name", self.message(*inputs, *arguments, "-y", expect=2))
        self.assert_only("same", "there")

    def test_batch(self):
        for name in ("a.mp4", "b.mp4"):
            (self.folder / name).write_bytes(ROAD.read_bytes())
        before = (self.folder / "a.mp4").read_bytes()
        self.assertIn("--trace takes one input", self.message("a.mp4", "b.mp4", "--out-dir", "out", "--trace", "t", expect=2))
        self.assertIn("--trace takes one input", self.message(".", "--out-dir", "out", "--trace", "t", expect=2))
        self.assertIn("out/a.mp4", self.message("a.mp4", "--out-dir", "out", "--trace", "out/a.mp4", expect=2))
        self.assertIn("a.mp4", self.message(".", "--out-dir", "out", "--stats", "a.mp4", "-y", expect=2))
        self.assertEqual((self.folder / "a.mp4").read_bytes(), before)
        (self.folder / "out").mkdir()
        self.assertIn("out/a.mp4", self.message("a.mp4", "--out-dir", "out", "--stats", "out/../out/a.mp4", expect=2))
        self.edgecam("a.mp4", "--out-dir", "out", "--frames", "2", "--trace", "t", "--stats", "s")
        self.assert_only("a.mp4", "b.mp4", "out", "s", "t")


class Trace(support.Case):
    def test_every_interval_of_every_frame(self):
        self.edgecam(ROAD, "--null", "--frames", "20", "--trace", "trace.json", "--backend", "cpu")
        events = support.json.loads((self.folder / "trace.json").read_text())
        tracks = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        spans = [e for e in events if e["ph"] == "X"]
        for track, name in (("decode thread", "decode"), ("queue in", "waiting"), ("stage thread", "submit"),
                            ("stage thread", "collect"), ("queue out", "waiting"), ("sink thread", "deliver")):
            frames = [e["args"]["frame"] for e in spans if tracks[e["tid"]] == track and e["name"] == name]
            self.assertEqual(frames, list(range(20)), f"{track}: {name}")
        self.assertTrue(all(e["ts"] >= 0 and e["dur"] >= 0 for e in spans))
        by = {(tracks[e["tid"]], e["name"], e["args"]["frame"]): e for e in spans}
        for n in range(20):
            read, taken, shown = by["decode thread", "decode", n], by["stage thread", "submit", n], by["sink thread", "deliver", n]
            self.assertLessEqual(read["ts"], taken["ts"])
            self.assertLessEqual(taken["ts"] + taken["dur"], shown["ts"] + shown["dur"])

    def test_thresholds(self):
        """What --auto chose for each frame is in the trace, its spread in the statistics, and it finds the same edges by hand."""
        canny = [ROAD, "-e", "canny", "--frames", "6"]
        hashes = self.hashes(*canny, "--auto=otsu", "--auto-time", "0.1", "--trace", "t.json", "--stats", "s.json")
        events = support.json.loads((self.folder / "t.json").read_text())
        chosen = [e["args"] for e in events if e["ph"] == "C" and e["name"] == "thresholds"]
        self.assertEqual(len(chosen), 6)
        stats = support.json.loads((self.folder / "s.json").read_text())["thresholds"]
        for key in ("low", "high"):
            values = [c[key] for c in chosen]
            self.assertEqual((stats[key]["min"], stats[key]["max"]), (min(values), max(values)))
            self.assertAlmostEqual(stats[key]["mean"], sum(values) / 6, places=3)
        by_hand = self.hashes(*canny, "--low", chosen[5]["low"], "--high", chosen[5]["high"])
        self.assertEqual(by_hand[5], hashes[5])
        self.edgecam(*canny, "--null", "--stats", "none.json")
        none = support.json.loads((self.folder / "none.json").read_text())["thresholds"]
        self.assertEqual(none, {k: dict.fromkeys(("min", "mean", "max")) for k in ("low", "high")})

    def test_the_input_is_never_replaced(self):
        copy = self.folder / "in.mp4"
        copy.write_bytes(ROAD.read_bytes())
        self.assertIn("in.mp4", self.message(copy, "--null", "--trace", copy, expect=4))
        self.assertEqual(copy.read_bytes(), ROAD.read_bytes())

    def test_existing_file(self):
        (self.folder / "t.json").write_text("old")
        self.assertIn("-y", self.message(ROAD, "--null", "--trace", "t.json", expect=4))
        self.assertEqual((self.folder / "t.json").read_text(), "old")
        self.edgecam(ROAD, "--null", "--frames", "2", "--trace", "t.json", "-y")
        support.json.loads((self.folder / "t.json").read_text())

    def test_place_that_cannot_be_written(self):
        self.assertIn("/nowhere/t.json", self.message(ROAD, "--null", "--trace", "/nowhere/t.json", expect=4))


class Progress(support.Case):
    def test_json_lines(self):
        lines = self.edgecam("demo:320x180@50", "--realtime", "--frames", "60", "--null", "--progress", "json", "-q").stderr.splitlines()
        states = [support.json.loads(line) for line in lines]
        self.assertGreaterEqual(len(states), 3)
        for state in states:
            self.assertEqual(set(state), {"frame", "expected", "fps", "speed", "position_s", "duration_s", "eta_s", "gpu_percent", "done"})
        frames = [state["frame"] for state in states]
        self.assertEqual(frames, sorted(frames))
        self.assertEqual((states[-1]["done"], states[-1]["frame"]), (True, 60))
        self.assertFalse(any(state["done"] for state in states[:-1]))

    def test_bar(self):
        text = self.edgecam("demo:320x180@50", "--realtime", "--frames", "50", "--null", "--progress", "bar").stderr.decode()
        self.assertRegex(text, r"frame \d+")
        self.assertIn("fps", text)

    def test_nothing_without_a_terminal(self):
        self.assertNotIn(b"\r", self.edgecam("demo:320x180@50", "--realtime", "--frames", "30", "--null").stderr)

    def test_summary(self):
        text = self.edgecam(ROAD, "--null").stderr.decode()
        for words in ("221 frames", "fps", "sobel", "set the pace"):
            self.assertIn(words, text)


class Bench(support.Case):
    def test_report(self):
        done = self.edgecam("--bench", "-e", "sobel,roberts", "--demo=320x180@60", "--frames", "40", "--backend", "cpu", "--stats", "-")
        report = support.json.loads(done.stdout)
        self.assertEqual(report["schema"], "edgecam.bench/1")
        self.assertEqual((report["width"], report["height"]), (320, 180))
        self.assertGreaterEqual(report["repetitions"], 5)
        self.assertEqual([(r["operator"], r["backend"], r["frames"]) for r in report["results"]],
                         [("sobel", "cpu", 40), ("roberts", "cpu", 40)])
        self.assertGreater(report["backends"][0]["limits"]["memcpy_gb_per_s"], 0)
        for result in report["results"]:
            time = result["frame_ms"]
            self.assertTrue(0 < time["min"] <= time["median"] <= time["max"])
            self.assertGreater(result["memcpy_ratio"], 0)
            self.assertIsNone(result["pcie_percent"]["median"])
            self.assertIsNone(result["timing_percent"]["median"])
            kernels = result["kernels"]
            for setting in ("serial", "cached"):
                time, copy = kernels[setting]["frame_us"], kernels[setting]["copy_us"]
                self.assertTrue(0 < time["min"] <= time["median"] <= time["max"])
                ratio = time["median"] / copy["median"]  # of numbers that carry nine digits
                self.assertAlmostEqual(kernels[setting]["copy_ratio"], ratio, delta=1e-7 * ratio)
                moved = time["median"] * kernels[setting]["gb_per_s"] * 1e3
                self.assertAlmostEqual(moved, 2 * 320 * 180, delta=1, msg="bytes read and written")
            self.assertIsNone(kernels["parallel"]["frame_us"]["median"])
            self.assertGreater(result["one_frame_ms"]["median"], 0)
            self.assertEqual(shape(result["stats"]), STATS)
        table = done.stderr.decode()
        self.assertIn("roberts l2", table)

    def test_kernels_only(self):
        done = self.edgecam("--bench=kernels", "--kernel", "1 2 1; 2 4 2; 1 2 1 / 16", "--demo=64x48@60:10", "--depth", "native",
                            "--backend", "cpu", "--stats", "-")
        report = support.json.loads(done.stdout)
        self.assertEqual(report["depth"], 10)
        result, = report["results"]
        self.assertEqual(result["label"], "convolution 3x3, 10 bit")
        self.assertGreater(result["kernels"]["serial"]["gb_per_s"], 0)
        self.assertIsNone(result["fps"])
        self.assertIsNone(result["stats"])
        self.assertNotIn("host to host", done.stderr.decode())
        self.assertIn("--bench takes 'kernels'", self.message("--bench=all", expect=2))

    def test_colours(self):
        """Three planes are read, in the detector alone and in a run."""
        done = self.edgecam("--bench", "-e", "canny", "--channels", "rgb", "--demo=64x48@60", "--frames", "30", "--backend", "cpu",
                            "--stats", "-")
        result, = support.json.loads(done.stdout)["results"]
        self.assertEqual(result["label"], "canny, rgb")
        serial = result["kernels"]["serial"]
        self.assertAlmostEqual(serial["frame_us"]["median"] * serial["gb_per_s"] * 1e3, (3 + 1) * 64 * 48, delta=0.1)
        gray, colours = (self.hashes("cycle:64x48@25", "-e", "canny", "--channels", c, "--frames", "1") for c in ("luma", "rgb"))
        self.assertNotEqual(gray, colours)


if __name__ == "__main__":
    support.main()
