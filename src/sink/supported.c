#include "sink/supported.h"

#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)

const void *ec_supported_by(const AVCodec *codec, enum ec_supported what)
{
    static const enum AVCodecConfig names[] = {
        [EC_SUPPORTED_PIXEL_FORMATS] = AV_CODEC_CONFIG_PIX_FORMAT,
        [EC_SUPPORTED_FRAME_RATES] = AV_CODEC_CONFIG_FRAME_RATE,
        [EC_SUPPORTED_SAMPLE_FORMATS] = AV_CODEC_CONFIG_SAMPLE_FORMAT,
        [EC_SUPPORTED_SAMPLE_RATES] = AV_CODEC_CONFIG_SAMPLE_RATE,
        [EC_SUPPORTED_LAYOUTS] = AV_CODEC_CONFIG_CHANNEL_LAYOUT,
    };
    const void *list = NULL;
    avcodec_get_supported_config(NULL, codec, names[what], 0, &list, NULL);
    return list;
}

#else

const void *ec_supported_by(const AVCodec *codec, enum ec_supported what)
{
    switch (what) {
    case EC_SUPPORTED_PIXEL_FORMATS:
        return codec->pix_fmts;
    case EC_SUPPORTED_FRAME_RATES:
        return codec->supported_framerates;
    case EC_SUPPORTED_SAMPLE_FORMATS:
        return codec->sample_fmts;
    case EC_SUPPORTED_SAMPLE_RATES:
        return codec->supported_samplerates;
    case EC_SUPPORTED_LAYOUTS:
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 24, 100)
        return codec->ch_layouts;
#else
        return codec->channel_layouts;
#endif
    }
    return NULL;
}

#endif
