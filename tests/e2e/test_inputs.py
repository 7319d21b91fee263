"""Every kind of input that people bring, made by FFmpeg here and judged by it: nothing is lost, turned or shifted."""

import os
import struct
import subprocess
import threading

import support
from support import PROGRAM

H264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"]


class Inputs(support.Case):
    def source(self, name, size="96x64", frames=4, *options):
        return self.make(name, "-f", "lavfi", "-i", f"testsrc2=s={size}:r=25", "-frames:v", str(frames), *options)

    def entries(self, name, stream, entry):
        out = support.judge("ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", entry, "-of", "csv=p=0", self.folder / name)
        return [float(line.strip(",")) for line in out.decode().split() if line.strip(",") not in ("", "N/A")]

    def assert_all_frames(self, name, expect=0):
        """As many as FFmpeg decodes, each at its own time from the first one on."""
        lines = self.hashes(name, expect=expect)
        times = self.entries(name, "v:0", "frame=best_effort_timestamp_time")
        self.assertEqual(len(lines), len(times), name)
        for (_, seconds, _), wanted in zip(lines, times):
            self.assertAlmostEqual(seconds - lines[0][1], wanted - times[0], delta=0.0011, msg=str(name))

    def run_on(self, data):
        """The hashes of what comes through standard input."""
        return [line.split()[2].decode() for line in self.edgecam("-", "--hash", "-q", input=data).stdout.splitlines()]


class Geometry(Inputs):
    @support.about_bytes
    def test_turned_and_mirrored(self):
        """All eight ways by the display matrix, and by EXIF: as FFmpeg turns them."""
        flat = bytearray(self.source("flat.mov", "96x64", 2, "-c:v", "png", "-pix_fmt", "gray").read_bytes())
        at = flat.index(b"tkhd") + 8 + 20 + 16
        for a, b, c, d in ((1, 0, 0, 1), (-1, 0, 0, 1), (1, 0, 0, -1), (-1, 0, 0, -1), (0, 1, 1, 0), (0, 1, -1, 0), (0, -1, 1, 0),
                           (0, -1, -1, 0)):
            flat[at : at + 36] = struct.pack(">9i", a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30)
            (self.folder / "turned.mov").write_bytes(flat)
            upright = self.make("upright.mkv", "-i", self.folder / "turned.mov", "-c:v", "ffv1")
            self.assertEqual([h for _, _, h in self.hashes("turned.mov")], [h for _, _, h in self.hashes(upright)], (a, b, c, d))
        jpeg = self.source("p.jpg", "96x64", 1).read_bytes()
        exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
        (self.folder / "e.jpg").write_bytes(jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:])
        upright = self.make("e.mkv", "-i", self.folder / "p.jpg", "-vf", "extractplanes=y,transpose=clock", "-c:v", "ffv1")
        self.assertEqual([h for _, _, h in self.hashes("e.jpg")], [h for _, _, h in self.hashes(upright)])

    @support.about_bytes
    def test_sizes(self):
        for size in ("1x1", "2x2", "1x64", "64x1", "35x17", "16384x16"):
            clip = self.make("s.mkv", "-f", "lavfi", "-i", f"testsrc2=s=64x64:r=25,scale={size.replace('x', ':')},format=gray", "-frames:v",
                             "2", "-c:v", "ffv1")
            self.edgecam(clip, "-o", "o.mkv", "--codec", "ffv1", "-y")
            video = support.video_of(support.probe(self.folder / "o.mkv"))
            self.assertEqual((f"{video['width']}x{video['height']}", int(video["nb_read_frames"])), (size, 2))

    @support.needs_opencv
    @support.about_bytes
    def test_a_huge_picture(self):
        """The largest that FFmpeg opens, about: OpenCV's pixels at its corners, and no more memory than a few planes of it."""
        width, height, limit_bytes = 16000, 9000, 144 * 10**6 * (8 if support.SANITIZED else 4)
        self.make("h.png", "-f", "lavfi", "-i", f"testsrc2=s=1600x900,format=gray,scale={width}:{height}:flags=neighbor", "-frames:v", "1",
                  "-compression_level", "1", "-pred", "none")
        with subprocess.Popen([PROGRAM, "h.png", "-o", "e.y4m", "-q"], cwd=self.folder, env=support.environment()) as p:
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(p.returncode, 0)
        self.assertLess(usage.ru_maxrss * 1024, limit_bytes)
        with open(self.folder / "e.y4m", "rb") as file:
            self.assertIn(b"W16000 H9000", file.readline())
            file.readline()
            edges = support.numpy.fromfile(file, support.numpy.uint8).reshape(height, width)
        picture = support.cv2.imread(str(self.folder / "h.png"), support.cv2.IMREAD_GRAYSCALE)
        for rows, inside in ((slice(0, 101), slice(0, 100)), (slice(height - 101, height), slice(1, 101))):
            wanted = support.sobel_by_opencv(picture[rows].tobytes(), width, 101, limited=False)
            self.assertTrue((edges[rows][inside] == wanted[inside]).all())

    def test_shape_of_pixels_and_crop(self):
        clip = self.source("a.mp4", "360x280", 2, "-vf", "setsar=16/11", *H264)
        self.edgecam(clip, "-o", "o.mp4")
        video = support.video_of(support.probe(self.folder / "o.mp4"))
        self.assertEqual((video["sample_aspect_ratio"], video["width"], video["height"]), ("16:11", 360, 280))

    def test_interlaced(self):
        clip = self.make("i.mp4", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=50", "-vf", "tinterlace=interleave_top,fieldorder=tff",
                         "-frames:v", "5", "-flags", "+ilme+ildct", "-x264-params", "tff=1", *H264)
        self.assertIn("--pre yadif", self.edgecam(clip, "--null").stderr.decode())
        self.assertNotIn("interlaced", self.edgecam(clip, "--null", "--pre", "yadif").stderr.decode())


