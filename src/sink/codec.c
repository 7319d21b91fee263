#include "sink/codec.h"

#include <libavutil/avstring.h>
#include <libavutil/pixdesc.h>
#include <math.h>
#include <string.h>

#include "pipeline/style.h"
#include "sink/container.h"
#include "sink/supported.h"

/* The encoders we prefer for a codec; others use FFmpeg's first. A hardware encoder (`id` none) is named by `instead_of`. */
static const struct {
    enum AVCodecID id;
    const char *instead_of;
    const char *names[EC_CODEC_CANDIDATES];
} preferences[] = {
    {AV_CODEC_ID_H264, NULL, {"libx264", "libopenh264", "mpeg4"}},
    {AV_CODEC_ID_HEVC, NULL, {"libx265"}},
    {AV_CODEC_ID_VP9, NULL, {"libvpx-vp9"}},
    {AV_CODEC_ID_PRORES, NULL, {"prores_ks"}},
    {AV_CODEC_ID_AV1, NULL, {"libsvtav1", "libaom-av1", "librav1e"}},
    {AV_CODEC_ID_NONE, "h264_nvenc", {"h264_nvenc", "libx264", "libopenh264"}},
    {AV_CODEC_ID_NONE, "hevc_nvenc", {"hevc_nvenc", "libx265", "libx264"}},
    {AV_CODEC_ID_NONE, "av1_nvenc", {"av1_nvenc", "libsvtav1", "libaom-av1"}},
};

/* Formats whose usual codec today is not the one FFmpeg lists. */
static const struct {
    const char *format;
    enum AVCodecID id;
} usual[] = {{"mpegts", AV_CODEC_ID_H264}, {"nut", AV_CODEC_ID_H264}, {"flv", AV_CODEC_ID_H264}};

bool ec_codec_is_hardware(const AVCodec *codec)
{
    return codec->capabilities & (AV_CODEC_CAP_HARDWARE | AV_CODEC_CAP_HYBRID);
}

bool ec_codec_takes_surfaces(const AVCodec *codec)
{
    const AVCodecHWConfig *config;
    for (int i = 0; (config = avcodec_get_hw_config(codec, i)); i++)
        if (config->pix_fmt == AV_PIX_FMT_CUDA && config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_FRAMES_CTX)
            return true;
    return false;
}

bool ec_codec_name_takes_surfaces(const char *name)
{
    const AVCodec *codec = name ? avcodec_find_encoder_by_name(name) : NULL;
    return codec && ec_codec_takes_surfaces(codec);
}

static int add_named(const AVCodec *out[EC_CODEC_CANDIDATES], const char *const names[EC_CODEC_CANDIDATES])
{
    int count = 0;
    for (int i = 0; i < EC_CODEC_CANDIDATES && names[i]; i++) {
        out[count] = avcodec_find_encoder_by_name(names[i]);
        count += out[count] != NULL;
    }
    return count;
}

static int add_by_id(const AVCodec *out[EC_CODEC_CANDIDATES], enum AVCodecID id)
{
    int count = 0;
    for (size_t i = 0; count == 0 && i < sizeof preferences / sizeof *preferences; i++) {
        if (id != AV_CODEC_ID_NONE && preferences[i].id == id)
            count = add_named(out, preferences[i].names);
    }
    if (count == 0) {
        out[0] = avcodec_find_encoder(id);
        count = out[0] != NULL;
    }
    return count;
}

static int add_by_name(const AVCodec *out[EC_CODEC_CANDIDATES], const char *name)
{
    for (size_t i = 0; i < sizeof preferences / sizeof *preferences; i++) {
        if (preferences[i].instead_of && strcmp(preferences[i].instead_of, name) == 0)
            return add_named(out, preferences[i].names);
    }
    out[0] = avcodec_find_encoder_by_name(name);
    if (out[0])
        return out[0]->type == AVMEDIA_TYPE_VIDEO;
    const AVCodecDescriptor *descriptor = avcodec_descriptor_get_by_name(name);
    return descriptor && descriptor->type == AVMEDIA_TYPE_VIDEO ? add_by_id(out, descriptor->id) : 0;
}

/* Formats that keep transparency, and the codec that does it in them. */
static const struct {
    const char *format, *extension;
    enum AVCodecID id;
} transparent[] = {
    {"mov", ".mov (ProRes 4444)", AV_CODEC_ID_PRORES},
    {"webm", ".webm (VP9)", AV_CODEC_ID_VP9},
    {"matroska", ".mkv (FFV1)", AV_CODEC_ID_FFV1},
    {"nut", NULL, AV_CODEC_ID_FFV1},
    {"avi", NULL, AV_CODEC_ID_FFV1},
};

