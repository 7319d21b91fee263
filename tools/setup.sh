#!/usr/bin/env bash
# Installs what edgecam is built from, where that is missing: tools/setup.sh [--tests]
# Debian and Ubuntu, as root or with sudo; elsewhere it says what is needed. A CUDA toolkit is never installed: with nvcc on PATH the
# build finds it.
set -euo pipefail

packages=(build-essential cmake ninja-build pkg-config libavcodec-dev libavdevice-dev libavfilter-dev libavformat-dev
    libavutil-dev libswresample-dev libswscale-dev libsdl2-dev libjansson-dev)
if [ "${1:-}" = --tests ]; then
    packages+=(libcmocka-dev ffmpeg xvfb xdotool python3 python3-venv)
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    printf 'No apt here. edgecam needs a C11 compiler, CMake 3.22 or newer, Ninja, pkg-config and the development files of\n'
    printf 'FFmpeg 4.4 or newer, SDL2 and jansson; its tests need cmocka, the ffmpeg program, Xvfb, xdotool and Python 3.\n'
    exit 0
fi

missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            printf 'Install as root: apt-get install %s\n' "${missing[*]}" >&2
            exit 1
        fi
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -q
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
fi
if ! command -v nvcc >/dev/null; then
    printf 'No nvcc on PATH: the build will have the CPU backend only. With a CUDA toolkit, set CUDACXX or PATH and build again.\n'
fi