@support.needs_opencv
class Colour(Inputs):
    @support.about_bytes
    def test_pixel_formats(self):
        """The edges of the brightness that FFmpeg sees (its chroma smoothed), whatever the depth, the order or the packing."""
        truth = self.make("truth.png", "-f", "lavfi", "-i", "smptebars=s=96x64,format=rgb24", "-frames:v", "1")
        formats = ("monow monob gray gray10le gray16be grayf32le gbrpf32le ya8 pal8 rgb24 bgr24 argb bgr0 rgb48le rgba64le gbrp gbrp10le gbrap "
                   "rgb565le bgr555be yuv422p yuv411p yuva420p yuvj420p yuv422p12be yuv444p16le nv21 yuyv422 uyvy422 xyz12le").split()
        for form in formats:
            clip = self.make("f.nut", "-i", truth, "-vf", f"format={form}", "-c:v", "rawvideo", "-strict", "-1", "-color_range",
                             "pc" if "yuvj" in form else "unknown")
            rgb = support.judge("ffmpeg", "-v", "error", "-i", clip, "-pix_fmt", "rgb24", "-f", "rawvideo", "-")
            gray = support.cv2.cvtColor(support.numpy.frombuffer(rgb, support.numpy.uint8).reshape(64, 96, 3), support.cv2.COLOR_RGB2GRAY)
            wanted = support.sobel_by_opencv(gray.tobytes(), 96, 64, limited=False)
            header, _, frame = self.edgecam(clip, "-o", "-").stdout.partition(b"\n")
            self.assertIn(b"W96 H64", header)
            got = support.numpy.frombuffer(frame[6:], support.numpy.uint8).reshape(64, 96)
            self.assertLess(abs(got.astype(int) - wanted).mean(), 8, form)

    def test_high_dynamic_range_keeps_its_tags(self):
        clip = self.source("h.mp4", "96x64", 2, "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none", "-pix_fmt",
                           "yuv420p10le", "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc")
        self.edgecam(clip, "-o", "o.mkv", "--depth", "native")
        video = support.video_of(support.probe(self.folder / "o.mkv"))
        self.assertEqual((video["color_range"], video["color_primaries"], video["color_transfer"], video["pix_fmt"]),
                         ("pc", "bt2020", "smpte2084", "yuv420p10le"))


