"""Files in, files out: nothing is lost on the way."""

import shutil
import subprocess
import unittest

import support
from support import MEDIA, PHONE, PROGRAM, ROAD


class Convert(support.Case):
    def test_road(self):
        out = self.folder / "edges.mp4"
        self.edgecam(ROAD, "-o", out)
        before, after = support.probe(ROAD), support.probe(out)
        video = support.video_of(after)
        self.assertEqual(int(video["nb_read_frames"]), 221)
        self.assertEqual((video["width"], video["height"], video["codec_name"]), (960, 540, "h264"))
        self.assertEqual(video["r_frame_rate"], support.video_of(before)["r_frame_rate"])
        self.assertAlmostEqual(float(video["duration"]), float(support.video_of(before)["duration"]), delta=0.001)
        self.assertAlmostEqual(float(after["format"]["duration"]), float(before["format"]["duration"]), delta=0.04)
        audio = {name: next(s["index"] for s in info["streams"] if s["codec_type"] == "audio")
                 for name, info in (("before", before), ("after", after))}
        self.assertEqual(support.packets_md5(ROAD, audio["before"]), support.packets_md5(out, audio["after"]))
        self.assert_only("edges.mp4")

    def test_road_times(self):
        """Every frame keeps its own time."""
        out = self.folder / "edges.mp4"
        self.edgecam(ROAD, "-o", out)
        times = [support.judge("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "frame=pts_time", "-of", "csv=p=0",
                               name).decode().replace(",", "").split() for name in (ROAD, out)]
        self.assertEqual([float(t) for t in times[0]], [float(t) for t in times[1]])

    def test_phone_is_upright(self):
        out = self.folder / "edges.mp4"
        self.edgecam(PHONE, "-o", out, "--preset", "ultrafast")
        video = support.video_of(support.probe(out))
        self.assertEqual((video["width"], video["height"], int(video["nb_read_frames"])), (2160, 3840, 18))
        self.assertFalse([d for d in video.get("side_data_list", []) if "rotation" in d])
        self.assertNotIn("rotate", video.get("tags", {}))

    def test_no_audio(self):
        out = self.folder / "edges.mkv"
        self.edgecam(ROAD, "-o", out, "--no-audio", "--frames", 5)
        info = support.probe(out)
        self.assertEqual([s["codec_type"] for s in info["streams"]], ["video"])
        self.assertEqual(int(support.video_of(info)["nb_read_frames"]), 5)

    def test_part(self):
        out = self.folder / "part.mkv"
        self.edgecam(ROAD, "-o", out, "--start", "2", "--duration", "0:01")
        self.assertEqual(int(support.video_of(support.probe(out))["nb_read_frames"]), 25)

    def test_part_of_a_stream_without_an_index(self):
        """The decoder finds its feet at a key frame: decoding has to begin in front of the wanted start."""
        stream = self.folder / "road.ts"
        support.judge("ffmpeg", "-v", "error", "-i", ROAD, "-c", "copy", stream)
        whole = [h for _, _, h in self.hashes(ROAD)]
        for start in (1, 5, 8):
            part = self.hashes(stream, "--start", str(start))
            self.assertEqual([h for _, _, h in part], whole[25 * start:], f"from {start} s")
            self.assertAlmostEqual(part[0][1], 0, delta=0.04)

    def test_loop_of_a_part(self):
        lines = self.hashes(ROAD, "--start", "8", "--loop", "--frames", "50")
        part = [h for _, _, h in self.hashes(ROAD)][200:]
        self.assertEqual([h for _, _, h in lines], (part * 3)[:50])
        for n, (_, seconds, _) in enumerate(lines):
            self.assertAlmostEqual(seconds, n / 25, delta=0.001)

    def test_prefilter(self):
        out = self.folder / "small.mkv"
        self.edgecam(ROAD, "-o", out, "--pre", "scale=480:-2", "--frames", 3)
        video = support.video_of(support.probe(out))
        self.assertEqual((video["width"], video["height"]), (480, 270))

    def test_y4m_to_standard_output(self):
        data = self.edgecam(ROAD, "-o", "-", "--frames", 7).stdout
        self.assertTrue(data.startswith(b"YUV4MPEG2 W960 H540 "), data[:80])
        self.assertEqual(data.count(b"FRAME\n"), 7)

    def test_standard_input(self):
        with open(ROAD, "rb") as road:
            piped = self.edgecam("-", "--hash", "--frames", "9", stdin=road).stdout
        self.assertEqual(piped, self.edgecam(ROAD, "--hash", "--frames", "9").stdout)

    def test_through_a_pipe(self):
        """y4m from a pipe, y4m into a pipe."""
        raw = support.judge("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25", "-frames:v", "12", "-pix_fmt", "gray",
                            "-f", "yuv4mpegpipe", "-strict", "-1", "-")
        data = self.edgecam("-", "-o", "-", input=raw).stdout
        self.assertEqual(data.count(b"FRAME\n"), 12)

    def test_reader_that_leaves(self):
        """`edgecam ... -o - | head` ends quietly."""
        with subprocess.Popen([PROGRAM, "demo:320x240@25", "-o", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=support.environment()) as p:
            p.stdout.read(100)
            p.stdout.close()
            self.assertEqual(p.wait(timeout=30), 0)
            self.assertEqual(p.stderr.read().decode().count("rror"), 0)

    def test_names_are_bytes(self):
        for name in ("a:b.mp4", "http:x.mp4", "-dash.mp4", "100%d.mp4", " lead trail .mp4", "quo'te\".mp4", "x" * 240 + ".mp4"):
            with self.subTest(name=name):
                shutil.copy(ROAD, self.folder / name)
                self.edgecam("--null", "--frames", "2", "--", name)
                self.edgecam("--frames", "2", "-y", "-o", "edges-" + name[:-4][:200] + ".mp4", "--", name)
        odd = b"bad\xff\xfeutf8.mp4"
        shutil.copy(ROAD, bytes(self.folder) + b"/" + odd)
        done = subprocess.run([PROGRAM.encode(), odd, b"--null", b"--frames", b"2", b"-q", b"--stats", b"-"], cwd=self.folder,
                              stdout=subprocess.PIPE, env=support.environment(), timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("bad\ufffd\ufffdutf8.mp4", support.json.loads(done.stdout)["input"])


class Batch(support.Case):
    def test_one_bad_file_does_not_stop_the_rest(self):
        (self.folder / "broken.mp4").write_bytes(b"this is not a video" * 100)
        self.short_clip("first.mp4")
        self.short_clip("second.mkv")
        done = self.edgecam("first.mp4", "broken.mp4", "second.mkv", "--out-dir", "out", expect=1)
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()), ["first.mp4", "second.mkv"])
        for name in ("first.mp4", "second.mkv"):
            self.assertEqual(int(support.video_of(support.probe(self.folder / "out" / name))["nb_read_frames"]), 10)
        text = done.stderr.decode()
        self.assertIn("broken.mp4", text)
        self.assertIn("1 of 3 inputs failed", text)

    def test_names_that_meet(self):
        self.short_clip("one.avi", "320x240", 10, "-c:v", "mpeg4")
        self.short_clip("one.mp4", "320x240", 12)
        self.edgecam("one.avi", "one.mp4", "--out-dir", "out")
        frames = {p.name: int(support.video_of(support.probe(p))["nb_read_frames"]) for p in (self.folder / "out").iterdir()}
        self.assertEqual(frames, {"one.mp4": 10, "one-2.mp4": 12})

    def test_folder(self):
        (self.folder / "in").mkdir()
        for name in ("b.mp4", "a.MOV"):
            self.short_clip("in/" + name)
        (self.folder / "in" / "notes.txt").write_text("no video")
        (self.folder / "in" / "sub.mp4").mkdir()
        self.edgecam("in", "--out-dir", "out")
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()), ["a.mov", "b.mp4"])

    def test_empty_folder(self):
        (self.folder / "in").mkdir()
        text = self.edgecam("in", "--out-dir", "out", expect=1).stderr.decode()
        self.assertIn("no videos", text)

    def test_inputs_are_never_overwritten(self):
        """An output that would land on another input of the same run is refused, even with -y."""
        self.short_clip("a.avi", "320x240", 10, "-c:v", "mpeg4")
        target = self.short_clip("a.mp4")
        before = target.read_bytes()
        text = self.edgecam("a.avi", "a.mp4", "--out-dir", ".", "-y", expect=1).stderr.decode()
        self.assertIn("a.mp4", text)
        self.assertEqual(target.read_bytes(), before)

    def test_out_dir_that_is_a_file(self):
        self.short_clip("a.mp4")
        (self.folder / "out").write_text("")
        self.assertIn("'out'", self.message("a.mp4", "--out-dir", "out", expect=4))

    def test_statistics_of_each(self):
        self.short_clip("a.mp4")
        self.short_clip("b.mp4")
        lines = self.edgecam("a.mp4", "b.mp4", "--out-dir", "out", "--stats", "-").stdout.decode().splitlines()
        self.assertEqual([support.json.loads(line)["input"] for line in lines], ["a.mp4", "b.mp4"])


@unittest.skipUnless(MEDIA.is_dir(), "the clips are missing")
class Bundled(unittest.TestCase):
    def test_clips_are_there(self):
        self.assertTrue(ROAD.is_file() and PHONE.is_file())


if __name__ == "__main__":
    support.main()
