"""Encoding on the GPU, without one: EDGECAM_PROGRAM is the program over the stand-ins of tests/gpu/shim. Its encoder loses nothing,
and tells how many pictures it took from device memory, how many from buffers that they were copied to, and what it never got back."""

import json
import os
import signal
import subprocess
import unittest.mock

import support

TAKES = b"h264_nvenc takes the results from the GPU's memory"
FRAMES = 12
WIDTH, HEIGHT = 144, 90  # the last row of blocks is not whole
SOUND = ("-f", "lavfi", "-i", "sine=frequency=440:duration=0.48", "-c:a", "aac")


def sentences(done):
    """What the program said; AddressSanitizer remarks on the stand-in's fibers."""
    return [line for line in done.stderr.splitlines() if not line.startswith(b"==")]


class Nvenc(support.Running):
    def clip(self, name="clip.mp4", size=f"{WIDTH}x{HEIGHT}", *arguments):
        return self.make(name, "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25", *SOUND, "-frames:v", str(FRAMES), "-c:v", "libx264",
                         "-preset", "ultrafast", "-pix_fmt", "yuv420p", *arguments)

    def encode(self, clip, *arguments, output="out.mp4", expect=0, backend="cuda", decoder="cpu", **settings):
        """The finished process, and (pictures from device memory, pictures from buffers) of the encoders that began."""
        log = self.folder / "encoders"
        log.unlink(missing_ok=True)
        done = self.edgecam(clip, "-o", output, "--codec", "h264_nvenc", "--backend", backend, "--decoder", decoder, *arguments, "-y",
                            expect=expect, env=support.environment(SHIM_NVENC_LOG=str(log), **settings))
        made = [tuple(map(int, line.split())) for line in log.read_text().splitlines()] if log.exists() else []
        for *_, left in made:
            self.assertEqual(left, 0, "the encoder did not get everything back")
        return done, [m[2:4] for m in made]

    def assert_same_pictures(self, clip, *arguments, output="out.mp4"):
        """The pictures are those of the CPU, and so are their times."""
        wanted = self.hashes(clip, "--backend", "cpu", *arguments)
        _, _, planes = support.decode_luma(self.folder / output)
        self.assertEqual([support.md5(p) for p in planes], [h for _, _, h in wanted])
        times = support.judge("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "csv=p=0",
                              self.folder / output).replace(b",", b"").split()
        begin = float(times[0])  # of a transport stream: not 0
        self.assertEqual([round(float(t) - begin, 3) for t in times], [round(t, 3) for _, t, _ in wanted])

    def test_pictures_stay_on_the_gpu(self):
        clip = self.clip()
        for edges in ((), ("-e", "canny"), ("-e", "canny", "--auto", "--stable"), ("--threshold", "60"), ("--low-latency", "--null")):
            with self.subTest(edges):
                done, made = self.encode(clip, *edges, "-v")
                self.assertEqual(made, [(FRAMES, 0)])
                self.assertIn(TAKES, done.stderr)
                self.assert_same_pictures(clip, *edges)
        self.assertEqual(support.packets_md5(self.folder / "out.mp4", 1), support.packets_md5(clip, 1))

    def test_colours_are_those_of_the_other_way(self):
        """Bit by bit the same stream as through host memory: neutral chroma, full range, and what the video says of its colours."""
        colours = ("-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc")
        clip = self.clip("clip.mp4", f"{WIDTH}x{HEIGHT}", *colours)
        _, made = self.encode(clip)
        self.assertEqual(made, [(FRAMES, 0)])
        _, made = self.encode(clip, "--hash", output="host.mp4")
        self.assertEqual(made, [(0, FRAMES)])
        for stream in (0, 1):
            self.assertEqual(*(support.packets_md5(self.folder / name, stream) for name in ("out.mp4", "host.mp4")))
        video = support.video_of(support.probe(self.folder / "out.mp4"))
        self.assertEqual((video["color_range"], video["color_primaries"], video["color_transfer"]), ("pc", "bt2020", "smpte2084"))

    def test_sizes(self):
        for size in ((2, 2), (18, 34), (256, 48)):
            with self.subTest(size):
                clip = self.make("clip.mkv", "-f", "lavfi", "-i", f"testsrc2=s={size[0]}x{size[1]}:r=25", "-frames:v", "5", "-c:v", "ffv1",
                                 "-pix_fmt", "yuv420p")
                _, made = self.encode(clip)
                self.assertEqual(made, [(5, 0)])
                self.assert_same_pictures(clip)

    def test_nothing_crosses_the_bus(self):
        """The statistics say so: nothing down, and with a decoder on the GPU nothing up either."""
        clip = self.clip()
        for decoder, up in (("cpu", FRAMES * WIDTH * HEIGHT), ("nvdec", 0)):
            with self.subTest(decoder):
                _, made = self.encode(clip, "--kernel", "0 0 0; 0 1 0; 0 0 0", "--luma", "raw", "--stats", "stats.json", decoder=decoder)
                self.assertEqual(made, [(FRAMES, 0)])
                engines = json.loads((self.folder / "stats.json").read_text())["gpu"]["engines"]
                self.assertEqual((engines["h2d"]["bytes"], engines["d2h"]["bytes"]), (up, 0))
                self.assertIsNone(engines["d2h"]["busy_percent"])
        _, _, planes = support.decode_luma(self.folder / "out.mp4")
        self.assertEqual(len(set(planes)), FRAMES)
        self.assertLessEqual(set(planes), {bytes([n]) * (WIDTH * HEIGHT) for n in range(1, 256)})  # the stand-in decoder's own

    def test_what_goes_through_host_memory(self):
        clip = self.clip()
        for arguments in (("--hash",), ("--style", "ink"), ("--encoder-opt", "gpu=0")):
            with self.subTest(arguments):
                done, made = self.encode(clip, *arguments, "-v")
                self.assertEqual(made, [(0, FRAMES)])
                self.assertNotIn(TAKES, done.stderr)
                if arguments != ("--style", "ink"):
                    self.assert_same_pictures(clip)
        _, made = self.encode(clip, backend="cpu")
        self.assertEqual(made, [(0, FRAMES)])
        odd = self.make("odd.mkv", "-f", "lavfi", "-i", "testsrc2=s=146x92:r=25", "-vf", "crop=145:91:exact=1", "-frames:v", "5",
                        "-c:v", "ffv1", "-pix_fmt", "gray")
        done, made = self.encode(odd)
        self.assertEqual(made, [(0, 5)])
        self.assertIn(b"padded to 146x92", done.stderr)

    def test_stream_that_carries_its_parameters(self):
        clip = self.clip()
        _, made = self.encode(clip, output="out.ts")
        self.assertEqual(made, [(FRAMES, 0)])
        self.assert_same_pictures(clip, output="out.ts")

    def test_refusal_at_open(self):
        """Of the frames on the GPU: they go through host memory. Of everything: software stands in, with a notice."""
        clip = self.clip()
        for failure in ("session 0", "init 0"):
            with self.subTest(failure):
                done, made = self.encode(clip, SHIM_NVENC_FAIL=failure)
                self.assertEqual((made, done.stderr.count(b"takes its place")), ([(0, FRAMES)], 0), done.stderr)
                self.assert_same_pictures(clip)
        for failure in ("session -1", "init -1"):
            with self.subTest(failure):
                done, made = self.encode(clip, "-q", SHIM_NVENC_FAIL=failure)
                self.assertEqual((made, len(sentences(done))), ([], 1), done.stderr)
                self.assertIn(b"libx264 takes its place", done.stderr)
                self.assertEqual(len(support.decode_luma(self.folder / "out.mp4")[2]), FRAMES)

    def test_failure_on_the_way(self):
        clip = self.clip()
        for failure in ("register 2", "map 0", "map 5", "encode 5", "lock 3"):
            with self.subTest(failure):
                done, _ = self.encode(clip, expect=4, SHIM_NVENC_FAIL=failure)
                said = sentences(done)
                self.assertEqual(len(said), 1, done.stderr)
                self.assertTrue(said[0].startswith(b"edgecam: cannot write out.mp4: the encoder h264_nvenc failed: "), said)
                self.assert_only("clip.mp4", "encoders")

    def test_gpu_that_is_lost(self):
        """At one call or another: before the first frame the CPU takes over, later the run ends, and no file is left."""
        clip = self.clip()
        seen = set()
        for call in range(0, 300, 37):
            log = self.folder / "encoders"
            log.unlink(missing_ok=True)
            env = support.environment(SHIM_NVENC_LOG=str(log), SHIM_CUDA_FAIL=str(call))
            done = subprocess.run([support.PROGRAM, clip, "-o", "out.mp4", "--codec", "h264_nvenc", "--decoder", "cpu"], cwd=self.folder,
                                  env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=support.TIME_LIMIT_S)
            seen.add(done.returncode)
            self.assertIn(done.returncode, (0, 5), done.stderr)
            for line in sentences(done):
                self.assertTrue(line.startswith(b"edgecam: "), done.stderr)
            self.assertEqual(done.returncode == 0, (self.folder / "out.mp4").exists())
            (self.folder / "out.mp4").unlink(missing_ok=True)
        self.assertEqual(seen, {0, 5})

    def test_doctor_tells(self):
        text = self.edgecam("--doctor", "--backend", "cuda").stdout
        self.assertIn(b"h264_nvenc opens (--codec h264_nvenc); results that nothing else looks at stay on the GPU for it", text)

    def test_stop(self):
        """The file up to there plays, and the encoder has got everything back."""
        log = self.folder / "encoders"
        with unittest.mock.patch.dict(os.environ, SHIM_NVENC_LOG=str(log)):
            p = self.start("demo:64x48@25", "--realtime", "--backend", "cuda", "-o", "out.mp4", "--codec", "h264_nvenc")
        p.send_signal(signal.SIGINT)
        self.assertIn(self.finish(p), (130, -signal.SIGINT))
        width, height, device, own, left = map(int, log.read_text().split())
        self.assertEqual((width, height, own, left), (64, 48, 0, 0))
        self.assertGreater(device, 5)
        self.assertGreater(len(support.decode_luma(self.folder / "out.mp4")[2]), 0)
        self.assert_only("encoders", "out.mp4")


if __name__ == "__main__":
    support.main()
