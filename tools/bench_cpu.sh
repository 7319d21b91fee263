#!/usr/bin/env bash
# Every figure about speed on the CPU, in one run: tools/bench_cpu.sh [PART...]
# tables: detectors beside memcpy for each instruction set that this processor has; opencv: OpenCV's on the same machine; runs:
# whole runs beside FFmpeg. All are made from the bundled clip, scaled. EDGECAM_BUILD names the build folder (build), THREADS the
# threads of the whole runs (as many as there are processors).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${EDGECAM_BUILD:-build}
threads=${THREADS:-$(nproc)}
edgecam=$build/src/edgecam
bench=$build/tests/unit/bench_cpu
clip=samples/media/road_960x540.mp4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# table NAME WORD...: the lines of the benchmark that hold one of the words, and Canny's on a natural frame.
table() {
    local name=$1
    shift
    if ! "$bench" --bench "$name" 'no line' >/dev/null 2>&1; then
        echo "$name: this processor does not run it"
        return
    fi
    echo "$name, noise"
    for word in "$@"; do
        "$bench" --bench "$name" "$word" | tail -n +3
    done
    echo "$name, a natural frame"
    "$bench" --bench "$name" canny "$scratch/natural.gray" | tail -n +3 | grep -v 'bits\|rgb'
}

tables() {
    "$bench" --bench baseline 'no line' | tail -n 1
    table avx512 ''
    table avx2 ''
    table baseline 'sobel l' 'r l1' 's l1' 'ki' 'robi'
}

opencv() {
    if python3 -c 'import cv2' 2>/dev/null; then
        python3 tools/peers/bench_opencv.py "$scratch/natural.gray"
    else
        echo 'OpenCV: left out (no cv2)'
    fi
}

spent() {
    python3 tools/peers/spent.py 3 "$@"
}

# pair TITLE SECONDS_MIB SECONDS_MIB: theirs and ours.
pair() {
    echo "$2 $3" | awk -v title="$1" '{
        printf "%-38s wall %.2f, %.2f s = %.2f x   CPU %.2f, %.2f s = %.2f x   memory %.0f, %.0f MiB = %.2f x\n",
            title, $1, $4, $4 / $1, $2, $5, $5 / $2, $3, $6, $6 / $3 }'
}

# filters VIDEO DECODE TITLE FILTER OPTION...: what a filter of FFmpeg, and a detector of ours, adds to FFmpeg's decoding.
filters() {
    local video=$1 decode=$2 title=$3 filter=$4 theirs ours
    shift 4
    theirs=$(spent ffmpeg -nostdin -v error -threads "$threads" -i "$video" -vf "$filter" -f null -)
    ours=$(spent "$edgecam" "$video" --backend cpu --null -q --threads "$threads" "$@")
    echo "$decode $theirs $ours" | awk -v title="$title" -v frames="$frames" '{
        printf "%-38s FFmpeg %.2f ms, edgecam %.2f ms of CPU time a frame above FFmpeg decoding alone\n",
            title, ($5 - $2) / frames * 1e3, ($8 - $2) / frames * 1e3 }'
}

runs() {
    local frames=60 size video decode x264
    echo "whole runs, $threads threads: FFmpeg, edgecam"
    for size in 1920x1080 3840x2160; do
        video=$scratch/$size.mp4
        ffmpeg -nostdin -v error -y -stream_loop 3 -i "$clip" -map 0:v:0 -vf "scale=${size/x/:}" -frames:v "$frames" \
            -c:v libx264 -preset veryfast -crf 20 "$video"
        decode=$(spent ffmpeg -nostdin -v error -threads "$threads" -i "$video" -map 0:v:0 -f null -)
        pair "decode; decode and sobel l2, $size" "$decode" \
            "$(spent "$edgecam" "$video" --backend cpu --null -q --threads "$threads")"
    done
    x264=(-preset veryfast -crf 23 -threads "$threads")
    pair "sobel into H.264, $size" \
        "$(spent ffmpeg -nostdin -v error -y -threads "$threads" -i "$video" -vf sobel -c:v libx264 "${x264[@]}" "$scratch/a.mp4")" \
        "$(spent "$edgecam" "$video" --backend cpu -q -y --threads "$threads" -o "$scratch/b.mp4" --codec libx264 \
            --preset veryfast --crf 23 --encoder-opt "threads=$threads")"
    filters "$video" "$decode" 'sobel l1' sobel --norm l1
    filters "$video" "$decode" 'kirsch' kirsch -e kirsch
    filters "$video" "$decode" 'edgedetect; blur 1.4 and canny l2' edgedetect -e canny --blur 1.4 --low 20 --high 50
}

echo "$(date -u +%F), $("$edgecam" --version)"
grep -m1 'model name' /proc/cpuinfo | sed 's/.*: //'
echo "$(nproc) processors, one thread where nothing else is said"
ffmpeg -nostdin -v error -y -ss 2 -i "$clip" -vf scale=3840:2160 -pix_fmt gray -frames:v 1 -f rawvideo "$scratch/natural.gray"
for part in "${@:-tables opencv runs}"; do
    for word in $part; do
        case $word in
        tables | opencv | runs) ;;
        *) echo "bench_cpu.sh: '$word' is none of tables, opencv and runs" >&2 && exit 2 ;;
        esac
        echo
        "$word"
    done
done
