"""More clips as people bring them, from the folder that EDGECAM_TEST_MEDIA names."""

import unittest

import support
from support import MORE_MEDIA


@unittest.skipUnless(MORE_MEDIA, "EDGECAM_TEST_MEDIA names no folder")
class Media(support.Case):
    def clip(self, name):
        path = MORE_MEDIA / name
        if not path.is_file():
            self.skipTest(f"{name} is missing")
        return path

    def test_frames_and_size(self):
        """Every frame comes out, at the size that is shown."""
        table = [
            ("room_720p.mp4", 149, (1280, 720)),
            ("cars_768x432.mp4", 377, (768, 432)),
            ("carphone_176x144_sar.mp4", 120, (176, 144)),
            ("odd_321x241_444p10.mp4", None, (321, 241)),
            ("bear_161x121_vp9.webm", None, (161, 121)),
            ("h264_high10.mp4", None, None),
            ("white_1x1.avif", 1, (1, 1)),
        ]
        for name, frames, size in table:
            with self.subTest(name=name):
                clip = self.clip(name)
                stats = support.json.loads(self.edgecam(clip, "--null", "--stats", "-").stdout)
                if frames is None:
                    frames = int(support.video_of(support.probe(clip))["nb_read_frames"])
                self.assertEqual((stats["frames"]["in"], stats["frames"]["out"]), (frames, frames))
                if size:
                    self.assertEqual((stats["width"], stats["height"]), size)

    def test_pixel_aspect_is_kept(self):
        self.edgecam(self.clip("carphone_176x144_sar.mp4"), "-o", "edges.mp4", "--frames", "3")
        self.assertEqual(support.video_of(support.probe(self.folder / "edges.mp4"))["sample_aspect_ratio"], "128:117")

    def test_both_ranges_of_one_picture_agree(self):
        planes = []
        for name in ("bt601_full_range.mp4", "bt601_limited_range.mp4"):
            self.edgecam(self.clip(name), "-o", name + ".mkv", "--codec", "ffv1", "--frames", "3", "--no-audio")
            planes.append(support.decode_luma(self.folder / (name + ".mkv"))[2])
        for full, limited in zip(*planes):
            distances = [abs(a - b) for a, b in zip(full, limited)]
            self.assertLess(sum(distances) / len(distances), 3, "but for what two lossy encoders did")

    @support.needs_opencv
    def test_turned_and_mirrored(self):
        clip = self.clip("rotate_and_reflect.mp4")
        width, height, planes = support.decode_luma(clip, count=2)
        limited = support.video_of(support.probe(clip)).get("color_range") != "pc"
        wanted = [support.md5(support.sobel_by_opencv(p, width, height, limited).tobytes()) for p in planes]
        self.assertEqual([h for _, _, h in self.hashes(clip, "--frames", "2")], wanted)

    def test_damage(self):
        done = self.edgecam(self.clip("invalid_nalu.mp4"), "-o", "edges.mkv", "--stats", "-", expect=1)
        frames = support.json.loads(done.stdout)["frames"]
        self.assertEqual(frames["out"], 29)
        self.assertGreaterEqual(frames["damaged"], 1)
        self.assertEqual(int(support.video_of(support.probe(self.folder / "edges.mkv"))["nb_read_frames"]), 29)

    def test_nothing_to_show(self):
        done = self.edgecam(self.clip("invalid_bitstream_vp9.webm"), "-o", "edges.mkv", expect=1)
        self.assertIn("invalid_bitstream_vp9.webm", done.stderr.decode())
        self.assert_only()

    def test_empty_track_beside_a_full_one(self):
        clip = self.clip("empty_video_track.mp4")
        frames = [int(s.get("nb_read_frames", 0)) for s in support.probe(clip)["streams"] if s["codec_type"] == "video"]
        self.assertEqual((len(frames), min(frames)), (2, 0))
        self.assertEqual(len(self.hashes(clip)), max(frames))
        self.edgecam(clip, "--stream", frames.index(0), "-o", "edges.mkv", expect=1)
        self.assert_only()


if __name__ == "__main__":
    support.main()
