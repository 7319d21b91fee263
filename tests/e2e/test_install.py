"""The headers alone, and the installed package in the hands of a foreign program."""

import shlex
import shutil
import subprocess
import unittest

import support
from support import BUILD, SOURCE

PROGRAM_C = r"""
#include <edgecam/edgecam.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    unsigned char in[5][8], out[5][8];
    memset(in, 0, sizeof in);
    for (int y = 0; y < 5; y++)
        memset(in[y] + 4, 100, 4);
    struct ec_image source = {.data = in, .width_px = 8, .height_px = 5, .pitch_bytes = 8, .depth_bits = 8};
    struct ec_image result = source;
    result.data = out;
    struct ec_edge_params params = {.op = EC_OPERATOR_SOBEL};
    struct ec_device_params device = {.backend = EC_BACKEND_CPU};
    struct ec_edge *edge = NULL;
    if (ec_edge_open(&edge, &params, &device) || ec_edge_run(edge, &source, &result))
        return 1;
    for (int x = 0; x < 8; x++)
        printf("%d ", out[2][x]);
    printf("%s\n", ec_edge_backend(edge));
    ec_edge_close(&edge);

    struct ec_pipeline_params video = {.input = "demo:64x48@25", .max_frames = 5, .null_sink = true};
    video.device = device;
    struct ec_pipeline *pipeline = NULL;
    if (ec_pipeline_open(&pipeline, &video) || ec_pipeline_run(pipeline))
        return 2;
    struct ec_stats stats;
    ec_pipeline_stats(pipeline, &stats);
    ec_pipeline_close(&pipeline);
    printf("%lld frames\n", (long long)stats.frames_out);
    return 0;
}
"""
WANTED = "0 0 0 255 255 0 0 0 cpu\n5 frames\n"


class Headers(support.Case):
    def test_each_compiles_alone(self):
        headers = sorted((SOURCE / "include" / "edgecam").glob("*.h"))
        self.assertGreaterEqual(len(headers), 6)
        for header in headers:
            text = f'#include "edgecam/{header.name}"\n#include "edgecam/{header.name}"\n'
            for language, compiler, standard in (("c", "cc", "c11"), ("c++", "c++", "c++17")):
                with self.subTest(header=header.name, language=language):
                    done = subprocess.run([compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                                           "-fsyntax-only", f"-I{SOURCE}/include", "-"], input=text.encode(),
                                          stderr=subprocess.PIPE, timeout=60)
                    self.assertEqual(done.returncode, 0, done.stderr.decode())


@unittest.skipIf(support.SANITIZED, "a foreign program has no sanitizer runtime")
class Package(support.Case):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "prefix"
        support.judge("cmake", "--install", BUILD, "--prefix", self.prefix)
        (self.folder / "main.c").write_text(PROGRAM_C)

    def run_program(self, program, libraries):
        env = support.environment(LD_LIBRARY_PATH=str(libraries))
        self.assertEqual(support.judge(program, env=env).decode(), WANTED)

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is missing")
    def test_pkg_config(self):
        pc = next(self.prefix.rglob("edgecam.pc"))
        env = support.environment(PKG_CONFIG_PATH=str(pc.parent))
        flags = shlex.split(support.judge("pkg-config", "--cflags", "--libs", "edgecam", env=env).decode())
        self.assertEqual(support.judge("pkg-config", "--modversion", "edgecam", env=env).decode().strip().count("."), 2)
        support.judge("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "main.c", "-o", "main", *flags, cwd=self.folder)
        self.run_program(self.folder / "main", pc.parent.parent)

    def test_cmake(self):
        (self.folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(foreign C)\n"
                                                    "find_package(edgecam 0.1 REQUIRED)\nadd_executable(foreign main.c)\n"
                                                    "target_link_libraries(foreign PRIVATE edgecam::edgecam)\n")
        support.judge("cmake", "-S", self.folder, "-B", self.folder / "b", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        support.judge("cmake", "--build", self.folder / "b")
        self.run_program(self.folder / "b" / "foreign", next(self.prefix.rglob("libedgecam.so")).parent)

    def test_installed_program(self):
        text = support.judge(self.prefix / "bin" / "edgecam", "--version").decode()
        self.assertTrue(text.startswith("edgecam "))

    def test_only_the_interface_is_exported(self):
        library = next(self.prefix.rglob("libedgecam.so"))
        names = [line.split()[-1] for line in support.judge("nm", "-D", "--defined-only", library).decode().splitlines()]
        self.assertIn("ec_pipeline_open", names)
        ours = ("ec_edge_", "ec_pipeline_", "ec_status_", "ec_operator_", "ec_style_")
        linker = ("__bss_start", "_edata", "_end", "_init", "_fini")
        self.assertFalse([n for n in names if not n.startswith(ours) and n not in linker])


if __name__ == "__main__":
    support.main()