class Time(Inputs):
    @support.about_bytes
    def test_every_frame_at_its_time(self):
        self.source("b.mp4", "96x64", 30, "-c:v", "libx264", "-bf", "3", "-pix_fmt", "yuv420p", "-g", "12")
        self.make("cut.mp4", "-ss", "0.5", "-i", self.folder / "b.mp4", "-c", "copy", "-avoid_negative_ts", "disabled")
        self.make("offset.ts", "-i", self.folder / "b.mp4", "-c", "copy", "-output_ts_offset", "10", "-muxdelay", "0")
        self.make("vfr.mp4", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25", "-vf", "setpts='if(lt(N,8),N/25,1+(N-8)/5)/TB'", "-vsync", "vfr",
                  "-frames:v", "12", "-video_track_timescale", "90000", *H264)
        self.make("fast.mp4", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=1000", "-frames:v", "50", *H264)
        self.make("slow.mp4", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=1/3", "-frames:v", "4", *H264)
        self.source("packed.avi", "96x64", 20, "-c:v", "mpeg4", "-bf", "2")
        self.make("raw.h264", "-i", self.folder / "b.mp4", "-c", "copy", "-bsf:v", "h264_mp4toannexb")
        for frames in (1, 2, 7):
            self.source(f"few{frames}.mp4", "64x48", frames, "-c:v", "libx264", "-bf", "8", "-pix_fmt", "yuv420p")
        for name in ("b.mp4", "cut.mp4", "offset.ts", "vfr.mp4", "fast.mp4", "slow.mp4", "few1.mp4", "few2.mp4", "few7.mp4"):
            self.assert_all_frames(name)
        for name, frames in (("packed.avi", 20), ("raw.h264", 30)):
            lines = self.hashes(name)
            self.assertEqual(len(lines), frames)
            self.assertTrue(all(a[1] < b[1] for a, b in zip(lines, lines[1:])), name)

    def test_sound_stays_with_the_picture(self):
        """Late, early and in step: to the millisecond."""
        for name, late in (("late.mkv", "0.5"), ("step.mkv", "0")):
            self.make(name, "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=1", "-itsoffset", late, "-f", "lavfi", "-i", "sine=d=0.5", *H264,
                      "-c:a", "aac")
            self.edgecam(name, "-o", "o-" + name)
            starts = [self.entries(n, "a", "packet=pts_time")[0] - min(self.entries(n, "v", "packet=pts_time")) for n in (name, "o-" + name)]
            self.assertAlmostEqual(starts[0], starts[1], delta=0.0011)


class Streams(Inputs):
    def test_everything_that_can_be_kept(self):
        """Two languages, a subtitle, chapters and a title; not the cover, not the data."""
        (self.folder / "s.srt").write_text("1\n00:00:00,000 --> 00:00:00,400\nhello\n")
        (self.folder / "m.txt").write_text(";FFMETADATA1\ntitle=A walk\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=one\n"
                                           "[CHAPTER]\nTIMEBASE=1/1000\nSTART=500\nEND=1000\ntitle=two\n")
        self.source("cover.png", "64x64", 1)
        self.make("in.mkv", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=1", "-f", "lavfi", "-i", "sine=d=1", "-f", "lavfi", "-i",
                  "sine=300:d=1", "-i", self.folder / "s.srt", "-i", self.folder / "m.txt", "-attach", self.folder / "cover.png",
                  "-metadata:s:t", "mimetype=image/png", "-metadata:s:t", "filename=cover.png", "-map", "0", "-map", "1", "-map", "2", "-map", "3",
                  "-map_metadata", "4", *H264, "-c:a", "aac", "-c:s", "srt", "-metadata:s:a:0", "language=fra", "-metadata:s:a:1", "language=deu")
        for name, text in (("o.mkv", "subrip"), ("o.mp4", "mov_text")):
            self.edgecam("in.mkv", "-o", name)
            info = support.json.loads(support.judge("ffprobe", "-v", "error", "-show_streams", "-show_chapters", "-show_format", "-of", "json",
                                                    self.folder / name))
            kinds = [(s["codec_type"], s.get("codec_name")) for s in info["streams"] if not s["disposition"]["attached_pic"]]
            self.assertEqual([k for k in kinds if k[0] in ("video", "audio", "subtitle")],
                             [("video", "h264"), ("audio", "aac"), ("audio", "aac"), ("subtitle", text)])
            self.assertEqual([s["tags"]["language"] for s in info["streams"] if s["codec_type"] == "audio"], ["fra", "deu"])
            self.assertEqual([c["tags"]["title"] for c in info["chapters"]], ["one", "two"])
            self.assertEqual(info["format"]["tags"]["title"], "A walk")

    def test_the_right_picture(self):
        """Neither the cover nor a track of one frame is the video; --stream says otherwise."""
        self.source("cover.jpg", "400x400", 1)
        self.make("in.mp4", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=0.2", "-f", "lavfi", "-i", "testsrc=s=200x100:r=25:d=0.2", "-i",
                  self.folder / "cover.jpg", "-map", "2", "-map", "0", "-map", "1", "-c:v:0", "copy", "-c:v:1", "libx264", "-c:v:2",
                  "libx264", "-pix_fmt:v:1", "yuv420p", "-pix_fmt:v:2", "yuv420p", "-disposition:v:0", "attached_pic")
        sizes = {(s["width"], s["height"]): s["index"] for s in support.probe(self.folder / "in.mp4")["streams"]}
        for size, options in (((96, 64), ["--stream", str(sizes[96, 64])]), ((200, 100), ["--stream", str(sizes[200, 100])])):
            stats = support.json.loads(self.edgecam("in.mp4", "--null", "--stats", "-", *options).stdout)
            self.assertEqual((stats["width"], stats["height"], stats["frames"]["out"]), (*size, 5))
        stats = support.json.loads(self.edgecam("in.mp4", "--null", "--stats", "-").stdout)
        self.assertNotEqual(stats["width"], 400)
        self.make("song.m4a", "-f", "lavfi", "-i", "sine=d=0.2", "-i", self.folder / "cover.jpg", "-map", "0", "-map", "1", "-c:a", "aac", "-c:v",
                  "copy", "-disposition:v:0", "attached_pic")
        self.assertIn("no video stream", self.message("song.m4a", "--null", expect=3))


class Prefilters(Inputs):
    def test_rates(self):
        """As many frames as FFmpeg makes, the last one as long as the others, in every round of --loop too."""
        clip = self.source("a.mp4", "96x64", 25, *H264)
        for chain, rate in (("fps=25", 25), ("fps=50", 50), ("fps=10", 10), ("yadif=1", 50), ("settb=1/1000", 25)):
            with self.subTest(chain):
                self.edgecam(clip, "--pre", chain, "-o", "o.mp4", "-y")
                video = support.video_of(support.probe(self.folder / "o.mp4"))
                self.assertEqual(int(video["nb_read_frames"]), rate)
                self.assertAlmostEqual(float(video["duration"]), 1, delta=0.002)
                lines = self.hashes(clip, "--pre", chain, "--loop", "--frames", str(2 * rate + 1))
                self.assertAlmostEqual(lines[-1][1], 2, delta=0.002)
                self.assertEqual([h for _, _, h in lines[: rate + 1]], [h for _, _, h in lines[rate:]])

    def test_streams_without_times(self):
        clip = self.source("a.h264", "96x64", 25, *H264)
        self.assertEqual(len(self.hashes(clip, "--pre", "fps=50")), 50)
        self.assertEqual(self.hashes(clip, "--pre", "null"), self.hashes(clip))

    def test_many_pictures_of_one(self):
        """They come when they are wanted: memory does not depend on how many there are, and there may be no end of them."""
        clip = self.make("still.mkv", "-f", "lavfi", "-i", "testsrc2=s=640x480:r=25", "-frames:v", "2", "-c:v", "ffv1", "-bsf:v",
                         "setts=pts=N*10000:dts=N*10000")
        ballast = b"\1" * (300 << 20)  # this program's memory is not counted with that of the one it starts
        stats = support.json.loads(self.edgecam(clip, "--pre", "fps=100", "--null", "--stats", "-").stdout)
        del ballast
        self.assertGreater(stats["frames"]["out"], 1000)
        if support.SANITIZED:
            return
        self.assertLess(stats["memory"]["rss_peak_bytes"], 200e6)
        script = f'ulimit -v 8000000; exec "{support.PROGRAM}" still.mkv --pre loop=loop=-1:size=2 --frames 200 --hash'
        lines = support.judge("bash", "-c", script, cwd=self.folder, env=support.environment()).splitlines()
        self.assertEqual(len(lines), 200)


class Damage(Inputs):
    def test_what_decodes_comes_out(self):
        whole = self.source("w.mp4", "96x64", 50, "-g", "10", "-movflags", "+faststart", *H264).read_bytes()
        (self.folder / "cut.mp4").write_bytes(whole[: len(whole) * 6 // 10])
        frames = len(self.entries("cut.mp4", "v:0", "frame=pts_time"))
        self.assertEqual(len(self.hashes("cut.mp4", expect=1)), frames)
        camera = self.source("c.mjpeg", "96x64", 10, "-c:v", "mjpeg").read_bytes()
        parts = [b"\xff\xd8" + part for part in camera.split(b"\xff\xd8")[1:]]
        parts[0], parts[6] = parts[0][: len(parts[0]) // 3], b"\xff\xd8\xff\xd9"
        (self.folder / "broken.mjpeg").write_bytes(b"".join(parts))
        self.assertGreaterEqual(len(self.hashes("broken.mjpeg", expect=1)), 8)

    def test_lists_of_files_elsewhere(self):
        clip = self.source("a.mp4", "96x64", 3, *H264)
        (self.folder / "l.txt").write_text(f"file {clip}\nfile {clip}\n")
        self.assertIn("--input-opt safe=0", self.message("-f", "concat", "l.txt", "--null", expect=3))
        self.assertEqual(len(self.hashes("-f", "concat", "--input-opt", "safe=0", "l.txt")), 6)

    def test_what_is_no_video(self):
        (self.folder / "empty.mp4").write_bytes(b"")
        (self.folder / "noise.mp4").write_bytes(bytes(i * i * 7919 % 251 for i in range(5000)))
        for name in ("empty.mp4", "noise.mp4", "gone.mp4"):
            self.assertIn(name, self.message(name, "-o", "o.mp4", expect=3))
        self.source("really.mkv", "96x64", 3, "-c:v", "mpeg4")
        os.rename(self.folder / "really.mkv", self.folder / "really.avi")
        self.assertEqual(len(self.hashes("really.avi")), 3)


class Ways(Inputs):
    def test_standard_input(self):
        clip = self.source("in.mkv", "96x64", 5, "-c:v", "ffv1", "-pix_fmt", "yuv420p")
        wanted = [h for _, _, h in self.hashes(clip)]
        for muxer in ("matroska", "yuv4mpegpipe", "nut"):
            codec = [] if muxer == "yuv4mpegpipe" else ["-c", "copy"]
            data = support.judge("ffmpeg", "-v", "error", "-i", clip, *codec, "-f", muxer, "-")
            self.assertEqual(self.run_on(data), wanted, muxer)
        raw = support.judge("ffmpeg", "-v", "error", "-i", clip, "-f", "rawvideo", "-")
        done = self.edgecam("-", "-f", "rawvideo", "--input-opt", "video_size=96x64", "--input-opt", "pixel_format=yuv420p", "--hash",
                            input=raw)
        self.assertEqual([line.split()[2].decode() for line in done.stdout.splitlines()], wanted)

    def test_standard_input_is_left_alone(self):
        """Unless it is the input: a loop over file names goes on."""
        clip = self.source("in.mkv", "96x64", 2, "-c:v", "ffv1")
        text = subprocess.run(["sh", "-c", f'printf "a\\nb\\n" | while read x; do "{PROGRAM}" "{clip}" --null -q; echo $x; done'],
                              env=support.environment(), stdout=subprocess.PIPE, timeout=support.TIME_LIMIT_S).stdout
        self.assertEqual(text, b"a\nb\n")

    def test_fifo(self):
        clip = self.source("in.mkv", "96x64", 5, "-c:v", "ffv1")
        os.mkfifo(self.folder / "pipe")
        writer = threading.Thread(target=lambda: (self.folder / "pipe").write_bytes(clip.read_bytes()))
        writer.start()
        lines = self.hashes("pipe")
        writer.join()
        self.assertEqual(lines, self.hashes(clip))

    def test_pictures(self):
        self.source("p%03d.png", "96x64", 6)
        self.assertEqual(len(self.hashes("p%03d.png", "--threads", "1")), 6)
        os.remove(self.folder / "p004.png")
        done = self.edgecam("p%03d.png", "-o", "o.mkv", "--threads", "1", expect=1)
        self.assertIn("gap", done.stderr.decode())
        self.assertEqual(int(support.video_of(support.probe(self.folder / "o.mkv"))["nb_read_frames"]), 3)
        for name, frames in (("a.gif", 5), ("a.apng", 5), ("a.webp", 1), ("a.bmp", 1)):
            self.source(name, "96x64", frames)
            self.assertEqual(len(self.hashes(name, "--threads", "1")), frames, name)


if __name__ == "__main__":
    support.main()
