"""The pixels that leave the program are OpenCV's, whichever way they leave it."""

import sys

import support
from support import PHONE, ROAD


class Pixels(support.Case):
    @support.needs_opencv
    def test_road_equals_opencv(self):
        """All 221 frames; the clip is limited range, so luma is expanded first."""
        width, height, planes = support.decode_luma(ROAD)
        self.assertEqual(len(planes), 221)
        wanted = [support.md5(support.sobel_by_opencv(p, width, height, limited=True).tobytes()) for p in planes]
        got = self.hashes(ROAD)
        self.assertEqual([i for i, _, _ in got], list(range(221)))
        self.assertEqual([h for _, _, h in got], wanted)

    @support.needs_opencv
    def test_phone_equals_opencv(self):
        """Full range, and turned upright before the edges."""
        width, height, planes = support.decode_luma(PHONE, count=4)
        self.assertEqual((width, height), (2160, 3840))
        wanted = [support.md5(support.sobel_by_opencv(p, width, height, limited=False).tobytes()) for p in planes]
        self.assertEqual([h for _, _, h in self.hashes(PHONE, "--frames", "4")], wanted)

    @support.needs_opencv
    def test_options_reach_the_detector(self):
        width, height, planes = support.decode_luma(ROAD, count=2)
        images = [support.expand_limited(support.numpy.frombuffer(p, support.numpy.uint8)).reshape(height, width) for p in planes]
        cv2, numpy = support.cv2, support.numpy

        def laplacian(image):
            return numpy.clip(numpy.abs(cv2.Laplacian(image, cv2.CV_64F, ksize=1)), 0, 255)

        def threshold(image):
            gx, gy = cv2.Scharr(image, cv2.CV_64F, 1, 0), cv2.Scharr(image, cv2.CV_64F, 0, 1)
            return numpy.where(numpy.abs(gx) + numpy.abs(gy) >= 400, 255, 0)

        def convolution(image):
            kernel = numpy.array([[1, 2, 1], [0, 0, 0], [-1, -2, -1]], numpy.float64)
            return numpy.clip(cv2.filter2D(image, cv2.CV_64F, kernel), 0, 255)

        def replicate(image):
            gx = cv2.Sobel(image, cv2.CV_64F, 1, 0, borderType=cv2.BORDER_REPLICATE)
            gy = cv2.Sobel(image, cv2.CV_64F, 0, 1, borderType=cv2.BORDER_REPLICATE)
            return numpy.clip(numpy.rint(numpy.sqrt(gx * gx + gy * gy)), 0, 255)

        table = [
            (["-e", "laplacian"], laplacian),
            (["-e", "scharr", "--norm", "l1", "--threshold", "400"], threshold),
            (["--kernel", "1 2 1; 0 0 0; -1 -2 -1"], convolution),
            (["--border", "replicate"], replicate),
        ]
        for options, definition in table:
            with self.subTest(options=options):
                wanted = [support.md5(definition(i).astype(numpy.uint8).tobytes()) for i in images]
                self.assertEqual([h for _, _, h in self.hashes(ROAD, "--frames", "2", *options)], wanted)

    @support.needs_opencv
    def test_raw_luma(self):
        width, height, planes = support.decode_luma(ROAD, count=2)
        wanted = [support.md5(support.sobel_by_opencv(p, width, height, limited=False).tobytes()) for p in planes]
        self.assertEqual([h for _, _, h in self.hashes(ROAD, "--frames", "2", "--luma", "raw")], wanted)

    @support.needs_opencv
    def test_colour_equals_opencv(self):
        """Canny of the colours that FFmpeg makes: tagged and untagged, odd, turned and filtered."""
        odd = self.make("odd.mkv", "-f", "lavfi", "-i", "testsrc2=s=161x97:r=25,format=yuv420p", "-frames:v", "3", "-c:v", "ffv1",
                        "-colorspace", "bt709", "-color_range", "tv")
        deep = self.make("deep.mkv", "-f", "lavfi", "-i", "testsrc2=s=160x96:r=25,format=yuv422p10le", "-frames:v", "3", "-c:v",
                         "ffv1", "-colorspace", "bt2020nc")
        planar = self.make("planar.mkv", "-f", "lavfi", "-i", "testsrc2=s=66x34:r=25,format=gbrp", "-frames:v", "3", "-c:v", "ffv1")
        gray = self.make("gray.mkv", "-f", "lavfi", "-i", "testsrc2=s=64x32:r=25,format=gray", "-frames:v", "3", "-c:v", "ffv1")
        for clip, options in ((ROAD, []), (PHONE, []), (odd, []), (deep, []), (planar, []), (gray, []),
                              (odd, ["--pre", "scale=64:48,hue=h=90"])):
            with self.subTest(clip=clip.name, options=options):
                width, height, pictures = support.decode_rgb(clip, 2, options[1] if options else None)
                colours = [support.numpy.frombuffer(p, support.numpy.uint8).reshape(height, width, 3) for p in pictures]
                wanted = [support.md5(support.cv2.Canny(c, 50, 120, L2gradient=True).tobytes()) for c in colours]
                got = self.hashes(clip, "-e", "canny", "--channels", "rgb", "--low", "50", "--high", "120", "--frames", "2", *options)
                self.assertEqual([h for _, _, h in got], wanted)

    @support.needs_opencv
    def test_deep_colour(self):
        """With the input's own depth the planes are FFmpeg's of that depth; thresholds are in 8-bit units."""
        deep = self.make("deep.mkv", "-f", "lavfi", "-i", "testsrc2=s=160x96:r=25,format=yuv444p10le", "-frames:v", "1", "-c:v", "ffv1")
        self.edgecam(deep, "-o", "edges.mkv", "--codec", "ffv1", "--depth", "native", "-e", "canny", "--channels", "rgb", "--low", "30.25",
                     "--high", "90.5")
        raw = support.judge("ffmpeg", "-v", "error", "-i", deep, "-f", "rawvideo", "-pix_fmt", "gbrp10le", "-")
        green, blue, red = support.numpy.frombuffer(raw, support.numpy.uint16).reshape(3, 96, 160)
        sys.path.append(str(support.SOURCE / "tests" / "golden"))
        import oracle

        wanted = oracle.canny(support.numpy.dstack((red, green, blue)), 30.25, 90.5, depth=10)
        edges = support.judge("ffmpeg", "-v", "error", "-i", self.folder / "edges.mkv", "-f", "rawvideo", "-pix_fmt", "gray10le", "-")
        self.assertEqual(edges, wanted.astype(support.numpy.uint16).tobytes())
        self.assertTrue(wanted.any())

    def test_stable(self):
        """Off it changes nothing; on, lines that stand still stay, whatever the threads, and the first frame is as ever."""
        clip = self.make("still.mkv", "-i", ROAD, "-vf", "trim=end_frame=1,loop=9:1,setpts=N/25/TB,noise=c0s=8:c0f=t:c0_seed=1",
                         "-c:v", "ffv1")
        canny = [clip, "-e", "canny", "--backend", "cpu"]
        off, on = self.hashes(*canny), self.hashes(*canny, "--stable", "--threads", "1")
        self.assertEqual(self.hashes(*canny, "--stable=0"), off)
        self.assertEqual(self.hashes(*canny, "--stable=0.5", "--threads", "3"), on)
        self.assertEqual(on[0], off[0])
        self.assertFalse(set(h for _, _, h in on[1:]) & set(h for _, _, h in off))

        def changes(*options):
            raw = self.edgecam(*canny, *options, "-o", "-", "--out-format", "rawvideo").stdout
            frames = [raw[i * 960 * 540 : (i + 1) * 960 * 540] for i in range(10)]
            return sum(a != b for a, b in zip(frames[8], frames[9]))

        self.assertLess(4 * changes("--stable"), changes())

    def test_threads_do_not_matter(self):
        one = self.hashes(ROAD, "--frames", "20", "--backend", "cpu", "--threads", "1")
        self.assertEqual(len(one), 20)
        for threads in ("2", "4"):
            self.assertEqual(self.hashes(ROAD, "--frames", "20", "--backend", "cpu", "--threads", threads), one)

    def test_instruction_sets_do_not_matter(self):
        run = (ROAD, "--frames", "5", "--backend", "cpu", "--blur", "1.4")
        best = self.hashes(*run)
        with open("/proc/cpuinfo") as file:
            flags = set() if support.EMULATED else set(file.read().split())
        needs = {"baseline": set(), "avx2": {"avx2", "fma"}, "avx512": {"avx2", "fma", "avx512bw", "avx512dq", "avx512vl"}}
        needs["avx512vnni"] = needs["avx512"] | {"avx512_vnni"}
        for features, needed in needs.items():
            if needed <= flags:
                self.assertEqual(self.hashes(*run, "--cpu-features", features), best, features)
        text = self.message(ROAD, "--null", "--backend", "cpu", "--cpu-features", "mmx", expect=2)
        self.assertIn("'mmx'", text)

    def test_hash_times(self):
        self.assertEqual([round(t * 25) for _, t, _ in self.hashes(ROAD, "--frames", "10")], list(range(10)))

    def test_lossless_file_equals_hash(self):
        out = self.folder / "edges.mkv"
        self.edgecam(ROAD, "-o", out, "--codec", "ffv1", "--frames", "10")
        video = support.video_of(support.probe(out))
        self.assertEqual((video["codec_name"], video["pix_fmt"]), ("ffv1", "gray"))
        size = video["width"] * video["height"]
        raw = support.judge("ffmpeg", "-v", "error", "-i", out, "-map", "0:v:0", "-pix_fmt", "gray", "-f", "rawvideo", "-")
        got = [support.md5(raw[i : i + size]) for i in range(0, len(raw), size)]
        self.assertEqual(got, [h for _, _, h in self.hashes(ROAD, "--frames", "10")])

    def test_y4m_equals_hash(self):
        data = self.edgecam(ROAD, "-o", "-", "--frames", "3").stdout
        header, _, rest = data.partition(b"\n")
        self.assertIn(b" Cmono", header)
        size = 960 * 540
        got = [support.md5(rest[i * (size + 6) + 6 : (i + 1) * (size + 6)]) for i in range(3)]
        self.assertEqual(got, [h for _, _, h in self.hashes(ROAD, "--frames", "3")])

    def test_demo_is_deterministic(self):
        runs = [self.hashes("demo:320x180@30", "--frames", "5") for _ in range(2)]
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(len({h for _, _, h in runs[0]}), 5, "the picture moves")
        self.assertEqual(self.hashes("--demo=320x180@30", "--frames", "5"), runs[0])

    def test_flat_picture_has_no_edges(self):
        clip = self.make("flat.mkv", "-f", "lavfi", "-i", "color=c=0x3f7f1f:s=101x77:r=25,format=rgb24", "-frames:v", "2", "-c:v", "ffv1",
                         "-pix_fmt", "gray")
        self.assertEqual({h for _, _, h in self.hashes(clip)}, {support.md5(bytes(101 * 77))})

    def test_native_depth(self):
        clip = self.make("deep.mkv", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25,format=yuv420p10le", "-frames:v", "2", "-c:v", "ffv1")
        self.edgecam(clip, "-o", "deep-edges.mkv", "--codec", "ffv1", "--depth", "native")
        self.assertEqual(support.video_of(support.probe(self.folder / "deep-edges.mkv"))["pix_fmt"], "gray10le")
        self.edgecam(clip, "-o", "edges.mkv", "--codec", "ffv1")
        self.assertEqual(support.video_of(support.probe(self.folder / "edges.mkv"))["pix_fmt"], "gray")


if __name__ == "__main__":
    support.main()
