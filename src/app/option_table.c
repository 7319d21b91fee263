#include "app/option_setters.h"

const struct app_word app_words_operators[] = {
    {"sobel", EC_OPERATOR_SOBEL},
    {"scharr", EC_OPERATOR_SCHARR},
    {"prewitt", EC_OPERATOR_PREWITT},
    {"roberts", EC_OPERATOR_ROBERTS},
    {"kirsch", EC_OPERATOR_KIRSCH},
    {"robinson", EC_OPERATOR_ROBINSON},
    {"laplacian", EC_OPERATOR_LAPLACIAN},
    {"log", EC_OPERATOR_LOG},
    {"dog", EC_OPERATOR_DOG},
    {"convolution", EC_OPERATOR_CONVOLUTION},
    {"canny", EC_OPERATOR_CANNY},
    {NULL, 0},
};
const struct app_word app_words_norms[] = {{"l2", EC_NORM_L2}, {"l1", EC_NORM_L1}, {NULL, 0}};
const struct app_word app_words_borders[] = {
    {"reflect101", EC_BORDER_REFLECT101}, {"replicate", EC_BORDER_REPLICATE}, {"constant", EC_BORDER_CONSTANT}, {NULL, 0}};
const struct app_word app_words_backends[] = {
    {"auto", EC_BACKEND_AUTO}, {"cpu", EC_BACKEND_CPU}, {"cuda", EC_BACKEND_CUDA}, {NULL, 0}};
static const struct app_word words_apertures[] = {{"3", 3}, {"5", 5}, {"7", 7}, {NULL, 0}};
static const struct app_word words_decoders[] = {
    {"auto", EC_DECODER_AUTO}, {"cpu", EC_DECODER_CPU}, {"nvdec", EC_DECODER_NVDEC}, {NULL, 0}};
static const struct app_word words_auto[] = {
    {"median", EC_AUTO_MEDIAN}, {"otsu", EC_AUTO_OTSU}, {"percentile", EC_AUTO_PERCENTILE}, {NULL, 0}};
static const struct app_word words_channels[] = {{"luma", EC_CHANNELS_LUMA}, {"rgb", EC_CHANNELS_RGB}, {NULL, 0}};
const struct app_word app_words_styles[] = {
    {"mask", EC_STYLE_MASK},           {"ink", EC_STYLE_INK},     {"overlay", EC_STYLE_OVERLAY}, {"glow", EC_STYLE_GLOW},
    {"direction", EC_STYLE_DIRECTION}, {"alpha", EC_STYLE_ALPHA}, {"split", EC_STYLE_SPLIT},     {NULL, 0},
};
static const struct app_word words_luma[] = {{"auto", false}, {"raw", true}, {NULL, 0}};
static const struct app_word words_depth[] = {{"8", false}, {"native", true}, {NULL, 0}};
static const struct app_word words_progress[] = {{"auto", APP_PROGRESS_AUTO},
                                                 {"bar", APP_PROGRESS_BAR},
                                                 {"json", APP_PROGRESS_JSON},
                                                 {"none", APP_PROGRESS_NONE},
                                                 {NULL, 0}};

#define AT(member_name) .offset = offsetof(struct app_options, member_name)
#define NOWHERE .offset = 0
#define NONE APP_ARGUMENT_NONE
#define NEED APP_ARGUMENT_REQUIRED
#define MAY APP_ARGUMENT_OPTIONAL
#define INPUT APP_GROUP_INPUT
#define EDGES APP_GROUP_EDGES
#define OUTPUT APP_GROUP_OUTPUT
#define RUN APP_GROUP_RUN
#define REPORT APP_GROUP_REPORT

