"""What is rare, and still comes: odd names and folders, streams that a container refuses after all, times that wrap or repeat,
pictures that change on the way, and what only looks like a video."""

import os
import shutil
import subprocess
import threading

import support
from support import PROGRAM

H264 = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")


class Rare(support.Case):
    def video(self, name, *options, size="96x64", frames=5):
        return self.make(name, "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25", "-frames:v", str(frames), *options)

    def entries(self, name, stream, entry):
        out = support.judge("ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", entry, "-of", "csv=p=0", self.folder / name)
        return [line.strip(",") for line in out.decode().split()]


class Names(Rare):
    def test_what_moves_a_cursor(self):
        """One sentence stays one line; the file has its own name."""
        odd = "new\nline\x1b[31m\u009b.mp4"
        shutil.copy(self.video("in.mp4", *H264), self.folder / odd)
        text = self.edgecam(odd, "-o", "out-" + odd).stderr
        self.assertIn("edgecam: new?line?[31m?.mp4 -> ".encode(), text)
        self.assertTrue(all(line.startswith(b"edgecam: ") for line in text.splitlines()), text)
        self.assertTrue((self.folder / ("out-" + odd)).is_file())
        self.assertIn("gone?", self.message("gone\n", "--null", expect=3))

    def test_longest_names(self):
        """The temporary name beside the output fits where the output's does."""
        name = "n" * 251 + ".mp4"
        shutil.copy(self.video("in.mp4", *H264), self.folder / name)
        self.edgecam(name, "-o", name[:-4][:-1] + ".mkv", "-q")
        self.assert_only("in.mp4", name, "n" * 250 + ".mkv")

    def test_paths_longer_than_a_message(self):
        """The cause stands at the end of the sentence, whatever had to be left out of the middle."""
        path = "/".join(["d" * 200] * 6 + ["x.mp4"])
        text = self.message(path, "--null", expect=3)
        self.assertTrue(text.startswith("edgecam: ddd") and text.endswith("ddd/x.mp4: no such file\n"), text)

    def test_patterns_of_one_name(self):
        self.assertIn("same name", self.message(self.video("in.mp4", *H264), "-o", "p%99999d.png", expect=2))
        self.assert_only("in.mp4")

    def test_closed_descriptors(self):
        """What is opened in their place gets none of the messages."""
        self.video("in.mp4", *H264)
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            subprocess.run(["sh", "-c", f'exec "{PROGRAM}" in.mp4 -o out.mkv -y -v {closed}'], cwd=self.folder, check=True,
                           env=support.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=support.TIME_LIMIT_S)
            self.assertEqual(int(support.video_of(support.probe(self.folder / "out.mkv"))["nb_read_frames"]), 5, closed)
            self.assertNotIn(b"edgecam: ", (self.folder / "out.mkv").read_bytes())

    def test_folder_of_what_is_no_file(self):
        """Links in a ring, to nowhere, pipes that nobody writes, and a link out of the folder's device."""
        folder = self.folder / "in"
        folder.mkdir()
        shutil.copy(self.video("one.mp4", *H264), folder / "a.mp4")
        os.mkfifo(folder / "pipe.mp4")
        os.symlink("loop.mp4", folder / "loop.mp4")
        os.symlink("nowhere.mp4", folder / "dead.mp4")
        os.symlink("..", folder / "round")
        os.symlink("../one.mp4", folder / "link.mp4")
        self.edgecam("in", "--out-dir", "out")
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir() if p.name[0] != "."), ["a.mp4", "link.mp4"])
        self.assertIn("loop.mp4", self.message("in/loop.mp4", "--null", expect=3))

    def test_places_that_cannot_be_written(self):
        clip = self.video("in.mp4", *H264)
        for arguments in (("-o", "/proc/edges.mp4"), ("--out-dir", "/proc/edges")):
            self.assertIn("/proc/edges", self.message(clip, *arguments, expect=4))
        if os.getuid() != 0:  # who may write everywhere
            (self.folder / "ro").mkdir(mode=0o555)
            self.assertIn("ro/", self.message(clip, "-o", "ro/edges.mp4", expect=4))


