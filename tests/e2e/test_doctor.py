"""--doctor on whatever machine runs the tests: every group is there, every line has its form, and nothing keeps it from ending."""

import os
import re
import socket
import time

import support

GROUPS = ["Build", "Display", "Cameras", "FFmpeg", "Memory", "CPU", "NVIDIA driver", "GPU", "NVENC", "Result"]


def parse(text):
    """{group: [(verdict, sentence)]} in order."""
    groups, current = {}, None
    for line in text.splitlines():
        if line and not line.startswith(" "):
            current = groups.setdefault(line, [])
        elif line:
            match = re.fullmatch(r"  (ok|note|problem) +(\S.*)", line)
            assert match, line
            current.append(match.groups())
    return groups


class Doctor(support.Case):
    def examine(self, *arguments, **options):
        done = self.edgecam("--doctor", *arguments, **options)
        self.assertEqual(done.stderr, b"")
        return parse(done.stdout.decode())

    def test_groups(self):
        groups = self.examine()
        self.assertEqual([g for g in groups if g in GROUPS], GROUPS)
        self.assertTrue(all(groups.values()), groups)
        text = " ".join(sentence for _, sentence in groups["FFmpeg"])
        for words in ("libavcodec", "encoders:", "decoders:", "protocols:", "hwaccel cuda"):
            self.assertIn(words, text)
        self.assertIn("row functions", " ".join(s for _, s in groups["CPU"]))
        self.assertEqual(groups["Result"][0][0], "ok")

    def test_cpu_only(self):
        groups = self.examine("--backend", "cpu", "--threads", "3")
        self.assertNotIn("GPU", groups)
        self.assertIn("takes 3 threads", " ".join(s for _, s in groups["CPU"]))
        self.assertIn("with the cpu backend", groups["Result"][0][1])

    def test_gpu_that_is_not_there(self):
        groups = self.examine("--gpu", "255", expect=5)
        self.assertEqual(groups["GPU"][-1][0], "problem")
        self.assertEqual(groups["Result"][0][0], "problem")

    def test_without_a_display(self):
        self.assertEqual(self.examine()["Display"][0][0], "note")

    def test_display_that_never_answers(self):
        """A server that takes the connection and then says nothing."""
        with socket.socket() as server:
            for number in range(50, 90):
                try:
                    server.bind(("127.0.0.1", 6000 + number))
                    break
                except OSError:
                    continue
            server.listen()
            begin = time.monotonic()
            groups = self.examine(env=support.environment(DISPLAY=f"127.0.0.1:{number}", SDL_VIDEODRIVER="x11"))
            self.assertLess(time.monotonic() - begin, 60)
        self.assertIn("did not answer", groups["Display"][0][1])
        self.assertEqual(groups["Result"][0][0], "ok")

    def test_hidden_cards_are_named(self):
        groups = self.examine(env=support.environment(CUDA_VISIBLE_DEVICES="", LD_LIBRARY_PATH=os.environ.get("LD_LIBRARY_PATH")))
        self.assertIn(("problem", "CUDA_VISIBLE_DEVICES is '', which hides every GPU: unset it"), groups["NVIDIA driver"])


if __name__ == "__main__":
    support.main()
