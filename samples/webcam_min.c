/* webcam_min [CAMERA [OPERATOR]]: the whole live demo: camera in, edges in a window. q or Esc ends it.
 *
 *   cc webcam_min.c -o webcam_min $(pkg-config --cflags --libs edgecam)
 *
 * CAMERA is /dev/video0 without a word; a file, a URL or demo:640x480@30 works as well. A pipeline does what is left: it
 * decodes on one thread, finds edges on another (on the GPU if one works) and draws on this one. `live` lets the newest frame
 * win when the machine is too slow, instead of falling ever further behind; `low_latency` prefers each frame soon to many
 * frames a second. */
#include <edgecam/edgecam.h>
#include <stdio.h>
#include <string.h>

static void print_message(void *opaque, enum ec_log_level level, const char *text)
{
    (void)opaque;
    if (level <= EC_LOG_NOTICE)
        fprintf(stderr, "webcam_min: %s\n", text);
}

static bool find_operator(const char *name, enum ec_operator *op)
{
    for (int i = 0; ec_operator_name((enum ec_operator)i); i++)
        if (strcmp(ec_operator_name((enum ec_operator)i), name) == 0) {
            *op = (enum ec_operator)i;
            return true;
        }
    fprintf(stderr, "webcam_min: there is no operator '%s'\n", name);
    return false;
}

int main(int argc, char **argv)
{
    const char *camera = argc > 1 ? argv[1] : "/dev/video0";
    const bool device = strncmp(camera, "/dev/video", 10) == 0;
    /* What FFmpeg reads from a camera to find out its format is old by the time it is shown. */
    const struct ec_option fresh = {.key = "fflags", .value = "nobuffer"};
    struct ec_pipeline_params params = {
        .input = camera,
        .input_format = device ? "v4l2" : NULL,
        .input_options = &fresh,
        .input_option_count = device ? 1 : 0,
        .live = device,
        .realtime = !device,
        .display = true,
        .device = {.low_latency = true},
        .logger = {.message = print_message},
    };
    struct ec_pipeline *pipeline = NULL;
    struct ec_stats stats;
    if (argc > 2 && !find_operator(argv[2], &params.edge.op))
        return EC_ERROR_ARGUMENT;

    enum ec_status status = ec_pipeline_open(&pipeline, &params);
    if (status == EC_OK) {
        status = ec_pipeline_run(pipeline); /* until the window is closed or the input ends */
        ec_pipeline_stats(pipeline, &stats);
        printf("%lld frames on %s, %.1f a second, %lld dropped, %.1f ms from camera to window (median)\n",
               (long long)stats.frames_out, stats.backend, stats.fps, (long long)stats.frames_dropped, stats.latency_p50_ms);
    }
    ec_pipeline_close(&pipeline);
    return status == EC_STOPPED ? EC_OK : (int)status; /* closing the window is the usual end */
}