static enum AVCodecID usual_codec(const AVOutputFormat *format, const char *output, bool alpha)
{
    for (size_t i = 0; alpha && i < sizeof transparent / sizeof *transparent; i++) {
        if (strcmp(format->name, transparent[i].format) == 0)
            return transparent[i].id;
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        if (strcmp(format->name, usual[i].format) == 0)
            return usual[i].id;
    }
    return av_guess_codec(format, NULL, output, NULL, AVMEDIA_TYPE_VIDEO);
}

/* Formats of sound whose only picture is a cover. */
static bool holds_covers_only(const AVOutputFormat *format)
{
    static const char *const names[] = {"mp3", "flac", "aiff", "ogg", "oga", "opus", "spx", "wv", "tta", "mp2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(format->name, names[i]) == 0)
            return format->video_codec != AV_CODEC_ID_THEORA;
    return false;
}

/* Names what would work: the format's usual encoder, and a format for this one. */
static enum ec_status not_taken(const struct ec_pipeline_params *params, const struct ec_mux *mux, const AVCodec *codec,
                                struct ec_error *error)
{
    const AVOutputFormat *format = mux->context->oformat;
    const AVCodec *own[EC_CODEC_CANDIDATES] = {0};
    const char *ending = ec_container_for(codec->id);
    char others[96] = "";
    add_by_id(own, usual_codec(format, params->output, ec_style_has_alpha(params->style.style)));
    if (own[0])
        av_strlcatf(others, sizeof others, "; it takes %s",
                    own[0]->id == AV_CODEC_ID_WRAPPED_AVFRAME ? "rawvideo" : own[0]->name);
    if (ending)
        av_strlcatf(others, sizeof others, "%s %s takes %s", own[0] ? ", and" : ";", ending, codec->name);
    return ec_fail(error, EC_ERROR_ARGUMENT, "cannot write %s: the format %s does not take %s%s", mux->target->name,
                   format->name, codec->name, others);
}

enum ec_status ec_codec_find(const AVCodec *out[EC_CODEC_CANDIDATES], int *count, const struct ec_pipeline_params *params,
                             const struct ec_mux *mux, struct ec_error *error)
{
    const AVOutputFormat *format = mux->context->oformat;
    if (holds_covers_only(format))
        return ec_fail(error, EC_ERROR_ARGUMENT, "cannot write %s: the format %s holds no video", mux->target->name,
                       format->name);
    /* A muxer of bare pictures takes the frames themselves, whatever it is told to encode. */
    const bool bare = format->video_codec == AV_CODEC_ID_WRAPPED_AVFRAME;
    const char *name = bare && params->codec && strcmp(params->codec, "rawvideo") == 0 ? "wrapped_avframe" : params->codec;
    const enum AVCodecID id =
        params->codec ? AV_CODEC_ID_NONE : usual_codec(format, params->output, ec_style_has_alpha(params->style.style));
    *count = params->codec ? add_by_name(out, name) : add_by_id(out, id);
    if (*count == 0 && params->codec)
        return ec_fail(error, EC_ERROR_ARGUMENT, "cannot write %s: this FFmpeg has no video encoder %s", mux->target->name,
                       params->codec);
    if (*count == 0 && id == AV_CODEC_ID_NONE)
        return ec_fail(error, EC_ERROR_ARGUMENT, "cannot write %s: the format %s holds no video", mux->target->name,
                       format->name);
    if (*count == 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "cannot write %s: this FFmpeg has no encoder for %s", mux->target->name,
                       avcodec_get_name(id));
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        if (bare ? out[i]->id == format->video_codec : ec_container_takes(format, out[i]->id, FF_COMPLIANCE_UNOFFICIAL))
            out[kept++] = out[i];
    }
    if (kept == 0)
        return not_taken(params, mux, out[0], error);
    *count = kept;
    return EC_OK;
}

/* 4:2:0 first, then what plays less and less widely. */
static int chroma_kind(const AVPixFmtDescriptor *d)
{
    if (d->log2_chroma_w == 1 && d->log2_chroma_h == 1)
        return 0;
    if (d->log2_chroma_h == 0 && d->log2_chroma_w <= 1)
        return 2 - d->log2_chroma_w;
    return 3;
}

enum { SEMI_PLANAR = 1, RGB_LATE = 9, GRAY_LATE = 10, OTHER = 11, KINDS = 16, TOO_SHALLOW = 16 };

