#!/usr/bin/env bash
# Every figure about speed on a GPU, in one run: tools/bench_gpu.sh [VIDEO...]
# Kernels beside a device copy, frames from host to host beside the two-way limit of PCIe, each VIDEO through the GPU's decoder
# beside FFmpeg's own decoding, canny on six pictures, and NPP, OpenCV, CuPy and PyTorch where they are. EDGECAM_BUILD names the
# build folder (build).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${EDGECAM_BUILD:-build}
edgecam=$build/src/edgecam
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# weights SIZE DIVISOR: a square of signed weights that no two passes can replace; of fractions if DIVISOR is not 1.
weights() {
    awk -v n="$1" -v d="$2" 'BEGIN {
        for (i = 0; i < n * n; i++)
            printf "%.9g%s", (i * 37 % 23 - 11) / d, (i + 1) % n ? " " : (i + 1 < n * n ? "; " : "")
    }'
}

# rows TITLE_START COMMAND...: the lines of one table of a benchmark, without its title.
rows() {
    local title=$1
    shift
    "$@" | awk -v title="$title" 'index($0, title) == 1 { on = 1; next } on && !NF { exit } on'
}

kernels() {
    rows 'detector alone' "$edgecam" --bench=kernels --backend cuda "$@"
}

# picture NAME FILTERS INPUT...: a gray frame of 3840x2160 in the file NAME, as bytes.
picture() {
    local name=$1 filters=$2
    shift 2
    ffmpeg -nostdin -v error -y "$@" -frames:v 1 -vf "$filters" -f rawvideo -pix_fmt gray "$scratch/$name"
}

# magnified NAME FACTOR LUMA: a picture by FFmpeg's expression for squares of FACTOR pixels.
magnified() {
    picture "$1" "geq=lum='$3',scale=3840:2160:flags=neighbor" -f lavfi -i "color=gray:s=$((3840 / $2))x$((2160 / $2)),format=gray"
}

# A natural one and a rich one, the densest edges, and three that hysteresis takes longest for: one weak contour through the whole
# frame from a strong start, edges around every fourth pixel, and weak edges everywhere with one strong pixel.
pictures() {
    local turn='958*not(mod(floor(Y/2),2))'
    picture natural scale=3840:2160,format=gray -i samples/media/road_960x540.mp4
    picture mandelbrot format=gray -f lavfi -i mandelbrot=s=3840x2160:start_scale=0.01:maxiter=1000
    head -c $((3840 * 2160)) /dev/urandom >"$scratch/noise"
    magnified contour 4 "if(eq(Y,0)*lt(X,3),200,60+35*(not(mod(Y,2))+eq(X,$turn)*mod(Y,2)))"
    magnified checkers 4 '200*mod(X+Y,2)'
    magnified weak 3 'if(eq(X,300)*eq(Y,300),255,60+38*mod(X+Y,2))'
}

# spent COMMAND...: seconds of wall time and of processor time.
spent() {
    local TIMEFORMAT='%R %U %S'
    { time "$@" >/dev/null 2>"$scratch/err" </dev/null || { cat "$scratch/err" >&2; return 1; }; } 2>"$scratch/time"
    awk 'END { print $1, $2 + $3 }' "$scratch/time"
}

# rate COMMAND...: frames a second and processor cores, with FRAMES in the command standing for how many; the difference of a
# long and a short run, so that starting does not count. The median of three.
rate() {
    local few=100 many=700 short long
    for _ in 1 2 3; do
        short=$(spent "${@//FRAMES/$few}")
        long=$(spent "${@//FRAMES/$many}")
        echo "$short $long" | awk -v n=$((many - few)) '{ t = $3 - $1; printf "%.1f %.2f\n", n / t, ($4 - $2) / t }'
    done | sort -n | sed -n 2p
}

decode() {
    local video=$1 long=$scratch/long.mkv theirs ours
    ffmpeg -nostdin -v error -y -stream_loop 400 -i "$video" -map 0:v:0 -c copy -frames:v 800 "$long"
    theirs=$(rate ffmpeg -nostdin -v error -hwaccel cuda -hwaccel_output_format cuda -i "$long" -frames:v FRAMES -f null -)
    ours=$(rate "$edgecam" "$long" --backend cuda --decoder nvdec --frames FRAMES --null -q)
    echo "$theirs $ours" | awk -v name="$(basename "$video")" '{
        printf "%-24s FFmpeg decodes %7.1f fps | edgecam decodes and detects %7.1f fps = %.1f %%, %.2f processor cores\n",
            name, $1, $3, 100 * $3 / $1, $4
    }'
}

echo "$(date -u +%F), $("$edgecam" --version)"
nvidia-smi --query-gpu=name,driver_version,pcie.link.gen.current,pcie.link.width.current --format=csv,noheader
echo
"$edgecam" --bench=kernels --backend cuda | sed -n '1,/^detector alone/p'
kernels -e sobel,scharr,prewitt --norm l1
kernels -e sobel,scharr,prewitt --norm l2
kernels -e sobel --norm l2 --demo=3840x2160@60:10 --depth native
for size in 3 5 7 9; do
    kernels --kernel "$(weights $size 1)"
done
for size in 3 5 7 9; do
    kernels --kernel "$(weights $size 7)"
done

contents=(natural mandelbrot noise contour checkers weak)
pictures
for content in "${contents[@]}"; do
    echo "$content"
    "$build/tests/gpu/bench_kernels" 3840 2160 "@$scratch/$content" 'canny l1' 'canny l2' | grep -v 'low\|aperture'
done

npp=$scratch/bench_npp
if command -v nvcc >/dev/null && nvcc -O2 -o "$npp" tools/peers/bench_npp.c -lnppif -lnppc 2>"$scratch/err"; then
    (cd "$scratch" && "$npp" "${contents[@]}") || echo 'NPP: left out (it failed)'
else
    echo 'NPP: left out (no nvcc, or no NPP)'
fi
if command -v python3 >/dev/null; then
    python3 tools/peers/bench_peers.py || true
fi

# host_to_host OPTION...: PCIe % of the two-way rate, of the upload's where the result is a map; "one frame" has the GPU to itself.
host_to_host() {
    echo
    echo "$*"
    "$edgecam" --bench --backend cuda --frames 3000 "$@" | sed -n '/^host to host/,$p'
}
host_to_host -e sobel --lanes 3
host_to_host -e sobel --lanes 4
host_to_host -e sobel --lanes 3 --threshold 60
host_to_host -e canny --lanes 3
host_to_host -e sobel --low-latency
if [ "$(nvidia-smi -L | wc -l)" -gt 1 ]; then
    host_to_host -e sobel --gpu all
fi

if [ $# -gt 0 ]; then
    echo
fi
for video in "$@"; do
    decode "$video"
done
