#include "app/doctor_media.h"

#include <libavcodec/avcodec.h>
#include <libavdevice/avdevice.h>
#include <libavfilter/avfilter.h>
#include <libavformat/avformat.h>
#include <libavutil/hwcontext.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "edge/backend.h"
#include "sink/codec.h"

static const char group[] = "FFmpeg";

#define MAJOR(version) ((version) >> 16)

static void report_versions(const struct ec_examiner *examiner)
{
    const struct {
        const char *name;
        unsigned compiled, running;
    } libraries[] = {
        {"libavutil", LIBAVUTIL_VERSION_INT, avutil_version()},
        {"libavcodec", LIBAVCODEC_VERSION_INT, avcodec_version()},
        {"libavformat", LIBAVFORMAT_VERSION_INT, avformat_version()},
        {"libavfilter", LIBAVFILTER_VERSION_INT, avfilter_version()},
        {"libavdevice", LIBAVDEVICE_VERSION_INT, avdevice_version()},
        {"libswscale", LIBSWSCALE_VERSION_INT, swscale_version()},
        {"libswresample", LIBSWRESAMPLE_VERSION_INT, swresample_version()},
    };
    char text[400] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const unsigned now = libraries[i].running, then = libraries[i].compiled;
        const int length = snprintf(text + used, sizeof text - used, "%s%s %u.%u.%u", used ? ", " : "", libraries[i].name,
                                    MAJOR(now), now >> 8 & 255, now & 255);
        used += length > 0 && (size_t)length < sizeof text - used ? (size_t)length : 0;
        if (MAJOR(now) != MAJOR(then) || now < then)
            ec_finding(
                examiner, group, EC_VERDICT_PROBLEM,
                "%s is %u.%u.%u, and edgecam was compiled for %u.%u.%u: build it again, or use the FFmpeg it was built with",
                libraries[i].name, MAJOR(now), now >> 8 & 255, now & 255, MAJOR(then), then >> 8 & 255, then & 255);
    }
    ec_finding(examiner, group, EC_VERDICT_OK, "FFmpeg %s: %s", av_version_info(), text);
}

/* Splits `names` into those that are there and those that are not. */
static void report_list(const struct ec_examiner *examiner, const char *what, const char *const *names,
                        bool (*has)(const char *), const char *advice)
{
    char there[300] = "", missing[300] = "";
    for (; *names; names++) {
        char *list = has(*names) ? there : missing;
        strncat(list, " ", sizeof there - strlen(list) - 1);
        strncat(list, *names, sizeof there - strlen(list) - 1);
    }
    ec_finding(examiner, group, EC_VERDICT_OK, "%s:%s", what, there[0] ? there : " none of the usual ones");
    if (missing[0])
        ec_finding(examiner, group, EC_VERDICT_NOTE, "%s that this FFmpeg lacks:%s; %s", what, missing, advice);
}

static bool has_encoder(const char *name)
{
    return avcodec_find_encoder_by_name(name) != NULL;
}

static bool has_decoder(const char *name)
{
    return avcodec_find_decoder_by_name(name) != NULL;
}

static bool has_protocol(const char *name)
{
    void *state = NULL;
    for (const char *one; (one = avio_enum_protocols(&state, 0));)
        if (strcmp(one, name) == 0)
            return true;
    return false;
}

void doctor_media(const struct ec_examiner *examiner)
{
    static const char *const encoders[] = {"libx264", "libx265", "libvpx-vp9", "libsvtav1", "ffv1", "aac", "libopus", NULL};
    static const char *const decoders[] = {"h264", "hevc", "vp9", "libdav1d", "mpeg2video", "mjpeg", NULL};
    static const char *const protocols[] = {"file", "pipe", "http", "https", "rtmp", "rtp", "udp", "srt", NULL};
    report_versions(examiner);
    report_list(examiner, "encoders", encoders, has_encoder, "outputs that need them choose another, or name --codec");
    report_list(examiner, "decoders", decoders, has_decoder, "such videos may not open");
    report_list(examiner, "protocols", protocols, has_protocol, "such addresses do not open");
    const bool cuda = av_hwdevice_find_type_by_name("cuda") != AV_HWDEVICE_TYPE_NONE;
    ec_finding(examiner, group, cuda ? EC_VERDICT_OK : EC_VERDICT_NOTE,
               cuda ? "decoding on an NVIDIA GPU (hwaccel cuda) is built in"
                    : "decoding on an NVIDIA GPU (hwaccel cuda) is not built in: videos are decoded on the CPU");
}

/* Opens the encoder for a small picture, as a run would. */
static int open_encoder(const AVCodec *codec)
{
    AVCodecContext *context = avcodec_alloc_context3(codec);
    if (!context)
        return AVERROR(ENOMEM);
    context->width = 640;
    context->height = 360;
    context->pix_fmt = AV_PIX_FMT_YUV420P;
    context->time_base = (AVRational){1, 25};
    const int result = avcodec_open2(context, codec, NULL);
    avcodec_free_context(&context);
    return result;
}

void doctor_nvenc(const struct ec_examiner *examiner)
{
    static const char *const names[] = {"h264_nvenc", "hevc_nvenc", "av1_nvenc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const AVCodec *codec = avcodec_find_encoder_by_name(names[i]);
        char reason[AV_ERROR_MAX_STRING_SIZE] = "";
        const int result = codec ? open_encoder(codec) : 0;
        if (!codec)
            ec_finding(examiner, "NVENC", EC_VERDICT_NOTE, "%s: this FFmpeg does not have it", names[i]);
        else if (result < 0)
            ec_finding(examiner, "NVENC", EC_VERDICT_NOTE,
                       "%s does not open (%s): the card has no such unit, or no driver runs", names[i],
                       av_make_error_string(reason, sizeof reason, result));
        else
            ec_finding(examiner, "NVENC", EC_VERDICT_OK, "%s opens (--codec %s)%s", names[i], names[i],
                       ec_backend_cuda.encode_surfaces && ec_codec_takes_surfaces(codec)
                           ? "; results that nothing else looks at stay on the GPU for it"
                           : "");
    }
}