/* How tidy a layout is for the content; negative: it cannot hold it. `exact`: the codec loses nothing, so the pixels should
 * stay as they are; else they should play widely. */
static int kind_of(const AVPixFmtDescriptor *d, bool exact, const struct ec_content *content)
{
    const bool alpha = d->flags & AV_PIX_FMT_FLAG_ALPHA, rgb = d->flags & AV_PIX_FMT_FLAG_RGB;
    const int colours = d->nb_components - alpha;
    if (content->alpha != alpha)
        return content->alpha ? -1 : OTHER;
    if (colours == 1)
        return content->coloured ? -1 : exact ? 0 : GRAY_LATE;
    if (rgb && content->coloured)
        return exact ? 0 : RGB_LATE;
    if (colours == 3 && d->flags & AV_PIX_FMT_FLAG_PLANAR && !rgb)
        return 1 + 2 * chroma_kind(d) + (d->comp[1].plane == d->comp[2].plane ? SEMI_PLANAR : 0);
    return OTHER;
}

/* Smaller is better, negative never: first the depth that fits with few bits to spare, then the tidiest layout. */
static int rank(enum AVPixelFormat format, bool exact, const struct ec_content *content)
{
    const int depth_bits = content->depth_bits;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    const uint64_t never = AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_FLOAT;
    if (!d || d->flags & never)
        return -1;
    int bits = d->comp[0].depth;
    for (int i = 1; content->coloured && i < d->nb_components; i++)
        bits = FFMIN(bits, d->comp[i].depth);
    const int kind = kind_of(d, exact, content);
    if (kind < 0)
        return -1;
    const int waste = bits >= depth_bits ? bits - depth_bits : TOO_SHALLOW + depth_bits - bits;
    const uint64_t native = av_pix_fmt_desc_get(AV_PIX_FMT_GRAY16)->flags;
    const bool swapped = bits > 8 && (d->flags ^ native) & AV_PIX_FMT_FLAG_BE;
    return (waste * KINDS + kind) * 2 + swapped;
}

static enum ec_status no_transparency(const AVCodec *codec, struct ec_error *error)
{
    char names[160] = "";
    for (size_t i = 0; i < sizeof transparent / sizeof *transparent; i++) {
        if (transparent[i].extension)
            av_strlcatf(names, sizeof names, "%s, ", transparent[i].extension);
    }
    return ec_fail(error, EC_ERROR_ARGUMENT, "%s keeps no transparency: name an output %sor .png for the style alpha",
                   codec->name, names);
}

static enum ec_status wished_format(enum AVPixelFormat *out, const AVCodec *codec, const enum AVPixelFormat *list,
                                    const char *name, struct ec_error *error)
{
    *out = av_get_pix_fmt(name);
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(*out);
    if (!descriptor || descriptor->flags & AV_PIX_FMT_FLAG_HWACCEL)
        return ec_fail(error, EC_ERROR_ARGUMENT, "there is no pixel format %s", name);
    if (!list)
        return EC_OK;
    char names[320] = "";
    for (int i = 0; list[i] != AV_PIX_FMT_NONE; i++) {
        if (list[i] == *out)
            return EC_OK;
        const AVPixFmtDescriptor *one = av_pix_fmt_desc_get(list[i]);
        if (!one || one->flags & AV_PIX_FMT_FLAG_HWACCEL)
            continue;
        av_strlcatf(names, sizeof names, "%s%s", names[0] ? ", " : "", one->name);
    }
    return ec_fail(error, EC_ERROR_ARGUMENT, "%s does not take the pixel format %s; it takes %s", codec->name, name, names);
}