/* clang-format off */
const struct app_option app_option_table[] = {
    {"webcam", 0, MAY, INPUT, "DEVICE", "a camera, /dev/video0 if none is named; also FORMAT:NAME or a URL", app_set_webcam, AT(webcam)},
    {"demo", 0, MAY, INPUT, "WxH@FPS", "a built-in moving picture, 3840x2160@60 if no size is named", app_set_demo, NOWHERE},
    {"format", 'f', NEED, INPUT, "NAME", "FFmpeg demuxer or device instead of a guess", app_set_text, AT(pipeline.input_format)},
    {"input-opt", 0, NEED, INPUT, "K=V", "an option for the demuxer, protocol or decoder; repeatable", app_add_input_option, NOWHERE},
    {"stream", 0, NEED, INPUT, "N", "take stream N of the file (from 0) instead of the best video", app_set_stream, AT(pipeline.stream), 0, 65535},
    {"start", 0, NEED, INPUT, "T", "begin at T, end T later: seconds or HH:MM:SS.mmm", app_set_time, AT(pipeline.start_s)},
    {"duration", 0, NEED, INPUT, "T", NULL, app_set_duration, AT(pipeline.duration_s)},
    {"frames", 0, NEED, INPUT, "N", "stop after N frames", app_set_frames, NOWHERE},
    {"loop", 0, NONE, INPUT, NULL, "again at the end; no faster than its clock; again after a loss", app_set_flag, AT(pipeline.loop)},
    {"realtime", 0, NONE, INPUT, NULL, NULL, app_set_flag, AT(pipeline.realtime)},
    {"reconnect", 0, NONE, INPUT, NULL, NULL, app_set_flag, AT(pipeline.reconnect)},
    {"decoder", 0, NEED, INPUT, "NAME", "auto (default: NVDEC where it can), cpu or nvdec", app_set_word, AT(pipeline.decoder), .words = words_decoders},
    {"pre", 0, NEED, INPUT, "GRAPH", "FFmpeg filters on the picture first: \"yadif\", \"scale=1280:-2\"", app_set_text, AT(pipeline.prefilter)},

    {"operator", 'e', NEED, EDGES, "NAME", "sobel (default), canny, scharr, ...: --list names them all", app_set_operators, NOWHERE},
    {"norm", 0, NEED, EDGES, "l2|l1", "length of a gradient: root of squares, or sum; size of the window", app_set_word, AT(pipeline.edge.norm), .words = app_words_norms},
    {"aperture", 0, NEED, EDGES, "3|5|7", NULL, app_set_word, AT(pipeline.edge.aperture), .words = words_apertures},
    {"blur", 0, NEED, EDGES, "SIGMA", "Gaussian blur before the operator, in pixels, up to 32", app_set_number, AT(pipeline.edge.blur_sigma), 0, EC_BLUR_MAX_SIGMA},
    {"scale", 0, NEED, EDGES, "X", "result = scale * response + delta; 1 and 0", app_set_nonzero, AT(pipeline.edge.scale), -65536, 65536},
    {"delta", 0, NEED, EDGES, "X", NULL, app_set_number, AT(pipeline.edge.delta), -65536, 65536},
    {"abs", 0, NONE, EDGES, NULL, "size of a convolution, not 0 below 0; white from T, black below", app_set_flag, AT(pipeline.edge.absolute)},
    {"threshold", 0, NEED, EDGES, "T", NULL, app_set_nonzero, AT(pipeline.edge.threshold), 0, 65536},
    {"low", 0, NEED, EDGES, "T", "canny: weak edges from T, 100, count next to strong ones from T, 200", app_set_low, AT(pipeline.edge.low), 0, 1048576},
    {"high", 0, NEED, EDGES, "T", NULL, app_set_high, AT(pipeline.edge.high), 0, 1048576},
    {"auto", 0, MAY, EDGES, "KIND", "both from the picture: median, otsu or percentile; followed in T s", app_set_auto, AT(pipeline.edge.automatic), .words = words_auto},
    {"auto-time", 0, NEED, EDGES, "T", NULL, app_set_auto_time, AT(pipeline.edge.auto_time_s), 0, 1000000},
    {"stable", 0, MAY, EDGES, "STRENGTH", "canny: less flicker, lines stay where nothing moves; 0 to 1, 0.5", app_set_stable, AT(pipeline.edge.stable), 0, 1},
    {"channels", 0, NEED, EDGES, "luma|rgb", "canny: of brightness (default), or of the strongest of three colours", app_set_word, AT(pipeline.edge.channels), .words = words_channels},
    {"kernel", 0, NEED, EDGES, "ROWS", "convolution with \"1 2 1; 0 0 0; -1 -2 -1\", or \"... / DIVISOR\"", app_set_kernel, NOWHERE},
    {"border", 0, NEED, EDGES, "NAME", "reflect101 (default), replicate or constant", app_set_word, AT(pipeline.edge.border), .words = app_words_borders},
    {"luma", 0, NEED, EDGES, "auto|raw", "expand limited-range video to full range (auto), or never", app_set_word_flag, AT(pipeline.luma_raw), .words = words_luma},

    {"style", 0, NEED, EDGES, "NAME", "mask (default), ink, overlay, glow, direction, alpha or split", app_set_word, AT(pipeline.style.style), .words = app_words_styles},
    {"line-color", 0, NEED, EDGES, "C", "colours of a style: #RRGGBB or a name", app_set_line_colour, NOWHERE},
    {"paper-color", 0, NEED, EDGES, "C", NULL, app_set_paper_colour, NOWHERE},

    {"output", 'o', NEED, OUTPUT, "FILE", "the edge video; the name chooses the format; - is standard output", app_set_text, AT(pipeline.output)},
    {"out-dir", 0, NEED, OUTPUT, "DIR", "many inputs, and the videos in folders: one output each in DIR", app_set_folder, AT(out_dir), .harmless = true},
    {"jobs", 0, NEED, OUTPUT, "N", "of --out-dir: N inputs at a time; leave finished outputs alone", app_set_integer, AT(jobs), 1, APP_JOBS_MAX, .harmless = true},
    {"resume", 0, NONE, OUTPUT, NULL, NULL, app_set_flag, AT(resume), .harmless = true},
    {"display", 0, NONE, OUTPUT, NULL, "a window (Esc or q ends, space pauses, f fills the screen)", app_set_flag, AT(pipeline.display), .harmless = true},
    {"hash", 0, NONE, OUTPUT, NULL, "number, time and MD5 of each frame on stdout; drop the frames", app_set_flag, AT(pipeline.hash), .harmless = true},
    {"null", 0, NONE, OUTPUT, NULL, NULL, app_set_flag, AT(pipeline.null_sink), .harmless = true},
    {"out-format", 0, NEED, OUTPUT, "NAME", "FFmpeg muxer instead of the one that the name means", app_set_text, AT(pipeline.output_format)},
    {"codec", 0, NEED, OUTPUT, "NAME", "FFmpeg encoder instead of the format's usual one", app_set_text, AT(pipeline.codec)},
    {"crf", 0, NEED, OUTPUT, "N", "quality and speed, as the encoder understands them", app_set_text, AT(pipeline.crf)},
    {"preset", 0, NEED, OUTPUT, "NAME", NULL, app_set_text, AT(pipeline.preset)},
    {"encoder-opt", 0, NEED, OUTPUT, "K=V", "an option for the encoder; repeatable", app_add_encoder_option, NOWHERE},
    {"pix-fmt", 0, NEED, OUTPUT, "NAME", "pixel format of the output", app_set_text, AT(pipeline.pixel_format)},
    {"depth", 0, NEED, OUTPUT, "8|native", "bits a pixel of the result: 8, or as many as the input has", app_set_word_flag, AT(pipeline.native_depth), .words = words_depth},
    {"no-audio", 0, NONE, OUTPUT, NULL, "leave everything but the video out; replace an existing output", app_set_flag, AT(pipeline.no_audio)},
    {"overwrite", 'y', NONE, OUTPUT, NULL, NULL, app_set_flag, AT(pipeline.overwrite), .harmless = true},

    {"backend", 0, NEED, RUN, "NAME", "auto (default: a GPU if one works), cpu or cuda", app_set_backend, AT(pipeline.device.backend), .words = app_words_backends},
    {"gpu", 0, NEED, RUN, "N", "which GPU, from 0, or all; implies --backend cuda", app_set_gpu, AT(pipeline.device.gpu), 0, 255},
    {"lanes", 0, NEED, RUN, "N", "frames in flight on each GPU, 3; frames in each queue, 4", app_set_integer, AT(pipeline.lanes), 1, EC_LANES_MAX},
    {"queue", 0, NEED, RUN, "N", NULL, app_set_integer, AT(pipeline.queue_frames), 1, EC_QUEUE_MAX},
    {"threads", 0, NEED, RUN, "N", "threads on the CPU; each frame soon rather than many frames", app_set_integer, AT(pipeline.device.threads), 1, 1024},
    {"low-latency", 0, NONE, RUN, NULL, NULL, app_set_flag, AT(pipeline.device.low_latency)},
    {"cpu-features", 0, NEED, RUN, "NAME", "", app_set_text, AT(pipeline.device.cpu_features)},

    {"stats", 0, NEED, REPORT, "FILE", "JSON: statistics; what became of each input; - is stdout", app_set_text, AT(stats)},
    {"report", 0, NEED, REPORT, "FILE", NULL, app_set_text, AT(report)},
    {"trace", 0, NEED, REPORT, "FILE", "every interval of the run, for ui.perfetto.dev", app_set_text, AT(pipeline.trace)},
    {"progress", 0, NEED, REPORT, "KIND", "auto (a bar on a terminal), bar, json (lines) or none", app_set_word, AT(progress), .words = words_progress},
    {"quiet", 'q', NONE, REPORT, NULL, "errors only; more messages, FFmpeg's too", app_set_level, .low = EC_LOG_ERROR},
    {"verbose", 'v', NONE, REPORT, NULL, NULL, app_set_level, .low = EC_LOG_VERBOSE},
    {"bench", 0, MAY, REPORT, "kernels", "measure this machine, or detectors alone; fit them to the GPU", app_set_bench, NOWHERE},
    {"tune", 0, NONE, REPORT, NULL, NULL, app_set_flag, AT(tune)},
    {"doctor", 0, NONE, REPORT, NULL, "explain this machine: what works, what does not, what to do", app_set_task, .low = APP_DOCTOR},
    {"list", 0, NONE, REPORT, NULL, "operators, borders, encoders and devices; version; this text", app_set_task, .low = APP_LIST},
    {"version", 0, NONE, REPORT, NULL, NULL, app_set_task, .low = APP_VERSION},
    {"help", 'h', NONE, REPORT, NULL, NULL, app_set_task, .low = APP_HELP},
};
/* clang-format on */
const int app_option_count = sizeof app_option_table / sizeof *app_option_table;
