/* Video in, edge video out: source -> queue -> stage -> queue -> sink, each on its own thread, every queue and pool bounded. */
#ifndef EDGECAM_PIPELINE_H
#define EDGECAM_PIPELINE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "edgecam/edge.h"
#include "edgecam/stats.h"
#include "edgecam/status.h"
#include "edgecam/style.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ec_option {
    const char *key, *value;
};

/* AUTO: the GPU's decoder (NVDEC) where frames go to that GPU upright and unfiltered and it takes the format, else FFmpeg's
 * own. NVDEC: EC_ERROR_DEVICE where that cannot be. */
enum ec_decoder { EC_DECODER_AUTO = 0, EC_DECODER_CPU, EC_DECODER_NVDEC };

/* Zero-initialised defaults except `input` and at least one sink. Strings and arrays are the caller's and must live until
 * ec_pipeline_close. */
struct ec_pipeline_params {
    /* Source. `input`: a file name (an existing file always wins), "-" for standard input, a URL that FFmpeg opens, a %03d
     * pattern, or "demo:WIDTHxHEIGHT@FPS" for the built-in moving picture. */
    const char *input;
    const char *input_format; /* FFmpeg demuxer or device name; NULL: probed */
    const struct ec_option *input_options;
    int input_option_count;
    bool has_stream; /* take the stream `stream` instead of the best one */
    int stream; /* index in the container, from 0 */
    double start_s; /* skip to here */
    double duration_s; /* 0: to the end */
    int64_t max_frames; /* 0: all; of a live input: that arrive, dropped ones not counted */
    bool loop; /* start again at the end, for ever */
    bool reconnect; /* a camera or address that ends, fails or sends nothing for ten seconds is opened again until it is back */
    bool realtime; /* deliver frames no faster than their timestamps */
    bool live; /* newest frame wins: a full queue drops its oldest frame, counted in frames_dropped */
    const char *prefilter; /* libavfilter graph applied to the decoded picture first */
    int decoder_threads; /* 0: FFmpeg's choice */
    enum ec_decoder decoder;

    /* Edges. edge.range and edge.output_depth_bits are not used here: the range is each frame's own (untagged YUV is limited,
     * untagged gray and RGB full), the depth follows native_depth. */
    struct ec_edge_params edge;
    bool luma_raw; /* never expand limited range */
    bool native_depth; /* keep more than 8 bits in the output; for the plain result only */
    struct ec_style_params style;

    /* Sinks; several may be named. */
    const char *output; /* file name, or "-" for standard output */
    const char *output_format; /* FFmpeg muxer; NULL: from the name, yuv4mpegpipe for "-" */
    const char *codec; /* FFmpeg encoder; NULL: the format's usual one */
    const char *crf, *preset, *pixel_format; /* NULL: the encoder's usual */
    int encoder_threads; /* 0: the encoder's choice */
    const struct ec_option *encoder_options;
    int encoder_option_count;
    bool no_audio; /* drop every stream but the video */
    bool overwrite; /* an existing output may be replaced */
    bool display; /* a window; ec_pipeline_run must be called on the main thread */
    bool hash; /* one line a frame on standard output: index, time in seconds, MD5 of the plane without padding */
    bool null_sink; /* count and drop */

    /* Run. */
    struct ec_device_params device;
    int lanes; /* frames in flight on each GPU; 0: 3, or 1 for low latency; at most EC_LANES_MAX */
    int queue_frames; /* frames each queue holds; 0: 4, or 1 for low latency; at most EC_QUEUE_MAX */
    const char
        *trace; /* write every interval of the run to this file, in the Trace Event Format (Perfetto opens it); NULL: no */
    bool measure_limits; /* CUDA: measure what memory and PCIe can do before the run (about a second), for ec_stats */
    /* Opening a live or networked input may take long: it gives up with EC_STOPPED soon after this becomes non-zero (a signal
     * handler may set it). NULL: no such wish. Before ec_pipeline_open returns there is nothing ec_pipeline_stop could stop. */
    const volatile sig_atomic_t *cancel;
    struct ec_logger logger;
};

#define EC_LANES_MAX 16 /* on one GPU */
#define EC_QUEUE_MAX 256

struct ec_pipeline;

/* Opens source, backend and sinks in that order; an output that cannot be written is found here, before the first frame. On
 * failure *out is NULL, the reason (with the file's name) went to the logger, and nothing was left behind. */
EC_API enum ec_status ec_pipeline_open(struct ec_pipeline **out, const struct ec_pipeline_params *params);

/* Runs to the end of the input, ec_pipeline_stop or the first error; blocks; call once. The calling thread hosts the window
 * and the sinks. EC_OK: every frame came through. EC_ERROR_FRAMES: the output is complete but frames were damaged, or none
 * came (then no output is left). EC_STOPPED: stopped; the output up to there is complete. Any other status: no output is left
 * under its final name. */
EC_API enum ec_status ec_pipeline_run(struct ec_pipeline *pipeline);

/* Ends ec_pipeline_run, from any thread or signal handler, before or during the run: within a second without a file, within two
 * where one has to be completed (frames that its encoder still holds by then are left out, with a notice). It does not wait for
 * a reader of standard output that stands still; that call then returns when the reader goes on or away. */
EC_API void ec_pipeline_stop(struct ec_pipeline *pipeline);

/* Removes the temporary files of outputs that are not complete, from any thread while the pipeline is open: for a process that
 * is about to end without ec_pipeline_close. Those outputs fail from here on. */
EC_API void ec_pipeline_abandon(struct ec_pipeline *pipeline);

/* A snapshot, from any thread, at any time between open and close. */
EC_API void ec_pipeline_stats(struct ec_pipeline *pipeline, struct ec_stats *out);

/* Releases everything and sets *pipeline to NULL; NULL is fine. Not while ec_pipeline_run is running. */
EC_API void ec_pipeline_close(struct ec_pipeline **pipeline);

#ifdef __cplusplus
}
#endif
#endif
