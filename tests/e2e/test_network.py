"""Addresses on the loopback: HTTP, TCP, UDP and RTSP; what hangs, and what comes back."""

import http.server
import signal
import socket
import subprocess
import threading
import time

import support
from support import PROGRAM


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Network(support.Running):
    def stream(self, frames=10):
        return self.short_clip("in.ts", "160x120", frames, "-g", "5", "-bf", "0")

    def serve(self, *answers):
        """Port of a server that gives each connection in turn its answer: bytes and an end, or None: nothing, for ever."""
        server = socket.create_server(("127.0.0.1", 0))
        held = []

        def run():
            for answer in answers:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                held.append(connection)
                if answer is not None:
                    try:
                        connection.sendall(answer)
                    except OSError:
                        pass  # the reader has seen enough
                    connection.close()
            server.close()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.addCleanup(lambda: [c.close() for c in held])
        self.addCleanup(server.close)
        return server.getsockname()[1]

    def background(self, *arguments):
        p = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, env=support.environment(), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(lambda: p.poll() is None and p.kill())
        return p


class Reading(Network):
    def test_http(self):
        clip = self.stream()
        folder = str(self.folder)

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        address = f"http://127.0.0.1:{server.server_port}"
        self.assertEqual(self.hashes(f"{address}/in.ts"), self.hashes(clip))
        self.assertIn("404", self.message(f"{address}/gone.ts", "--null", expect=3))

    def test_tcp(self):
        clip = self.stream()
        self.assertEqual(self.hashes(f"tcp://127.0.0.1:{self.serve(clip.read_bytes())}"), self.hashes(clip))
        self.assertIn("Connection refused", self.message(f"tcp://127.0.0.1:{free_port()}", "--null", expect=3))

    def test_udp(self):
        port = free_port(socket.SOCK_DGRAM)
        sender = subprocess.Popen(["ffmpeg", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-c:v",
                                   "mpeg2video", "-g", "5", "-f", "mpegts", f"udp://127.0.0.1:{port}?pkt_size=1316"])
        self.addCleanup(sender.wait)
        self.addCleanup(sender.kill)
        self.edgecam(f"udp://127.0.0.1:{port}", "-o", "out.mkv", "--frames", "10")
        self.assertEqual(int(support.video_of(support.probe(self.folder / "out.mkv"))["nb_read_frames"]), 10)

    def test_rtsp(self):
        """The program waits for a publisher, as FFmpeg's own option lets it."""
        address = f"rtsp://127.0.0.1:{free_port()}/live"
        p = self.background(address, "--input-opt", "rtsp_flags=listen", "-o", "out.mkv", "--frames", "10")
        sender = subprocess.Popen(["sh", "-c", "while ! ffmpeg -nostdin -v quiet -re -f lavfi -i testsrc2=s=160x120:r=25 -c:v mpeg4 -g 5 "
                                   f"-f rtsp -rtsp_transport tcp {address}; do [ -e stop ] && exit; done"], cwd=self.folder)
        self.addCleanup(sender.wait)
        self.addCleanup(sender.kill)
        status = p.wait(timeout=support.TIME_LIMIT_S)
        (self.folder / "stop").write_text("")
        self.assertEqual(status, 0, p.stderr.read().decode())
        self.assertEqual(int(support.video_of(support.probe(self.folder / "out.mkv"))["nb_read_frames"]), 10)

    def test_time_limits_are_the_protocols(self):
        begin = time.monotonic()
        self.message(f"http://127.0.0.1:{self.serve(None)}/x", "--null", "--input-opt", "timeout=300000", expect=3)
        self.message(f"udp://127.0.0.1:{free_port(socket.SOCK_DGRAM)}?timeout=300000", "--null", expect=3)
        self.assertLess(time.monotonic() - begin, 10)


class Signals(Network):
    def test_while_nothing_comes(self):
        """While connecting, and in the middle of the stream."""
        clip = self.stream(100).read_bytes()
        header = b"HTTP/1.0 200 OK\r\nContent-Length: 10000000\r\n\r\n"
        for address in (f"tcp://127.0.0.1:{self.serve(None)}", f"udp://127.0.0.1:{free_port(socket.SOCK_DGRAM)}",
                        f"http://127.0.0.1:{self.serve(None)}/x"):
            with self.subTest(address=address):
                p = self.background(address, "--null")
                with self.assertRaises(subprocess.TimeoutExpired):
                    p.wait(timeout=0.7)
                p.send_signal(signal.SIGINT)
                self.assertIn(self.finish(p, support.END_LIMIT_S + 1), (130, -signal.SIGINT))
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        p = self.background(f"http://127.0.0.1:{server.getsockname()[1]}/x.ts", "-o", "out.mkv", "--progress", "json")
        connection, _ = server.accept()
        self.addCleanup(connection.close)
        connection.sendall(header + clip)
        self.wait_for_frames(p, 2)
        p.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(p), 130)
        self.assertGreater(int(support.video_of(support.probe(self.folder / "out.mkv"))["nb_read_frames"]), 2)


class Reconnect(Network):
    def test_frames_go_on(self):
        """Three connections, the second of which brings another size: one video, its clock never stands or jumps."""
        clip = self.stream()
        wider = self.short_clip("wide.ts", "320x240", 10, "-g", "5", "-bf", "0")
        port = self.serve(clip.read_bytes(), wider.read_bytes(), clip.read_bytes())
        lines = self.hashes(f"tcp://127.0.0.1:{port}", "--reconnect", "--frames", "25")
        whole = [h for _, _, h in self.hashes(clip)]
        self.assertEqual([h for _, _, h in lines[:10]], whole)
        self.assertEqual([h for _, _, h in lines[20:]], whole[:5])
        for n, (_, seconds, _) in enumerate(lines):
            self.assertAlmostEqual(seconds, n / 25, delta=0.002)

    def test_sound_goes_on(self):
        clip = self.make("av.ts", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-f", "lavfi", "-i", "sine=r=48000", "-t", "1", "-c:v",
                         "mpeg2video", "-c:a", "mp2")
        port = self.serve(clip.read_bytes(), clip.read_bytes())
        self.edgecam(f"tcp://127.0.0.1:{port}", "--reconnect", "--frames", "50", "-o", "out.mkv")
        info = support.probe(self.folder / "out.mkv")
        self.assertEqual(int(support.video_of(info)["nb_read_frames"]), 50)
        sound = next(s for s in info["streams"] if s["codec_type"] == "audio")
        self.assertGreater(int(sound["nb_read_frames"]), 1.8 * 48000 / 1152)

    def test_signal_while_it_is_away(self):
        clip = self.stream()
        p = self.start(f"tcp://127.0.0.1:{self.serve(clip.read_bytes())}", "--reconnect", "-o", "out.mkv", frames=9)
        p.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(p), 130)
        self.assertEqual(int(support.video_of(support.probe(self.folder / "out.mkv"))["nb_read_frames"]), 10)

    def test_files_do_not_come_back(self):
        clip = self.stream()
        self.assertIn("--reconnect", self.message(clip, "--null", "--reconnect", expect=2))
        self.assertIn("refused", self.message(f"tcp://127.0.0.1:{free_port()}", "--null", "--reconnect", expect=3))


if __name__ == "__main__":
    support.main()
