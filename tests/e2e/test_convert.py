"""Files in, files out: nothing is lost on the way."""

import shutil
import subprocess
import unittest

import support
from support import MEDIA, PHONE, PROGRAM, ROAD


class Convert(support.Case):
    def test_road(self):
        """Every frame at its own time, and the sound as it was."""
        out = self.folder / "edges.mp4"
        self.edgecam(ROAD, "-o", out, "--preset", "veryfast")
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
        self.edgecam(ROAD, "-o", out, "--start", "2", "--duration", "0:01", "--preset", "ultrafast")
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

    def test_prefilter_that_does_not_fit(self):
        """The message shows what the person wrote."""
        self.assertIn('"nosuchfilter=1"', self.message(ROAD, "--null", "--pre", "nosuchfilter=1", expect=2))

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
        clip = self.short_clip("in.mp4", "64x48", 2)
        for name in ("a:b.mp4", "http:x.mp4", "-dash.mp4", "100%d.mp4", " lead trail .mp4", "quo'te\".mp4", "x" * 240 + ".mp4"):
            with self.subTest(name=name):
                shutil.copy(clip, self.folder / name)
                self.edgecam("--null", "--", name)
                self.edgecam("-y", "-o", "edges-" + name[:-4][:200] + ".mp4", "--", name)
        odd = b"bad\xff\xfeutf8.mp4"
        shutil.copy(clip, bytes(self.folder) + b"/" + odd)
        done = subprocess.run([PROGRAM.encode(), odd, b"--null", b"-q", b"--stats", b"-"], cwd=self.folder,
                              stdout=subprocess.PIPE, env=support.environment(), timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("bad\ufffd\ufffdutf8.mp4", support.json.loads(done.stdout)["input"])


@unittest.skipUnless(MEDIA.is_dir(), "the clips are missing")
class Bundled(unittest.TestCase):
    def test_clips_are_there(self):
        self.assertTrue(ROAD.is_file() and PHONE.is_file())


if __name__ == "__main__":
    support.main()
