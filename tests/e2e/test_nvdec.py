"""Decoding on the GPU, without one: EDGECAM_PROGRAM is the program over the stand-ins of tests/gpu/shim. Its decoder gives
surfaces whose bytes are all the picture's number, so a sharpness of nothing (an identity kernel) shows which decoder was used."""

import support

IDENTITY = ("--kernel", "0 0 0; 0 1 0; 0 0 0", "--luma", "raw", "--backend", "cuda")
REFUSED = b"the GPU does not decode this kind of stream; the CPU decodes it"
AV1 = ("-c:v", "libaom-av1", "-cpu-used", "8", "-g", "6")
H264 = ("-c:v", "libx264", "-preset", "ultrafast", "-g", "6")
WIDTH, HEIGHT = 128, 96


class Nvdec(support.Case):
    def clip(self, name, *arguments, frames=6, size=f"{WIDTH}x{HEIGHT}"):
        return self.make(name, "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25", "-frames:v", str(frames), *arguments)

    def join(self, name, *parts):
        path = self.folder / name
        path.write_bytes(b"".join(p.read_bytes() for p in parts))
        return path

    def on_gpu(self, path, *options, codecs="4 8 11", width=4096, expect=0):
        """[(index, seconds, md5)], the notices, and [(codec, width, height)] of the GPU's decoders."""
        log = self.folder / "decoders"
        log.unlink(missing_ok=True)
        env = support.environment(SHIM_NVDEC_LOG=str(log), SHIM_NVDEC_CODECS=codecs, SHIM_NVDEC_WIDTH=str(width))
        done = self.edgecam(path, *IDENTITY, "--hash", "-v", *options, env=env, expect=expect)
        lines = [(int(i), float(t), h) for i, t, h in (line.split() for line in done.stdout.decode().splitlines())]
        made = [tuple(map(int, line.split())) for line in log.read_text().splitlines()] if log.exists() else []
        for *_, surfaces in made:
            self.assertLessEqual(surfaces, 32, "NVDEC has no more")
        return lines, done.stderr, [m[:3] for m in made]

    def on_cpu(self, path):
        return self.hashes(path, *IDENTITY, "--decoder", "cpu")

    def assert_from_gpu(self, lines):
        """Each picture is one of the stand-in's: all bytes the same, and no two pictures alike."""
        numbers = {support.md5(bytes([n]) * (WIDTH * HEIGHT)) for n in range(1, 256)}
        found = [h for _, _, h in lines]
        self.assertLessEqual(set(found), numbers)
        self.assertEqual(len(set(found)), len(found))

    def test_pictures_stay_on_the_gpu(self):
        """AV1 too, for which FFmpeg's usual decoder knows no GPU."""
        for codec, name, arguments in ((4, "h264.mp4", H264), (11, "av1.mp4", AV1), (11, "av1.mkv", AV1)):
            with self.subTest(name):
                clip = self.clip(name, *arguments, frames=12)
                lines, text, made = self.on_gpu(clip)
                self.assertEqual(made, [(codec, WIDTH, HEIGHT)])
                self.assertNotIn(REFUSED, text)
                self.assertEqual([line[:2] for line in lines], [line[:2] for line in self.on_cpu(clip)])
                self.assert_from_gpu(lines)

    def test_as_many_frames_at_once_as_it_has_surfaces_for(self):
        """The queue gives way first; where the lanes alone are too many, that is what is said."""
        for name, arguments, fit, too_many in (("av1.mp4", AV1, 8, 9), ("h264.mp4", H264, 10, 11)):
            clip = self.clip(name, *arguments, frames=20)
            for options in (("--lanes", "6"), ("--lanes", str(fit)), ("--queue", "40")):
                with self.subTest(name=name, options=options):
                    lines, text, made = self.on_gpu(clip, *options)
                    self.assertEqual((len(lines), len(made)), (20, 1), text)
                    self.assertNotIn(REFUSED, text)
                    self.assert_from_gpu(lines)
            lines, text, made = self.on_gpu(clip, "--lanes", str(too_many))
            self.assertEqual((lines, made), (self.on_cpu(clip), []))
            self.assertEqual((text.count(b"too few surfaces"), REFUSED in text), (1, False), text)
            self.assertIn("too few surfaces", self.message(clip, "--null", "--backend", "cuda", "--lanes", "16", "--decoder", "nvdec", expect=5))

    def test_no_other_decoder(self):
        """FFmpeg has an AV1 decoder that only GPUs make work: with it alone, a card that does not decode AV1 is the cause."""
        clip = self.clip("av1.mp4", *AV1)
        for backend, codecs in (("cuda", "4"), ("cpu", "11")):
            env = support.environment(SHIM_BARE_AV1="1", SHIM_NVDEC_CODECS=codecs)
            text = self.message(clip, "--null", "--backend", backend, env=env, expect=1)
            self.assertIn("FFmpeg here decodes av1 on GPUs that can, not on a CPU", text)

    def test_card_that_does_not_take_the_stream(self):
        """At open: one notice, and every frame is the CPU decoder's."""
        for name, arguments, codecs in (("av1.mp4", AV1, "4"), ("deep.mkv", (*AV1, "-pix_fmt", "yuv420p10le"), "11"),
                                        ("full.mkv", (*AV1, "-pix_fmt", "yuv444p"), "11"), ("h264.mp4", H264, "11"),
                                        ("high.mp4", (*H264, "-pix_fmt", "yuv420p10le"), "4")):
            with self.subTest(name):
                clip = self.clip(name, *arguments)
                lines, text, made = self.on_gpu(clip, codecs=codecs)
                self.assertEqual((made, text.count(REFUSED)), ([], 1), text)
                self.assertEqual(lines, self.on_cpu(clip))
                self.assertEqual(len(lines), 6)

    def test_another_size_on_the_way(self):
        small, wide = self.clip("small.obu", *AV1), self.clip("wide.obu", *AV1, size="192x96")
        lines, text, made = self.on_gpu(self.join("change.obu", small, wide, small))
        self.assertEqual(made, [(11, 128, 96), (11, 192, 96), (11, 128, 96)])
        self.assertEqual(len(lines), 18)
        self.assertNotIn(REFUSED, text)
        self.assertIn(b"changes to 192x96", text)

    def test_refused_on_the_way(self):
        """The frames so far are the GPU's, the rest the CPU's, none is lost, and it is said once."""
        av1, h264 = self.clip("first.obu", *AV1), self.clip("first.ts", *H264)
        full = self.clip("full.obu", *AV1, "-pix_fmt", "yuv444p")
        wide, wide_h264 = self.clip("wide.obu", *AV1, size="192x96"), self.clip("wide.ts", *H264, size="192x96")
        for first, then in ((av1, full), (av1, wide), (h264, wide_h264)):
            with self.subTest(then.name):
                both = self.join("both" + first.suffix, first, then, then)
                lines, text, decoders = self.on_gpu(both, width=150)
                expected = self.on_cpu(both)
                self.assertEqual(decoders, [(4 if first is h264 else 11, WIDTH, HEIGHT)])
                self.assertEqual([line[:2] for line in lines], [line[:2] for line in expected])
                self.assert_from_gpu(lines[:6])
                self.assertEqual(lines[6:], expected[6:])
                self.assertEqual((len(lines), text.count(REFUSED)), (18, 1), text)

    def test_damage_is_no_refusal(self):
        """A packet that cannot be decoded is counted; the GPU goes on."""
        clip = self.clip("clip.mp4", *AV1, frames=12)
        packets = support.judge("ffprobe", "-v", "error", "-show_entries", "packet=size,pos", "-of", "csv=p=0", clip)
        size, position = map(int, packets.decode().split()[3].split(","))
        data = bytearray(clip.read_bytes())
        data[position : position + size] = b"\xff" * size
        clip.write_bytes(data)
        lines, text, made = self.on_gpu(clip, expect=1)
        self.assertEqual(len(made), 1)
        self.assertNotIn(REFUSED, text)
        self.assertIn(b"1 frame was lost or damaged", text)
        self.assertEqual(len(lines), 11)


if __name__ == "__main__":
    support.main()