enum ec_status ec_codec_pixel_format(enum AVPixelFormat *out, const AVCodec *codec, const AVOutputFormat *format,
                                     const char *name, const struct ec_content *content, struct ec_error *error)
{
    static const enum AVPixelFormat grays[] = {AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY10, AV_PIX_FMT_GRAY12, AV_PIX_FMT_GRAY16,
                                               AV_PIX_FMT_NONE};
    static const enum AVPixelFormat colours[] = {AV_PIX_FMT_RGB24, AV_PIX_FMT_RGBA, AV_PIX_FMT_NONE};
    static const enum AVPixelFormat bare_colours[] = {AV_PIX_FMT_YUV420P, AV_PIX_FMT_NONE};
    const enum AVPixelFormat *list = ec_supported_by(codec, EC_SUPPORTED_PIXEL_FORMATS);
    if (name) {
        const enum ec_status status = wished_format(out, codec, list, name, error);
        const bool keeps = status == EC_OK && av_pix_fmt_desc_get(*out)->flags & AV_PIX_FMT_FLAG_ALPHA;
        return status == EC_OK && content->alpha && !keeps ? no_transparency(codec, error) : status;
    }
    const AVCodecDescriptor *descriptor = avcodec_descriptor_get(codec->id);
    const bool lossless = descriptor && !(descriptor->props & AV_CODEC_PROP_LOSSY);
    const bool bare = strcmp(format->name, "yuv4mpegpipe") == 0;
    const bool exact = lossless || (bare && !content->coloured);
    if (!list)
        list = !content->coloured ? grays : bare ? bare_colours : colours;
    int best = -1;
    for (int i = 0; list[i] != AV_PIX_FMT_NONE; i++) {
        const int one = rank(list[i], exact, content);
        if (one >= 0 && (best < 0 || one < best)) {
            best = one;
            *out = list[i];
        }
    }
    if (best < 0 && content->alpha)
        return no_transparency(codec, error);
    if (best < 0)
        return ec_fail(error, EC_ERROR_ARGUMENT, "%s takes no pixel format that edges can be put into", codec->name);
    return EC_OK;
}

bool ec_codec_tells_range(const AVCodec *codec)
{
    static const enum AVCodecID mute[] = {
        AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG4, AV_CODEC_ID_MSMPEG4V2, AV_CODEC_ID_MSMPEG4V3,
        AV_CODEC_ID_WMV1,       AV_CODEC_ID_WMV2,       AV_CODEC_ID_H261,  AV_CODEC_ID_H263,      AV_CODEC_ID_H263P,
        AV_CODEC_ID_FLV1,       AV_CODEC_ID_THEORA,     AV_CODEC_ID_VP8,   AV_CODEC_ID_DVVIDEO,   AV_CODEC_ID_DNXHD,
        AV_CODEC_ID_PRORES,     AV_CODEC_ID_CINEPAK,    AV_CODEC_ID_SVQ1,  AV_CODEC_ID_RV10,      AV_CODEC_ID_RV20,
    };
    for (size_t i = 0; i < sizeof mute / sizeof *mute; i++)
        if (codec->id == mute[i])
            return false;
    return true;
}

/* Containers that place pictures by counting them at one rate. libavformat's AVFMT_VARIABLE_FPS does not tell: MP4 lacks it. */
static bool has_fixed_rate(const AVOutputFormat *format)
{
    static const char *const names[] = {"avi", "ogg", "ogv", "swf", "dv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(format->name, names[i]) == 0)
            return true;
    }
    return false;
}

static AVRational guess_rate(const struct ec_stream_info *info)
{
    if (info->frame_rate.num > 0 && info->frame_rate.den > 0)
        return info->frame_rate;
    if (info->frames > 1 && isfinite(info->duration_s) && info->duration_s > 0) {
        const AVRational rate = av_d2q((double)info->frames / info->duration_s, 60000);
        if (rate.num > 0 && rate.den > 0)
            return rate;
    }
    return (AVRational){25, 1};
}

struct ec_timing ec_codec_timing(const AVCodec *codec, const AVOutputFormat *format, const struct ec_stream_info *info)
{
    struct ec_timing timing = {.time_base = info->time_base, .frame_rate = guess_rate(info)};
    timing.steady = strcmp(format->name, "yuv4mpegpipe") == 0;
    timing.counted = format->flags & AVFMT_NOTIMESTAMPS || timing.steady;
    const AVRational *rates = ec_supported_by(codec, EC_SUPPORTED_FRAME_RATES);
    if (rates)
        timing.frame_rate = rates[av_find_nearest_q_idx(timing.frame_rate, rates)];
    if (timing.counted || rates || has_fixed_rate(format)) {
        av_reduce(&timing.frame_rate.num, &timing.frame_rate.den, timing.frame_rate.num, timing.frame_rate.den, 65535);
        timing.time_base = av_inv_q(timing.frame_rate);
    } else if (codec->id == AV_CODEC_ID_MPEG4 && timing.time_base.den > 65535) {
        /* MPEG-4 counts in 16 bits: the finest clock that hits every frame of a constant rate. */
        const AVRational rate = timing.frame_rate;
        timing.time_base =
            rate.num > 0 && rate.num <= 65535 ? (AVRational){1, rate.num * (65535 / rate.num)} : (AVRational){1, 60000};
    }
    return timing;
}
