#!/usr/bin/env bash
# Runs the ladder and prints it as Markdown, the way samples/README.md holds it: samples/run_all.sh [BUILD_DIR [TRACE]]
# BUILD_DIR is build by default; TRACE gets the timeline of streams, for ui.perfetto.dev. A sample without a GPU says so and is
# left out. Exit status: 1 if a check failed.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build}
trace=${2:-}
failed=0

# run NAME [ARGUMENT...]
run() {
    local status=0
    printf '\n### %s\n\n' "$1"
    "$build/samples/$1" "${@:2}" || status=$?
    if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then
        failed=1
    fi
}

date -u +%F
nvidia-smi --query-gpu=name,driver_version,pcie.link.gen.current,pcie.link.width.current --format=csv,noheader 2>/dev/null || true
for name in matmul coalescing convolution; do
    run "$name"
done
run streams 60 $((3840 * 2160)) ${trace:+"$trace"}
for name in occupancy divergence when_not_to; do
    run "$name"
done
exit "$failed"
