#!/usr/bin/env bash
# Builds and tests everything: a Release build, then one with AddressSanitizer and UndefinedBehaviorSanitizer, then one with
# ThreadSanitizer. Each goes into a folder of its own; the last line is "N passed, N failed". A test that has nothing to run on
# (no GPU, say) skips itself and counts as neither.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
jobs=$(nproc)

tools/setup.sh --tests
tools/test_python.sh

passed=0
failed=0

# suite NAME CMAKE_OPTION...: builds build-NAME and runs its tests.
suite() {
    local name=$1 log
    shift
    printf '\n== %s\n' "$name"
    cmake -S . -B "build-$name" -G Ninja -DEDGECAM_PYTHON="$root/.venv/bin/python" "$@"
    cmake --build "build-$name" -j "$jobs"
    log=$(mktemp)
    ctest --test-dir "build-$name" --output-on-failure -j "$jobs" | tee "$log" || true
    count "$log"
    rm -f "$log"
}

# Adds up ctest's own lines; without any the suite itself has failed.
count() {
    local all
    all=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#[0-9]+:' "$1" || true)
    local good skipped
    good=$(grep -cE 'Test +#[0-9]+:.* Passed ' "$1" || true)
    skipped=$(grep -cE 'Test +#[0-9]+:.*\*\*\*Skipped' "$1" || true)
    if [ "$all" -eq 0 ]; then
        failed=$((failed + 1))
    fi
    passed=$((passed + good))
    failed=$((failed + all - good - skipped))
}

# Where a CUDA toolkit is but no GPU, code for one architecture proves that the kernels compile.
cuda=()
nvidia-smi -L >/dev/null 2>&1 || cuda=(-DCMAKE_CUDA_ARCHITECTURES=75-real)
suite test -DCMAKE_BUILD_TYPE=Release "${cuda[@]}"
# Not detect_stack_use_after_return: gcc 12 puts 64-byte vectors unaligned on its fake stack (GCC bug 110027).
export UBSAN_OPTIONS=print_stacktrace=1
suite asan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DEDGECAM_CUDA=OFF -DEDGECAM_SANITIZE=address,undefined
suite tsan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DEDGECAM_CUDA=OFF -DEDGECAM_SANITIZE=thread

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
