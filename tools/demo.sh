#!/usr/bin/env bash
# From a fresh clone to an edge video: sets up, builds into build/, converts the bundled clip on whatever this machine has.
set -euo pipefail
cd "$(dirname "$0")/.."

# Only what this machine can run: compiling the kernels for every GPU there is takes many minutes.
cuda=OFF
if nvidia-smi -L >/dev/null 2>&1; then
    cuda=AUTO
fi

tools/setup.sh
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DEDGECAM_CUDA=$cuda
cmake --build build --target edgecam
# That was for this build: a configuration by hand decides for itself again.
sed -i 's/^EDGECAM_CUDA:STRING=OFF$/EDGECAM_CUDA:STRING=AUTO/' build/CMakeCache.txt
build/src/edgecam samples/media/road_960x540.mp4 -o road_edges.mp4 -y

cat <<'EOT'

The edge video is road_edges.mp4: open it in any player. Try next:
  build/src/edgecam samples/media/road_960x540.mp4 --display     a window (q ends)
  build/src/edgecam --webcam                                     your camera
  build/src/edgecam YOUR_VIDEO.mp4 -o edges.mp4 -e scharr        another operator
  build/src/edgecam --help
EOT
