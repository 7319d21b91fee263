#!/usr/bin/env bash
# Makes docs/road.jpg: a frame of the bundled clip beside its edges, as the built program gives them. Needs ffmpeg.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build/src/edgecam samples/media/road_960x540.mp4 -o "$work/edges.mkv" --codec ffv1 --start 4 --frames 1 --no-audio -q
ffmpeg -v error -y -ss 4 -i samples/media/road_960x540.mp4 -i "$work/edges.mkv" \
    -filter_complex '[0]scale=480:-1[a];[1]scale=480:-1,format=yuv420p[b];[a][b]hstack' -frames:v 1 -q:v 3 docs/road.jpg
