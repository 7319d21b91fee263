#include "sink/sound.h"

#include <string.h>

#include "sink/supported.h"

const AVCodec *ec_sound_encoder(const AVOutputFormat *format)
{
    static const struct {
        enum AVCodecID id;
        const char *name;
    } preferred[] = {{AV_CODEC_ID_OPUS, "libopus"},
                     {AV_CODEC_ID_VORBIS, "libvorbis"},
                     {AV_CODEC_ID_MP3, "libmp3lame"},
                     {AV_CODEC_ID_AAC, "aac"}};
    enum AVCodecID id = format->audio_codec;
    if (strcmp(format->name, "matroska") == 0 || strcmp(format->name, "mpegts") == 0 || strcmp(format->name, "flv") == 0)
        id = AV_CODEC_ID_AAC;
    else if (avformat_query_codec(format, AV_CODEC_ID_OPUS, FF_COMPLIANCE_NORMAL) == 1 && id == AV_CODEC_ID_VORBIS)
        id = AV_CODEC_ID_OPUS;
    const AVCodec *codec = NULL;
    for (size_t i = 0; i < sizeof preferred / sizeof *preferred; i++) {
        if (preferred[i].id == id)
            codec = avcodec_find_encoder_by_name(preferred[i].name);
    }
    return codec ? codec : avcodec_find_encoder(id);
}

int ec_sound_rate(const AVCodec *codec, int wanted)
{
    const int *list = ec_supported_by(codec, EC_SUPPORTED_SAMPLE_RATES);
    int best = 0;
    for (; list && *list; list++) {
        const bool enough = *list >= wanted, best_enough = best >= wanted;
        if (best == 0 || (enough && (!best_enough || *list < best)) || (!enough && !best_enough && *list > best))
            best = *list;
    }
    return best ? best : wanted;
}

enum AVSampleFormat ec_sound_format(const AVCodec *codec, int wanted)
{
    const enum AVSampleFormat *list = ec_supported_by(codec, EC_SUPPORTED_SAMPLE_FORMATS);
    for (int i = 0; list && list[i] != AV_SAMPLE_FMT_NONE; i++) {
        if ((int)list[i] == wanted)
            return list[i];
    }
    return list ? list[0] : AV_SAMPLE_FMT_FLTP;
}
