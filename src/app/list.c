#include "app/list.h"

#include <glob.h>
#include <libavcodec/avcodec.h>
#include <libavdevice/avdevice.h>
#include <stdio.h>

#include "app/options.h"
#include "edge/backend.h"

#define MOST_GPUS 16

static void print_words(const char *title, const struct app_word *words)
{
    printf("\n%s:", title);
    for (; words->text; words++)
        printf(" %s", words->text);
    puts("");
}

static void print_styles(void)
{
    puts("\nStyles:");
    for (int i = 0; i < EC_STYLE_COUNT; i++)
        printf("  %-12s %s\n", ec_style_name((enum ec_style)i), ec_style_text((enum ec_style)i));
}

static void print_encoders(void)
{
    static const char *const usual[] = {"libx264",    "libx265",    "libvpx-vp9", "libsvtav1", "libaom-av1",
                                        "h264_nvenc", "hevc_nvenc", "av1_nvenc",  "ffv1",      "prores_ks",
                                        "mpeg4",      "mjpeg",      "png",        "gif",       "rawvideo"};
    puts("\nEncoders (any other that this FFmpeg has works too; NVENC needs its GPU):");
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const AVCodec *codec = avcodec_find_encoder_by_name(usual[i]);
        if (codec)
            printf("  %-12s %s\n", codec->name, codec->long_name ? codec->long_name : "");
    }
}

static void print_gpus(void)
{
    puts("\nGPUs:");
    for (int i = 0; i < MOST_GPUS; i++) {
        const struct ec_device_params params = {.backend = EC_BACKEND_CUDA, .gpu = i};
        const struct ec_logger silent = {0};
        struct ec_device *device = NULL;
        struct ec_device_info info = {0};
        struct ec_error error = {0};
        if (ec_backend_cuda.open(&device, &params, &silent, &error)) {
            if (i == 0)
                printf("  none: %s\n", error.text);
            return;
        }
        ec_backend_cuda.describe(device, &info);
        printf("  %d  %s, driver %s\n", i, info.name, info.driver);
        ec_backend_cuda.close(&device);
    }
}

static void print_cameras(void)
{
    const AVInputFormat *format = NULL;
    glob_t found = {0};
    printf("\nCameras:");
    if (glob("/dev/video*", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            printf(" %s", found.gl_pathv[i]);
        puts("");
    } else {
        puts(" none under /dev/video*");
    }
    globfree(&found);
    printf("Device formats for --webcam=FORMAT:NAME:");
    avdevice_register_all();
    while ((format = av_input_video_device_next(format)))
        printf(" %s", format->name);
    puts("");
}

void app_print_list(void)
{
    puts("Operators:");
    for (int i = 0; i < EC_OPERATOR_COUNT; i++)
        printf("  %-12s %s\n", ec_operator_name((enum ec_operator)i), ec_operator_text((enum ec_operator)i));
    print_words("Norms", app_words_norms);
    print_words("Borders", app_words_borders);
    print_words("Backends", app_words_backends);
    print_styles();
    print_encoders();
    print_gpus();
    print_cameras();
}
