"""Every kind of output, as FFmpeg reads it; what could not be played is refused before it is begun."""

import support


class Kinds(support.Case):
    def setUp(self):
        super().setUp()
        self.clip = self.make("in.mkv", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25", "-frames:v", "4", "-c:v", "ffv1", "-pix_fmt",
                              "yuv420p")

    def luma(self, name, form="gray"):
        raw = support.judge("ffmpeg", "-v", "error", "-i", self.folder / name, "-map", "0:v:0", "-pix_fmt", form, "-f", "rawvideo", "-")
        return support.numpy.frombuffer(raw, support.numpy.uint8).astype(int)

    @support.about_bytes
    @support.needs_opencv
    def test_containers(self):
        """All frames, the usual codec, and the picture that the plain result is."""
        self.edgecam(self.clip, "-o", "truth.mkv", "--codec", "ffv1")
        truth = self.luma("truth.mkv")
        for name, codec in (("a.mp4", "h264"), ("a.mov", "h264"), ("a.mkv", "h264"), ("a.webm", "vp9"), ("a.avi", "mpeg4"),
                            ("a.ts", "h264"), ("a.flv", "h264"), ("a.ogv", "theora"), ("a.mpg", "mpeg1video"), ("a.nut", "h264"),
                            ("a.gif", "gif"), ("a.apng", "apng"), ("a.y4m", "rawvideo")):
            with self.subTest(name=name):
                self.edgecam(self.clip, "-o", name)
                video = support.video_of(support.probe(self.folder / name))
                self.assertEqual((video["codec_name"], video["width"], video["height"], int(video["nb_read_frames"])),
                                 (codec, 96, 64, 4))
                self.assertLess(abs(self.luma(name) - truth).mean(), 8)

    @support.about_bytes
    def test_pictures(self):
        """Sequences, and single pictures of a single frame."""
        for ending, codec in (("png", "png"), ("jpg", "mjpeg"), ("tiff", "tiff"), ("bmp", "bmp")):
            with self.subTest(ending=ending):
                self.edgecam(self.clip, "-o", f"p%03d.{ending}")
                for n in range(1, 5):
                    video = support.video_of(support.probe(self.folder / f"p{n:03}.{ending}"))
                    self.assertEqual((video["codec_name"], video["width"], video["height"]), (codec, 96, 64))
                self.assertFalse((self.folder / f"p005.{ending}").exists())
                self.edgecam(self.clip, "--frames", "1", "-o", f"one.{ending}")
                self.assertIn("%03d", self.message(self.clip, "-o", f"many.{ending}", expect=4))
        for name in ("one.webp", "one.avif", "one.gif", "one.apng"):
            self.edgecam(self.clip, "--frames", "1", "-o", name)
            video = support.video_of(support.probe(self.folder / name))
            self.assertEqual((video["width"], video["height"], int(video["nb_read_frames"])), (96, 64, 1), name)

    @support.about_bytes
    def test_lossless_and_deep(self):
        deep = self.make("deep.mkv", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25,format=yuv420p10le", "-frames:v", "2", "-c:v", "ffv1")
        table = [
            ("gray.mp4", self.clip, ["--codec", "libx264", "--crf", "0", "--pix-fmt", "gray"], "h264", "yuv420p"),  # how FFmpeg shows it
            ("gray.mkv", self.clip, ["--codec", "ffv1"], "ffv1", "gray"),
            ("deep.mp4", deep, ["--depth", "native"], "h264", "yuv420p10le"),
            ("deep.webm", deep, ["--depth", "native"], "vp9", "yuv420p10le"),
            ("deep.mov", deep, ["--depth", "native", "--codec", "prores_ks"], "prores", "yuv422p10le"),
            ("deep.mkv.mkv", deep, ["--depth", "native", "--codec", "ffv1"], "ffv1", "gray10le"),
            ("hevc.mp4", deep, ["--depth", "native", "--codec", "libx265", "--preset", "ultrafast"], "hevc", "yuv420p10le"),
        ]
        for name, clip, options, codec, form in table:
            with self.subTest(name=name):
                self.edgecam(clip, "-o", name, *options)
                video = support.video_of(support.probe(self.folder / name))
                self.assertEqual((video["codec_name"], video["pix_fmt"].replace("yuvj", "yuv")), (codec, form))
        want = [h for _, _, h in self.hashes(self.clip)]
        for name in ("gray.mp4", "gray.mkv"):
            raw = support.judge("ffmpeg", "-v", "error", "-i", self.folder / name, "-pix_fmt", "gray", "-f", "rawvideo", "-")
            self.assertEqual([support.md5(raw[i : i + 6144]) for i in range(0, len(raw), 6144)], want, name)

    def test_encoder_options_pass_through(self):
        self.edgecam(self.clip, "-o", "a.mkv", "--encoder-opt", "g=1", "--encoder-opt", "profile=high")
        flags = support.judge("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=flags", "-of", "csv=p=0",
                              self.folder / "a.mkv").decode().split()
        self.assertEqual([f[0] for f in flags], ["K"] * 4)
        self.assertIn("no_such", self.message(self.clip, "-o", "b.mkv", "--encoder-opt", "no_such=1", expect=2))

    def test_refused_with_what_would_work(self):
        for name, codec, words in (("x.mp4", "ffv1", ("libx264", ".mkv")), ("x.mov", "libvpx-vp9", ("libx264", ".mp4")),
                                   ("x.webm", "libx264", ("libvpx-vp9", ".mp4")), ("x.ts", "ffv1", ("libx264", ".mkv")),
                                   ("x.gif", "libx264", ("gif", ".mp4")), ("x.ogv", "libx264", ("libtheora", ".mp4")),
                                   ("x.flv", "libx265", ("libx264", ".mp4"))):
            text = self.message(self.clip, "-o", name, "--codec", codec, expect=2)
            for word in words:
                self.assertIn(word, text)
        self.assertIn("yuv420p", self.message(self.clip, "-o", "x.mp4", "--pix-fmt", "rgb24", expect=2))
        self.assert_only("in.mkv")

    def test_what_was_not_asked_for(self):
        """Where NVENC does not open, software stands in, and even -q says so."""
        done = self.edgecam(self.clip, "-o", "a.mp4", "--codec", "h264_nvenc", "-q")
        codec = support.video_of(support.probe(self.folder / "a.mp4"))["codec_name"]
        self.assertEqual(codec, "h264")
        if done.stderr:
            self.assertIn(b"libx264 takes its place", done.stderr)


class Times(support.Case):
    @support.needs_opencv
    def test_uneven_frames_at_a_constant_rate(self):
        """y4m has one rate: frames are repeated and left out as FFmpeg does it."""
        self.make("vfr.mkv", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25", "-frames:v", "30", "-vf",
                  "setpts='N/25/TB+gte(N,10)*0.4/TB-gte(N,20)*0.3/TB'", "-vsync", "vfr", "-c:v", "ffv1", "-pix_fmt", "gray")
        self.edgecam("vfr.mkv", "-o", "edges.mkv", "--codec", "ffv1")
        wanted = support.judge("ffmpeg", "-v", "error", "-i", self.folder / "edges.mkv", "-r", "25", "-vsync", "cfr", "-pix_fmt", "gray",
                               "-f", "rawvideo", "-")
        done = self.edgecam("vfr.mkv", "-o", "out.y4m")
        self.assertIn("repeated and left out", done.stderr.decode())
        got = support.judge("ffmpeg", "-v", "error", "-i", self.folder / "out.y4m", "-f", "rawvideo", "-pix_fmt", "gray", "-")
        size = 64 * 48
        frames = [[support.md5(raw[i : i + size]) for i in range(0, len(raw), size)] for raw in (wanted, got)]
        self.assertAlmostEqual(len(frames[0]), len(frames[1]), delta=1)
        self.assertGreater(len(frames[1]), 30)
        same = sum(a == b for a, b in zip(*frames))
        self.assertGreaterEqual(same, len(frames[0]) - 4)
        even = self.edgecam(self.short_clip(), "-o", "even.y4m", "-q", "-v")
        self.assertNotIn("repeated", even.stderr.decode())

    def test_joined_transport_streams(self):
        """The times of the second part lie 5000 s ahead, or back: sound and picture go on without a gap, together."""
        for name, offset in (("a.ts", "0"), ("b.ts", "5000")):
            self.make(name, "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25", "-f", "lavfi", "-i", "sine=r=48000", "-t", "2", "-c:v",
                      "mpeg2video", "-bf", "0", "-c:a", "mp2", "-output_ts_offset", offset)
        a, b = ((self.folder / name).read_bytes() for name in ("a.ts", "b.ts"))
        for name, data in (("ahead.ts", a + b), ("back.ts", b + a)):
            (self.folder / name).write_bytes(data)
            self.edgecam(name, "-o", name + ".mkv")
            for stream, step in (("v", 0.1), ("a", 0.2)):
                times = sorted(float(t) for t in support.judge("ffprobe", "-v", "error", "-select_streams", stream, "-show_entries",
                                                         "packet=pts_time", "-of", "csv=p=0",
                                                         self.folder / (name + ".mkv")).decode().replace(",", "").split())
                self.assertTrue(all(0 < y - x < step for x, y in zip(times, times[1:])), (name, stream))
                self.assertAlmostEqual(times[-1], 4, delta=0.2)


if __name__ == "__main__":
    support.main()
