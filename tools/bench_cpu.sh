#!/usr/bin/env bash
# Every figure about speed on the CPU, in one run: tools/bench_cpu.sh [PART...]
# tables: detectors beside memcpy for each instruction set that this processor has; opencv: OpenCV's on the same machine; runs:
# whole runs beside FFmpeg; filters: what a filter adds to decoding, beside FFmpeg's. All are made from the bundled clip, scaled. EDGECAM_BUILD names the build folder (build), THREADS the
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
    table avx512vnni ''
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

# Looped, so that there are as many frames as wanted.
make_video() {
    ffmpeg -nostdin -v error -y -stream_loop 3 -i "$clip" -map 0:v:0 -vf "scale=${2/x/:}" -frames:v "$3" \
        -c:v libx264 -preset veryfast -crf 20 "$1"
}

# filter VIDEO FRAMES DECODE TITLE FILTER OPTION...: a filter of FFmpeg, and a detector of ours, above FFmpeg's decoding.
filter() {
    local video=$1 frames=$2 decode=$3 title=$4 filter=$5 theirs ours
    shift 5
    theirs=$(spent ffmpeg -nostdin -v error -threads "$threads" -i "$video" -vf "$filter" -f null -)
    ours=$(spent "$edgecam" "$video" --backend cpu --null -q --threads "$threads" "$@")
    echo "$decode $theirs $ours" | awk -v title="$title" -v frames="$frames" '{
        printf "%-38s FFmpeg %.2f ms, edgecam %.2f ms of CPU time a frame above FFmpeg decoding alone: %.1f x\n",
            title, ($5 - $2) / frames * 1e3, ($8 - $2) / frames * 1e3, ($5 - $2) / ($8 - $2) }'
}

# FFmpeg's edgedetect takes a fifth of a second a frame of 3840x2160.
filters() {
    local frames=40 video=$scratch/filters.mp4 decode
    echo "filters, $threads threads, 3840x2160"
    make_video "$video" 3840x2160 "$frames"
    decode=$(spent ffmpeg -nostdin -v error -threads "$threads" -i "$video" -map 0:v:0 -f null -)
    filter "$video" "$frames" "$decode" 'sobel l1' sobel --norm l1
    filter "$video" "$frames" "$decode" 'kirsch' kirsch -e kirsch
    filter "$video" "$frames" "$decode" 'edgedetect; canny l2' edgedetect -e canny --low 20 --high 50
    filter "$video" "$frames" "$decode" 'edgedetect; blur 1.4 and canny l2' edgedetect -e canny --blur 1.4 --low 20 --high 50
}

runs() {
    local frames=60 size video decode x264
    echo "whole runs, $threads threads: FFmpeg, edgecam"
    for size in 1920x1080 3840x2160; do
        video=$scratch/$size.mp4
        make_video "$video" "$size" "$frames"
        decode=$(spent ffmpeg -nostdin -v error -threads "$threads" -i "$video" -map 0:v:0 -f null -)
        pair "decode; decode and sobel l2, $size" "$decode" \
            "$(spent "$edgecam" "$video" --backend cpu --null -q --threads "$threads")"
    done
    x264=(-preset veryfast -crf 23 -threads "$threads")
    pair "sobel into H.264, $size" \
        "$(spent ffmpeg -nostdin -v error -y -threads "$threads" -i "$video" -vf sobel -c:v libx264 "${x264[@]}" "$scratch/a.mp4")" \
        "$(spent "$edgecam" "$video" --backend cpu -q -y --threads "$threads" -o "$scratch/b.mp4" --codec libx264 \
            --preset veryfast --crf 23 --encoder-opt "threads=$threads")"
}

echo "$(date -u +%F), $("$edgecam" --version)"
grep -m1 'model name' /proc/cpuinfo | sed 's/.*: //'
echo "$(nproc) processors, one thread where nothing else is said"
ffmpeg -nostdin -v error -y -ss 2 -i "$clip" -vf scale=3840:2160 -pix_fmt gray -frames:v 1 -f rawvideo "$scratch/natural.gray"
for part in "${@:-tables opencv runs filters}"; do
    for word in $part; do
        case $word in
        tables | opencv | runs | filters) ;;
        *) echo "bench_cpu.sh: '$word' is none of tables, opencv, runs and filters" >&2 && exit 2 ;;
        esac
        echo
        "$word"
    done
done