class Sound(Rare):
    def clip(self, name, codec, rate="44100"):
        return self.make(name, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25", "-f", "lavfi", "-i", f"sine=r={rate}", "-t", "0.4", "-c:v", "ffv1",
                         "-c:a", codec, "-strict", "-2")

    def test_what_a_muxer_refuses_after_all(self):
        """It is converted then, whatever its codec and rate are; what fits is copied."""
        table = [("flac", "44100", "o.mp4", "flac"), ("flac", "44100", "o.mov", "aac"), ("libopus", "48000", "o.mov", "aac"),
                 ("pcm_s16le", "48000", "o.flv", "aac"), ("pcm_s16le", "44100", "o.flv", "pcm_s16le"), ("pcm_s16le", "22050", "o.ogv", "vorbis"),
                 ("pcm_s16le", "8000", "o.ogv", "vorbis"), ("pcm_s16le", "11025", "o.webm", "opus"), ("ac3", "48000", "o.webm", "opus"),
                 ("libvorbis", "44100", "o.ts", "aac"), ("pcm_s16le", "8000", "o.ts", "aac"), ("wavpack", "44100", "o.avi", "mp3"),
                 ("flac", "44100", "o.avi", "mp3"), ("libvorbis", "44100", "o.avi", "mp3")]
        for codec, rate, name, wanted in table:
            with self.subTest(codec=codec, rate=rate, name=name):
                clip = self.clip("in.mkv", codec, rate)
                self.edgecam(clip, "-o", name, "-y")
                sound = next(s for s in support.probe(self.folder / name)["streams"] if s["codec_type"] == "audio")
                self.assertEqual(sound["codec_name"], wanted)
                self.assertGreater(int(sound["nb_read_frames"]), 0)
                if codec == wanted:
                    self.assertEqual(support.packets_md5(clip, 1), support.packets_md5(self.folder / name, 1))

    def test_a_stream_that_cannot_be_written(self):
        """Sound with broken headers costs the sound, with a notice, not the video."""
        data = bytearray(self.clip("in.mkv", "libvorbis").read_bytes())
        at = data.index(b"\x01vorbis")
        data[at - 3 : at] = bytes(3)  # how many headers there are, and how long
        (self.folder / "bad.mkv").write_bytes(data)
        self.assertIn(b"is left out: its decoder does not start", self.edgecam("bad.mkv", "-o", "o.mkv").stderr)
        self.assertEqual([s["codec_type"] for s in support.probe(self.folder / "o.mkv")["streams"]], ["video"])

    def test_data_is_left_out_with_a_notice(self):
        self.make("in.mov", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25", "-frames:v", "5", "-timecode", "01:00:00:00", *H264)
        self.assertIn("data", [s["codec_type"] for s in support.probe(self.folder / "in.mov")["streams"]])
        self.assertIn(b"left out", self.edgecam("in.mov", "-o", "o.mov").stderr)


class Pictures(Rare):
    def test_change_on_the_way(self):
        """Size, pixel format and shape of the pixels: one video of the first size, no frame lost."""
        first = self.video("a.ts", *H264, "-g", "5")
        others = [self.video("b.ts", *H264, "-g", "5", size="128x48"), self.video("c.ts", "-c:v", "libx264", "-pix_fmt", "yuv444p10le"),
                  self.video("d.ts", *H264, "-vf", "setsar=4/3")]
        for other in others:
            both = self.folder / "both.ts"
            both.write_bytes(first.read_bytes() + other.read_bytes())
            self.edgecam(both, "-o", "o.mkv", "-y")
            video = support.video_of(support.probe(self.folder / "o.mkv"))
            self.assertEqual((video["width"], video["height"], int(video["nb_read_frames"])), (96, 64, 10), other.name)
            self.assertEqual([h for _, _, h in self.hashes(both)][:5], [h for _, _, h in self.hashes(first)])

    def test_cropped_at_every_side(self):
        clip = self.video("in.mp4", *H264, "-bsf:v", "h264_metadata=crop_left=128:crop_right=6:crop_top=4:crop_bottom=2", size="224x64")
        upright = self.make("cut.mkv", "-i", clip, "-c:v", "ffv1")
        self.assertEqual([h for _, _, h in self.hashes(clip)], [h for _, _, h in self.hashes(upright)])
        self.assertEqual(support.video_of(support.probe(upright))["width"], 90)

    def test_both_ranges_of_one_picture_agree(self):
        truth = self.video("t.mkv", "-pix_fmt", "gray", "-c:v", "ffv1", frames=2)
        planes = []
        for value in ("tv", "pc"):
            clip = self.make(value + ".mkv", "-i", truth, "-vf", f"scale=out_range={value},format=yuv420p", "-color_range", value, "-c:v", "ffv1")
            planes.append(self.edgecam(clip, "-o", "-", "--kernel", "1", "-q").stdout.partition(b"FRAME\n")[2][: 96 * 64])
        self.assertLessEqual(max(abs(x - y) for x, y in zip(*planes)), 1)

    def test_shapes_that_no_container_can_say(self):
        (self.folder / "in.y4m").write_bytes(b"YUV4MPEG2 W64 H48 F25:1 A2147483647:1 C420\nFRAME\n" + bytes(64 * 48 * 3 // 2))
        for name in ("o.mkv", "o.mp4", "o.webm", "o.avi"):
            self.edgecam("in.y4m", "-o", name)
            self.assertEqual(support.video_of(support.probe(self.folder / name))["width"], 64)

    def test_headers_that_lie(self):
        for name, header in (("big.y4m", b"W100000 H100000"), ("none.y4m", b"W0 H0")):
            (self.folder / name).write_bytes(b"YUV4MPEG2 " + header + b" F25:1 C420\nFRAME\n")
            self.assertIn("not a video", self.message(name, "--null", expect=3))
        (self.folder / "huge.gif").write_bytes(b"GIF89a\xff\xff\xff\xff\x80\0\0" + bytes(6) + b",\0\0\0\0\6\0\6\0\0\2\2\x4c\1\0;")
        self.assertIn("no frame could be decoded: ", self.edgecam("huge.gif", "--null", expect=1).stderr.decode())

    def test_sizes_that_an_encoder_refuses(self):
        tall = self.make("tall.png", "-f", "lavfi", "-i", "testsrc2=s=64x64,scale=2:20000", "-frames:v", "1")
        self.assertIn("ffv1", self.message(tall, "-o", "o.mp4", expect=4))
        self.edgecam(tall, "-o", "o.mkv", "--codec", "ffv1")
        self.assertEqual(support.video_of(support.probe(self.folder / "o.mkv"))["height"], 20000)

    def test_encrypted(self):
        """Nobody can decode it: a sentence, and the status of damage, whatever a decoder takes for a picture in its noise."""
        self.video("in.mp4", *H264, "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "76a6c65c5ea762046bd749a2e632ccbb",
                   "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8", frames=20)
        self.assertTrue(self.edgecam("in.mp4", "-o", "o.mp4", expect=1).stderr.startswith(b"edgecam: "))
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name[0] == "."], [])

    def test_stills_and_streams_through_a_pipe(self):
        self.make("a.avif", "-f", "lavfi", "-i", "testsrc2=s=96x64", "-frames:v", "1", "-c:v", "libaom-av1", "-cpu-used", "8", "-still-picture", "1")
        self.assertEqual(len(self.hashes("a.avif")), 1)
        stream = self.video("a.ts", *H264)
        piped = self.edgecam("-", "--hash", input=stream.read_bytes()).stdout
        self.assertEqual([line.split()[2].decode() for line in piped.splitlines()], [h for _, _, h in self.hashes(stream)])

    def both_ways(self, path, expect):
        """Hashes by name and through a pipe, which must be the same, and what was said."""
        done = self.edgecam(path, "--hash", expect=expect)
        piped = self.edgecam("-", "--hash", expect=expect, input=path.read_bytes())
        hashes, others = ([line.split()[2].decode() for line in run.stdout.splitlines()] for run in (done, piped))
        self.assertEqual(len(hashes), len(others))
        self.assertEqual(hashes[:-1], others[:-1])  # half a picture may have anything for its other half
        self.assertEqual(b"was cut off" in done.stderr, b"was cut off" in piped.stderr)
        return hashes, done.stderr

    @support.about_bytes
    def test_files_that_end_in_the_middle(self):
        """Of their frames: what decodes comes out, one sentence, status 1. Of their index: nothing is lost."""
        fragments = [*H264, "-g", "5", "-movflags", "frag_keyframe+empty_moov"]
        table = (("a.mkv", ["-c:v", "ffv1"], 5), ("a.avi", ["-c:v", "mjpeg"], 5), ("a.webm", ["-c:v", "libvpx-vp9"], 5),
                 ("a.mp4", fragments, 5), ("a.flv", ["-c:v", "flv1"], 4), ("a.gif", [], 2), ("a.apng", ["-f", "apng"], 12),
                 ("a.ogv", ["-c:v", "libtheora", "-page_duration", "1"], 0), ("a.wmv", ["-c:v", "wmv2"], 0), ("a.ivf", ["-c:v", "libvpx"], 0),
                 ("a.obu", ["-c:v", "libaom-av1", "-cpu-used", "8", "-row-mt", "0", "-lag-in-frames", "0"], 0), ("a.mjpeg", [], 0))
        for name, options, spare_bytes in table:
            with self.subTest(name):
                whole = self.video(name, *options, frames=20, size="192x128")
                frames, text = self.both_ways(whole, 0)
                data = whole.read_bytes()
                self.assertEqual(len(frames), 20)
                cut = self.folder / ("cut" + whole.suffix)
                cut.write_bytes(data[: len(data) * 6 // 10])
                found, text = self.both_ways(cut, 1)
                self.assertIn(b"was cut off", text)
                self.assertTrue(5 <= len(found) < 20)
                self.assertEqual(found[:5], frames[:5])
                cut.write_bytes(data[: len(data) - spare_bytes])
                self.assertEqual(self.both_ways(cut, 0)[0], frames)

    @support.about_bytes
    def test_streams_without_sizes_are_whole(self):
        """What was written into a pipe tells no sizes, and ends where it ends; in the middle of a frame it was cut off all the same."""
        for name, codec, muxer in (("a.mkv", "ffv1", "matroska"), ("a.avi", "mjpeg", "avi"), ("a.asf", "wmv2", "asf"), ("a.flv", "flv1", "flv"),
                                   ("a.ogv", "libtheora", "ogg"), ("a.webm", "libvpx", "webm")):
            with self.subTest(name):
                live = self.folder / name
                live.write_bytes(support.judge("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25", "-frames:v", "20", "-c:v",
                                               codec, "-f", muxer, "-"))
                data = live.read_bytes()
                self.assertEqual(len(self.both_ways(live, 0)[0]), 20)
                live.write_bytes(data[: len(data) * 6 // 10])
                self.assertIn(b"was cut off", self.both_ways(live, 1)[1])

    def test_clusters_without_sizes(self):
        """As browsers record."""
        data = bytearray(self.video("a.mkv", "-c:v", "ffv1", frames=20).read_bytes())
        at = data.index(b"\x1f\x43\xb6\x75") + 4
        size_bytes = 9 - data[at].bit_length()
        data[at : at + size_bytes] = ((1 << 7 * size_bytes + 1) - 1).to_bytes(size_bytes, "big")
        clip = self.folder / "live.mkv"
        for count, frames, expect in ((len(data), 20, 0), (len(data) * 6 // 10, 12, 1)):
            clip.write_bytes(data[:count])
            found, text = self.both_ways(clip, expect)
            self.assertEqual((abs(len(found) - frames) <= 1, b"was cut off" in text), (True, bool(expect)), text)

    def test_jpegs_without_ends(self):
        """As some cameras send them: the last one is not short because none has an end."""
        data = self.video("a.mjpeg", frames=10).read_bytes()
        (self.folder / "b.mjpeg").write_bytes(data.replace(b"\xff\xd9\xff\xd8", b"\xff\xd8")[:-2])
        self.assertEqual(len(self.both_ways(self.folder / "b.mjpeg", 0)[0]), 10)
        (self.folder / "c.mjpeg").write_bytes(data + bytes(500))
        self.assertEqual(len(self.both_ways(self.folder / "c.mjpeg", 0)[0]), 10)

    def test_mxf_without_its_last_table(self):
        data = self.make("a.mxf", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25", "-frames:v", "10", "-c:v", "mpeg2video", "-g", "1").read_bytes()
        (self.folder / "b.mxf").write_bytes(data[:-20])
        self.assertEqual(len(self.both_ways(self.folder / "b.mxf", 0)[0]), 10)

    def test_dv_that_ends_in_a_frame(self):
        data = self.make("a.dv", "-f", "lavfi", "-i", "testsrc2=s=720x480:r=30000/1001", "-frames:v", "3", "-pix_fmt", "yuv411p").read_bytes()
        cut = self.folder / "cut.dv"
        for count, expect in ((len(data), 0), (len(data) // 3 * 2, 0), (len(data) - 1, 1), (len(data) // 2, 1)):
            cut.write_bytes(data[:count])
            self.assertEqual(b"1 frame was lost or damaged" in self.both_ways(cut, expect)[1], bool(expect), count)

    def test_fragments_that_end_in_their_sound_or_table(self):
        """No frame is said to be lost when only sound is; and what came before an unfinished table is not refused with it."""
        whole = self.make("a.mp4", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=1", "-f", "lavfi", "-i", "sine=d=1", *H264, "-g", "5", "-c:a",
                          "aac", "-movflags", "frag_keyframe+empty_moov")
        data, frames = whole.read_bytes(), self.both_ways(whole, 0)[0]
        cut = self.folder / "cut.mp4"
        cut.write_bytes(data[: data.rindex(b"mfra") - 14])
        found, text = self.both_ways(cut, 1)
        self.assertEqual((found, b"was cut off" in text, b"lost" in text), (frames, True, False), text)
        cut.write_bytes(data[: data.rindex(b"moof") + 100])
        found, text = self.both_ways(cut, 1)
        self.assertEqual((found, b"was cut off" in text, b"lost" in text), (frames[:20], True, False), text)
        self.edgecam("cut.mp4", "-o", "o.mkv", expect=1)
        self.assertEqual(int(support.video_of(support.probe(self.folder / "o.mkv"))["nb_read_frames"]), 20)

    def test_a_box_of_absurd_size_at_the_end(self):
        """What it holds is not known, so it costs no frame; nor is its size reckoned with."""
        whole = self.make("whole.mp4", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25", "-frames:v", "10", *H264, "-movflags",
                          "empty_moov+frag_keyframe")
        clip = self.folder / "box.mp4"
        for size in (2**63, 2**63 + 15, 2**64 - 1, 0, 1, 15):
            clip.write_bytes(whole.read_bytes() + b"\0\0\0\1free" + size.to_bytes(8, "big"))
            self.assertEqual(len(self.hashes(clip)), 10, size)

    def test_pipe_that_ends_in_the_middle(self):
        """Of a frame: what came whole is kept, the rest counted."""
        os.mkfifo(self.folder / "pipe")
        data = b"YUV4MPEG2 W64 H48 F25:1 C420\n" + 3 * (b"FRAME\n" + bytes(64 * 48 * 3 // 2))
        writer = threading.Thread(target=lambda: (self.folder / "pipe").write_bytes(data[:-100]))
        writer.start()
        lines = self.hashes("pipe", expect=1)
        writer.join()
        self.assertEqual(len(lines), 2)


class Times(Rare):
    def test_wrap(self):
        """The clock of a transport stream, 33 bits of 90 kHz, begins anew in the middle."""
        wrap_s = 2**33 / 90000
        self.make("in.ts", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2", *H264, "-c:a", "mp2",
                  "-output_ts_offset", str(wrap_s - 1), "-muxdelay", "0")
        lines = self.hashes("in.ts")
        self.assertEqual(len(lines), 50)
        for n, (_, seconds, _) in enumerate(lines):
            self.assertAlmostEqual(seconds - lines[0][1], n / 25, delta=0.002)
        self.edgecam("in.ts", "-o", "o.mp4")
        ends = [float(self.entries("o.mp4", kind, "packet=pts_time")[-1]) for kind in "va"]
        self.assertAlmostEqual(*ends, delta=0.1)

    def test_a_month_without_a_picture(self):
        """Neither are there frames for all of it where a format has one rate, nor does a format fail that cannot say it."""
        self.video("in.mkv", "-c:v", "ffv1", "-bsf:v", "setts=pts=N*40+gte(N\\,5)*2592000000:dts=N*40+gte(N\\,5)*2592000000", frames=10)
        for name in ("o.mp4", "o.mkv", "o.ts", "o.y4m", "o.avi", "o.gif"):
            done = self.edgecam("in.mkv", "-o", name)
            self.assertIn(b"more than an hour without a picture", done.stderr)
            self.assertEqual(int(support.video_of(support.probe(self.folder / name))["nb_read_frames"]), 10, name)

    def test_a_month_in_which_nothing_comes(self):
        """Neither pictures nor sound: it is left out of both, which stay together. So is what no sound goes on in: it may end before."""
        jump = "{0}={1}+gte(N\\,{2})*2592000000"
        self.video("v.mkv", "-c:v", "ffv1", "-bsf:v", "setts=" + ":".join(jump.format(t.lower(), t, 10) for t in ("PTS", "DTS")), frames=20)
        for moved in (5, 99):
            self.make("a.mkv", "-f", "lavfi", "-i", "sine=r=8000:d=0.8", "-af", "asetnsamples=640:p=0", "-c:a", "pcm_s16le", "-bsf:a",
                      "setts=" + ":".join(jump.format(t.lower(), t, moved) for t in ("PTS", "DTS")))
            self.make("in.mkv", "-copyts", "-i", self.folder / "v.mkv", "-i", self.folder / "a.mkv", "-map", "0", "-map", "1", "-c", "copy",
                      "-copyts")
            for name in ("o.mkv", "o.y4m", "o.avi"):
                with self.subTest(moved=moved, name=name):
                    done = self.edgecam("in.mkv", "-o", name, "-y")
                    self.assertIn(b"more than an hour without a picture", done.stderr)
                    self.assertLess(int(self.entries(name, "v", "packet=pts_time")[-1].split(".")[0]), 3)
            times = {kind: [float(t) for t in self.entries("o.mkv", kind, "frame=pts_time")] for kind in "va"}
            self.assertEqual(len(times["v"]), 20)
            self.assertLess(times["v"][-1], 3)
            if moved == 5:
                self.assertAlmostEqual(times["v"][10], times["a"][5], delta=0.002)
        self.assertLess(self.hashes("in.mkv")[-1][1], 3)

    def test_a_picture_that_stands_still(self):
        """More than an hour without a new picture is no hole where the sound goes on: both keep their times."""
        times = "pts=N*40+gte(N\\,5)*5000000"
        self.video("still.mkv", "-c:v", "ffv1", "-bsf:v", f"setts={times}:dts={times[4:]}", frames=10)
        self.make("in.mkv", "-i", self.folder / "still.mkv", "-f", "lavfi", "-i", "sine=sample_rate=1000:d=5001", "-c:v", "copy",
                  "-c:a", "pcm_u8")
        for name in ("o.mkv", "o.mov", "o.avi"):
            done = self.edgecam("in.mkv", "-o", name)
            self.assertNotIn(b"without a picture", done.stderr)
            ends = [float(self.entries(name, kind, "packet=pts_time")[-1]) for kind in "va"]
            self.assertAlmostEqual(ends[0], 5000.36, delta=0.002)
            self.assertAlmostEqual(ends[1], 5000, delta=1.1)
        self.assertIn(b"more than an hour without a picture", self.edgecam("in.mkv", "--no-audio", "-o", "alone.mkv").stderr)

    def test_pictures_that_begin_late(self):
        """More than 60000 frames after the sound, which an AVI takes too."""
        self.video("late.mkv", "-c:v", "ffv1", "-bsf:v", "setts=pts=N*40+3000000:dts=N*40+3000000", frames=10)
        self.make("in.mkv", "-copyts", "-i", self.folder / "late.mkv", "-f", "lavfi", "-i", "sine=sample_rate=1000:d=3001", "-c:v", "copy",
                  "-c:a", "pcm_u8")
        for name in ("o.avi", "o.mkv"):
            self.edgecam("in.mkv", "-o", name)
            times = [float(t) for t in self.entries(name, "v", "frame=pts_time")]
            self.assertEqual(len(times), 10)
            self.assertAlmostEqual(times[0], 3000, delta=0.002)

    def test_the_same_time_twice(self):
        """Frames keep their order and number, each a time of its own."""
        self.video("in.mkv", "-c:v", "ffv1", "-bsf:v", "setts=pts=floor(N/2)*80:dts=floor(N/2)*80", frames=10)
        lines = self.hashes("in.mkv")
        self.assertEqual(len(lines), 10)
        self.assertTrue(all(a[1] < b[1] for a, b in zip(lines, lines[1:])), lines)
        self.edgecam("in.mkv", "-o", "o.mp4")
        self.assertEqual(int(support.video_of(support.probe(self.folder / "o.mp4"))["nb_read_frames"]), 10)


if __name__ == "__main__":
    support.main()
