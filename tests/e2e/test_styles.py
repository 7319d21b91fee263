"""Styles: every pixel as edgecam/style.h defines it, from a source that loses nothing, and outputs that keep what they are given."""

import support
from support import ROAD

np = support.numpy


def mix(a, b, m):
    return (a * (255 - m) + b * m + 127) // 255


def colour(rgb):
    return np.array([rgb >> 16, rgb >> 8 & 255, rgb & 255], np.int64)


def ink(m, s, line=0x000000, paper=0xFFFFFF):
    return mix(colour(paper), colour(line), m)


def overlay(m, s, line=0x00FF00):
    return mix(s, colour(line), m)


def glow(m, s, line=0x40C0FF):
    taps = np.array([1, 2, 3, 4, 5, 4, 3, 2, 1])
    padded = np.pad(m[..., 0], 4)
    height, width = m.shape[:2]
    total = sum(taps[i] * taps[k] * padded[i : i + height, k : k + width] for i in range(9) for k in range(9))
    light = np.minimum(255, m[..., 0] + (3 * total + 312) // 625)[..., None]
    return np.minimum(255, (s + 2) // 4 + mix(0, colour(line), light))


def direction(m, s):
    gray = (9798 * s[..., 0] + 19235 * s[..., 1] + 3735 * s[..., 2] + (1 << 14)) >> 15
    gray = gray.astype(np.uint8)
    gx, gy = (support.cv2.Sobel(gray, support.cv2.CV_64F, *d, borderType=support.cv2.BORDER_REPLICATE).astype(np.int64)
              for d in ((1, 0), (0, 1)))
    hue = np.zeros(gx.shape, np.int64)
    length = np.maximum(1, abs(gx) + abs(gy))
    for turn, here, part in ((0, (gx > 0) & (gy >= 0), gy), (1, (gx <= 0) & (gy > 0), gx), (2, (gx < 0) & (gy <= 0), gy),
                             (3, (gx >= 0) & (gy < 0), gx)):
        hue[here] = (384 * turn + 384 * abs(part) // length)[here]
    sixth, up = hue // 256, hue % 256
    full, none, down = np.full_like(up, 255), np.zeros_like(up), 255 - up
    table = [(full, up, none), (down, full, none), (none, full, up), (none, down, full), (up, none, full), (full, none, down)]
    rgb = sum(np.stack(c, -1) * (sixth == i)[..., None] for i, c in enumerate(table))
    return mix(0, rgb, m)


def split(m, s, line=0xFFFFFF, paper=0x000000):
    out = mix(colour(paper), colour(line), m)
    middle = (m.shape[1] + 1) // 2
    out[:, :middle] = s[:, :middle]
    return out


def alpha(m, s, line=0xFFFFFF):
    return np.concatenate([np.broadcast_to(colour(line), m.shape[:2] + (3,)), m], -1)


class Pixels(support.Case):
    def pixels(self, name, form="rgb24", *decoder):
        """The frames of a video as FFmpeg decodes them, one array each."""
        video = support.video_of(support.probe(name))
        sideways = any(abs(d.get("rotation", 0)) == 90 for d in video.get("side_data_list", []))
        height, width = (video["width"], video["height"]) if sideways else (video["height"], video["width"])
        raw = support.judge("ffmpeg", "-v", "error", *decoder, "-i", name, "-map", "0:v:0", "-pix_fmt", form, "-f", "rawvideo", "-")
        channels = {"gray": 1, "rgb24": 3, "rgba": 4}[form]
        return np.frombuffer(raw, np.uint8).reshape(-1, height, width, channels).astype(np.int64)


@support.needs_opencv
class Styles(Pixels):
    def clip(self):
        return self.make("in.mkv", "-f", "lavfi", "-i", "testsrc2=s=101x78:r=25,format=rgb24", "-frames:v", "3", "-c:v", "ffv1",
                         "-pix_fmt", "bgr0")

    def check(self, clip, style, definition, *options):
        """Against the plain result of the same operator; the hashes are those of the same bytes."""
        form = "rgba" if style == "alpha" else "rgb24"
        self.edgecam(clip, "-e", "scharr", "--scale", "0.3", "-o", "mask.mkv", "--codec", "ffv1", "-y")
        run = [clip, "-e", "scharr", "--scale", "0.3", "--style", style, *options]
        self.edgecam(*run, "-o", "out.mkv", "--codec", "ffv1", "-y")
        got = self.pixels(self.folder / "out.mkv", form)
        sources, masks = self.pixels(clip), self.pixels(self.folder / "mask.mkv", "gray")
        wanted = [definition(m, s) for m, s in zip(masks, sources)]
        self.assertEqual(len(got), len(sources))
        for g, w in zip(got, wanted):
            np.testing.assert_array_equal(g, w)
        self.assertEqual([h for _, _, h in self.hashes(*run)], [support.md5(w.astype(np.uint8).tobytes()) for w in wanted])

    @support.about_bytes
    def test_each(self):
        clip = self.clip()
        for style in (ink, overlay, glow, direction, split, alpha):
            with self.subTest(style=style.__name__):
                self.check(clip, style.__name__, style)

    def test_colours(self):
        clip = self.clip()
        self.check(clip, "ink", lambda m, s: ink(m, s, 0x123456, 0xFFA500), "--line-color", "#123456", "--paper-color", "orange")
        self.check(clip, "alpha", lambda m, s: alpha(m, s, 0xFF0080), "--line-color", "FF0080")
        self.check(clip, "glow", lambda m, s: glow(m, s, 0xFFFF00), "--line-color=yellow")

    def test_upright(self):
        """The video under the lines is turned as they are; so is a part that changes its size on the way."""
        self.make("flat.mov", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25,format=rgb24", "-frames:v", "2", "-c:v", "png")
        turned = self.make("turned.mov", "-i", self.folder / "flat.mov", "-c", "copy", "-metadata:s:v", "rotate=90")
        self.check(turned, "overlay", overlay)
        self.edgecam(turned, "-o", "o.mkv", "--style", "split")
        video = support.video_of(support.probe(self.folder / "o.mkv"))
        self.assertEqual((video["width"], video["height"], int(video["nb_read_frames"])), (64, 96, 2))
        for name, size in (("a.ts", "64x48"), ("b.ts", "96x80")):
            self.make(name, "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25", "-frames:v", "3", "-c:v", "mpeg2video")
        (self.folder / "c.ts").write_bytes((self.folder / "a.ts").read_bytes() + (self.folder / "b.ts").read_bytes())
        self.edgecam("c.ts", "-o", "c.mkv", "--style", "overlay")
        before, after = (support.video_of(support.probe(self.folder / name)) for name in ("c.ts", "c.mkv"))
        self.assertEqual((after["width"], after["height"], after["nb_read_frames"]), (64, 48, before["nb_read_frames"]))

    def test_what_does_not_go_together(self):
        for words, arguments in (("line colour", ["--style", "direction", "--line-color", "red"]),
                                 ("paper colour", ["--style", "overlay", "--paper-color", "red"]),
                                 ("line colour", ["--line-color", "red"]),
                                 ("'#12345'", ["--style", "ink", "--line-color", "#12345"]),
                                 ("native", ["--style", "ink", "--depth", "native"]),
                                 ("'overlay'", ["--style", "overlya"])):
            self.assertIn(words, self.message(ROAD, "--null", *arguments, expect=2))

    def test_generated_pictures(self):
        self.assertEqual(len({h for _, _, h in self.hashes("demo:64x48@25", "--frames", "3", "--style", "split")}), 3)


@support.needs_opencv
class Outputs(Pixels):
    def test_transparency(self):
        """Each output that keeps it gives back the result as its alpha."""
        clip = self.make("in.mkv", "-f", "lavfi", "-i", "testsrc2=s=128x96:r=25", "-frames:v", "3", "-c:v", "ffv1")
        self.edgecam(clip, "-o", "mask.mkv", "--codec", "ffv1")
        masks = self.pixels(self.folder / "mask.mkv", "gray")
        for name, codec, decoder, most in (("out.mov", "prores", [], 1), ("out.webm", "vp9", ["-c:v", "libvpx-vp9"], 6),
                                           ("out.mkv", "ffv1", [], 0), ("out_%03d.png", "png", [], 0), ("out.apng", "apng", [], 0)):
            with self.subTest(name=name):
                self.edgecam(clip, "-o", name, "--style", "alpha", *(["--crf", "4"] if name.endswith("webm") else []))
                path = self.folder / name.replace("%03d", "001")
                self.assertEqual(support.video_of(support.probe(path))["codec_name"], codec)
                got = self.pixels(path, "rgba", *decoder)
                self.assertEqual(len(got), 1 if name.endswith("png") and "%" in name else 3)
                self.assertLessEqual(abs(got[0][..., 3:] - masks[0]).mean(), most)

    def test_none_where_it_cannot_be(self):
        for name in ("x.mp4", "x.gif", "x.ts", "x.mpg"):
            text = self.message(ROAD, "-o", name, "--style", "alpha", expect=2)
            for word in ("transparency", ".mov", ".webm", ".mkv", ".png"):
                self.assertIn(word, text)
        self.assertIn("transparency", self.message(ROAD, "-o", "x.mov", "--style", "alpha", "--codec", "libx264", expect=2))
        self.assertIn("transparency", self.message(ROAD, "-o", "x.mkv", "--style", "alpha", "--pix-fmt", "bgr0", expect=2))
        self.assert_only()

    @support.about_bytes
    def test_light(self):
        """A picture that shows an HDR video has its primaries and transfer, and its numbers; one of line colours alone is SDR."""
        hdr = self.make("hdr.mkv", "-f", "lavfi", "-i", "testsrc2=s=96x64", "-frames:v", "2", "-pix_fmt", "yuv420p10le", "-c:v", "ffv1",
                        "-color_primaries", "bt2020", "-color_trc", "arib-std-b67", "-colorspace", "bt2020nc", "-color_range", "tv")
        for style in ("mask", "ink", "overlay", "glow", "direction", "split"):
            with self.subTest(style):
                self.edgecam(hdr, "-o", "o.mkv", "--style", style, "-y")
                video = support.video_of(support.probe(self.folder / "o.mkv"))
                own = style in ("ink", "direction")
                self.assertEqual((video["color_primaries"], video["color_transfer"], video["color_space"]),
                                 ("bt709", "bt709", "bt709") if own else ("bt2020", "arib-std-b67", "bt709"))
        self.edgecam(hdr, "-o", "o.mov", "--style", "alpha")
        self.assertEqual(support.video_of(support.probe(self.folder / "o.mov"))["color_transfer"], "bt709")

    def test_range(self):
        """A codec that cannot say "full range" holds limited luma, and so shows the same picture."""
        clip = self.make("in.mkv", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-frames:v", "2", "-c:v", "ffv1")
        gray = ["--delta", "60"]  # in the other range 60 would be seen as 51, or 68
        self.edgecam(clip, "-o", "mask.mkv", "--codec", "ffv1", *gray)
        self.edgecam(clip, "-o", "overlay.mkv", "--codec", "ffv1", "--style", "overlay")
        mask, coloured = self.pixels(self.folder / "mask.mkv")[0], self.pixels(self.folder / "overlay.mkv")[0]
        for name, options in (("a.mpg", ["--codec", "mpeg2video"]), ("b.mov", ["--codec", "prores_ks"]), ("c.avi", []),
                              ("d.mkv", ["--codec", "libtheora"]), ("e.mp4", ["--codec", "libx264", "--crf", "1"]),
                              ("f.mov", ["--codec", "dnxhd", "--encoder-opt", "profile=dnxhr_hq"])):
            with self.subTest(name=name):
                self.edgecam(clip, "-o", name, *options, *gray)
                self.assertLess(abs(self.pixels(self.folder / name)[0] - mask).mean(), 5)
                self.edgecam(clip, "-o", name, *options, "-y", "--style", "overlay")
                self.assertLess(abs(self.pixels(self.folder / name)[0] - coloured).mean(), 18, "chroma is halved too")


if __name__ == "__main__":
    support.main()
