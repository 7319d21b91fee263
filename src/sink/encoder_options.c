#include "sink/encoder_options.h"

#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <string.h>

/* Our defaults. A rate wish of the person's (see wants_rate) replaces those marked FOR_RATE. The AV1 and VP9 encoders start at
 * speeds meant for archives, and VP9 refuses alternate references beside alpha; NVENC starts at 2 Mbit/s, far too little for
 * edges; x265 talks on standard error. */
static const struct {
    const char *encoder, *key, *value;
    enum { ALWAYS, FOR_RATE, FOR_ALPHA } when;
} defaults[] = {
    {"libx265", "x265-params", "log-level=error", ALWAYS},
    {"libvpx-vp9", "row-mt", "1", ALWAYS},
    {"libvpx-vp9", "cpu-used", "4", ALWAYS},
    {"libvpx-vp9", "auto-alt-ref", "0", FOR_ALPHA},
    {"libaom-av1", "row-mt", "1", ALWAYS},
    {"libaom-av1", "cpu-used", "6", ALWAYS},
    {"h264_nvenc", "rc", "vbr", FOR_RATE},
    {"h264_nvenc", "cq", "23", FOR_RATE},
    {"h264_nvenc", "b", "0", FOR_RATE},
    {"hevc_nvenc", "rc", "vbr", FOR_RATE},
    {"hevc_nvenc", "cq", "25", FOR_RATE},
    {"hevc_nvenc", "b", "0", FOR_RATE},
    {"av1_nvenc", "rc", "vbr", FOR_RATE},
    {"av1_nvenc", "cq", "28", FOR_RATE},
    {"av1_nvenc", "b", "0", FOR_RATE},
};

/* libavcodec's bit rate for encoders that do not bring their own. */
enum { GENERIC_BIT_RATE = 200000, QSCALE = 3 };

static bool wants_rate(const struct ec_pipeline_params *params)
{
    static const char *const keys[] = {"b", "rc", "cq", "qp", "crf", "q", "global_quality", "qscale"};
    for (int i = 0; i < params->encoder_option_count; i++) {
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            if (strcmp(params->encoder_options[i].key, keys[k]) == 0)
                return true;
        }
    }
    return false;
}

static int set_option(AVCodecContext *context, const char *key, const char *value)
{
    return av_opt_set(context, key, value, AV_OPT_SEARCH_CHILDREN);
}

static bool has_alpha(const AVCodecContext *context)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(context->pix_fmt);
    return d && d->flags & AV_PIX_FMT_FLAG_ALPHA;
}

static void set_defaults(AVCodecContext *context, bool rate)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        const bool wanted = defaults[i].when == FOR_ALPHA ? has_alpha(context) : rate || defaults[i].when == ALWAYS;
        if (wanted && strcmp(defaults[i].encoder, context->codec->name) == 0)
            set_option(context, defaults[i].key, defaults[i].value); /* a version without it keeps its own */
    }
    if (rate && context->bit_rate == GENERIC_BIT_RATE) {
        context->flags |= AV_CODEC_FLAG_QSCALE;
        context->global_quality = FF_QP2LAMBDA * QSCALE;
    }
}

/* One of our own options; NVENC calls its constant quality cq. */
static enum ec_status set_own(AVCodecContext *context, const char *key, const char *value, bool stand_in,
                              struct ec_error *error)
{
    if (!value)
        return EC_OK;
    const char *name = context->codec->name;
    int result = set_option(context, key, value);
    if (result == AVERROR_OPTION_NOT_FOUND && strcmp(key, "crf") == 0)
        result = set_option(context, "cq", value);
    if (result >= 0 || (result == AVERROR_OPTION_NOT_FOUND && stand_in))
        return EC_OK;
    if (result == AVERROR_OPTION_NOT_FOUND)
        return ec_fail(error, EC_ERROR_ARGUMENT, "the encoder %s has no option %s", name, key);
    return ec_fail(error, EC_ERROR_ARGUMENT, "the encoder %s refuses %s=%s: %s", name, key, value, av_err2str(result));
}

enum ec_status ec_encoder_options_set(AVCodecContext *context, const struct ec_pipeline_params *params, bool stand_in,
                                      AVDictionary **left, struct ec_error *error)
{
    set_defaults(context, !wants_rate(params) && !params->crf);
    if (!wants_rate(params) && params->crf && strstr(context->codec->name, "_nvenc")) {
        set_option(context, "rc", "vbr");
        set_option(context, "b", "0");
    }
    enum ec_status status = set_own(context, "crf", params->crf, stand_in, error);
    if (status == EC_OK && !stand_in)
        status = set_own(context, "preset", params->preset, stand_in, error);
    for (int i = 0; status == EC_OK && i < params->encoder_option_count; i++) {
        const struct ec_option *option = &params->encoder_options[i];
        const int result = set_option(context, option->key, option->value);
        if (result == AVERROR_OPTION_NOT_FOUND && stand_in)
            continue;
        if (result == AVERROR_OPTION_NOT_FOUND) {
            if (av_dict_set(left, option->key, option->value, 0) < 0)
                status = ec_fail(error, EC_ERROR_MEMORY, "out of memory");
        } else if (result < 0) {
            status = ec_fail(error, EC_ERROR_ARGUMENT, "the encoder %s refuses %s=%s: %s", context->codec->name, option->key,
                             option->value, av_err2str(result));
        }
    }
    return status;
}
