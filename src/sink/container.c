#include "sink/container.h"

#include <libavcodec/avcodec.h>
#include <string.h>

enum { CODECS = 20 };

/* Muxers that cannot be asked, or that take what no player finds again: all that they hold. */
static const struct {
    const char *format;
    enum AVCodecID ids[CODECS];
} whole[] = {
    {"mpegts",
     {AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG4, AV_CODEC_ID_VC1,
      AV_CODEC_ID_DIRAC, AV_CODEC_ID_AAC, AV_CODEC_ID_AAC_LATM, AV_CODEC_ID_MP2, AV_CODEC_ID_MP3, AV_CODEC_ID_AC3,
      AV_CODEC_ID_EAC3, AV_CODEC_ID_DTS, AV_CODEC_ID_OPUS, AV_CODEC_ID_DVB_SUBTITLE}},
    {"ogg", {AV_CODEC_ID_THEORA, AV_CODEC_ID_VP8, AV_CODEC_ID_VORBIS, AV_CODEC_ID_OPUS, AV_CODEC_ID_FLAC, AV_CODEC_ID_SPEEX}},
    {"ogv", {AV_CODEC_ID_THEORA, AV_CODEC_ID_VP8, AV_CODEC_ID_VORBIS, AV_CODEC_ID_OPUS, AV_CODEC_ID_FLAC, AV_CODEC_ID_SPEEX}},
    {"gif", {AV_CODEC_ID_GIF}},
    {"apng", {AV_CODEC_ID_APNG}},
    {"webp", {AV_CODEC_ID_WEBP}},
};

/* What a muxer says it takes, and then refuses; or, of AVI, writes as one part for each sample, a megabyte a second. */
static const struct {
    const char *format;
    enum AVCodecID ids[CODECS];
} less[] = {{"mov", {AV_CODEC_ID_VP9, AV_CODEC_ID_AV1}},
            {"avi", {AV_CODEC_ID_VORBIS, AV_CODEC_ID_FLAC, AV_CODEC_ID_WAVPACK, AV_CODEC_ID_TTA}}};

static bool holds(const enum AVCodecID ids[CODECS], enum AVCodecID id)
{
    for (int i = 0; i < CODECS && ids[i] != AV_CODEC_ID_NONE; i++)
        if (ids[i] == id)
            return true;
    return false;
}

bool ec_container_takes(const AVOutputFormat *format, enum AVCodecID id, int compliance)
{
    if (id == AV_CODEC_ID_NONE)
        return false;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(whole[i].format, format->name) == 0)
            return holds(whole[i].ids, id);
    for (size_t i = 0; i < sizeof less / sizeof *less; i++)
        if (strcmp(less[i].format, format->name) == 0 && holds(less[i].ids, id))
            return false;
    /* Negative: the muxer has no list. Of pictures it then gets what it is given, as ever; of other streams only what is sure.
     */
    const int answer = avformat_query_codec(format, id, compliance);
    return answer == 1 || (answer < 0 && avcodec_get_type(id) == AVMEDIA_TYPE_VIDEO);
}

const char *ec_container_for(enum AVCodecID id)
{
    static const char *const endings[] = {".mp4", ".mkv", ".mov", ".webm", ".avi", ".gif", ".apng", ".webp"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const AVOutputFormat *format = av_guess_format(NULL, endings[i], NULL);
        if (format && ec_container_takes(format, id, FF_COMPLIANCE_NORMAL))
            return endings[i];
    }
    return NULL;
}
