#!/usr/bin/env bash
# Installs what edgecam is built from, where that is missing: tools/setup.sh [--tests | --arm64]
# --tests also installs what the tests need, --arm64 in addition what builds and runs them for 64-bit ARM on another machine, and
# --libraries only prints the packages that edgecam and its tests are linked with.
# Debian and Ubuntu, as root or with sudo; elsewhere it says what is needed. A CUDA toolkit is never installed: with nvcc on PATH the
# build finds it.
set -euo pipefail

libraries=(libavcodec-dev libavdevice-dev libavfilter-dev libavformat-dev libavutil-dev libswresample-dev libswscale-dev
    libsdl2-dev libjansson-dev)
packages=(build-essential cmake ninja-build pkg-config "${libraries[@]}")
tests=(libcmocka-dev libffmpeg-nvenc-dev ffmpeg xvfb xdotool python3 python3-venv)
arm64=(gcc-aarch64-linux-gnu qemu-user)
case ${1:-} in
    '') ;;
    --tests) packages+=("${tests[@]}") ;;
    --arm64) packages+=("${tests[@]}" "${arm64[@]}") ;;
    --libraries)
        printf '%s\n' "${libraries[@]}" libcmocka-dev
        exit
        ;;
    *)
        printf 'tools/setup.sh: %s is not one of --tests, --arm64 and --libraries\n' "$1" >&2
        exit 2
        ;;
esac

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
