#!/usr/bin/env bash
# Builds for 64-bit ARM Linux with Debian's cross compiler, into build-arm64, and runs the tests there under qemu-user.
# The libraries are Debian's for ARM. They are not installed, so that no package of this machine changes: apt works out what an
# ARM machine without a single package would need, in a state of its own, and that is unpacked into build-arm64-root.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD/build-arm64-root

tools/setup.sh --arm64
tools/test_python.sh

# The ffmpeg program too: a judge of its own kind, as the colours of libswscale are not the same on every processor.
mapfile -t packages < <(tools/setup.sh --libraries)
packages+=(libc6-dev ffmpeg)

# for_arm64 APT_GET_ARGUMENT...: apt-get for an empty ARM machine.
for_arm64() {
    apt-get -q -y -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Install-Recommends=false \
        -o Dir::State="$root/apt/state" -o Dir::State::status="$root/apt/status" -o Dir::Cache="$root/apt/cache" "$@"
}

# What is a link to an absolute path in a package would lead out of the root.
keep_links_inside() {
    local link
    while IFS= read -r -d '' link; do
        ln -sfrn "$root$(readlink "$link")" "$link"
    done < <(find "$root/usr/lib" -type l -lname '/*' -print0)
}

unpack_root() {
    rm -rf "$root"
    mkdir -p "$root/apt/state/lists/partial" "$root/apt/cache/archives/partial" "$root/usr/lib"
    : >"$root/apt/status"
    ln -s usr/lib "$root/lib"
    for_arm64 update
    for_arm64 install --download-only "${packages[@]}"
    local package
    for package in "$root"/apt/cache/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink --no-same-owner -C "$root"
    done
    keep_links_inside
    # Installation would choose among several BLAS and LAPACK; here is one of each.
    ln -sf blas/libblas.so.3 lapack/liblapack.so.3 "$root/usr/lib/aarch64-linux-gnu/"
    rm -rf "$root/apt"
    printf '%s\n' "${packages[@]}" >"$root/packages"
}

printf '%s\n' "${packages[@]}" | cmp -s - "$root/packages" || unpack_root
cmake --preset arm64 -DEDGECAM_PYTHON="$PWD/.venv/bin/python"
cmake --build --preset arm64
ctest --preset arm64 -j "$(nproc)"
