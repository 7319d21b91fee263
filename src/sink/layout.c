#include "sink/layout.h"

#include <libavutil/channel_layout.h>
#include <stdio.h>

#include "sink/supported.h"

#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 24, 100)

int ec_layout_choose(AVCodecContext *encoder, const AVCodecParameters *in)
{
    AVChannelLayout wanted = {0};
    av_channel_layout_default(&wanted, in->ch_layout.nb_channels > 0 ? in->ch_layout.nb_channels : 2);
    if (in->ch_layout.order == AV_CHANNEL_ORDER_NATIVE && av_channel_layout_copy(&wanted, &in->ch_layout) < 0)
        return AVERROR(ENOMEM);
    const AVChannelLayout *list = ec_supported_by(encoder->codec, EC_SUPPORTED_LAYOUTS), *best = &wanted;
    if (list) {
        /* The same, else as many channels, else two, else the first. */
        int best_rank = 0;
        best = list;
        for (; list->nb_channels > 0; list++) {
            const int rank = av_channel_layout_compare(list, &wanted) == 0 ? 3
                             : list->nb_channels == wanted.nb_channels     ? 2
                             : list->nb_channels == 2                      ? 1
                                                                           : 0;
            if (rank > best_rank) {
                best_rank = rank;
                best = list;
            }
        }
    }
    const int result = av_channel_layout_copy(&encoder->ch_layout, best);
    av_channel_layout_uninit(&wanted);
    return result;
}

int ec_layout_channels(const AVCodecContext *encoder)
{
    return encoder->ch_layout.nb_channels;
}

void ec_layout_describe(const AVCodecContext *encoder, char *text, size_t bytes)
{
    av_channel_layout_describe(&encoder->ch_layout, text, bytes);
}

void ec_layout_complete(AVFrame *frame)
{
    if (frame->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&frame->ch_layout, frame->ch_layout.nb_channels);
}

int ec_layout_to_source(AVBufferSrcParameters *source, const AVFrame *frame)
{
    return av_channel_layout_copy(&source->ch_layout, &frame->ch_layout);
}

bool ec_layout_equal(const AVFrame *a, const AVFrame *b)
{
    return av_channel_layout_compare(&a->ch_layout, &b->ch_layout) == 0;
}

#else

static uint64_t mask_of(uint64_t mask, int channels)
{
    return mask ? mask : (uint64_t)av_get_default_channel_layout(channels > 0 ? channels : 2);
}

int ec_layout_choose(AVCodecContext *encoder, const AVCodecParameters *in)
{
    const uint64_t wanted = mask_of(in->channel_layout, in->channels);
    const uint64_t *list = ec_supported_by(encoder->codec, EC_SUPPORTED_LAYOUTS);
    uint64_t best = list ? *list : wanted;
    int best_rank = 0;
    for (; list && *list; list++) {
        const int channels = av_get_channel_layout_nb_channels(*list);
        const int rank = *list == wanted                                         ? 3
                         : channels == av_get_channel_layout_nb_channels(wanted) ? 2
                         : channels == 2                                         ? 1
                                                                                 : 0;
        if (rank > best_rank) {
            best_rank = rank;
            best = *list;
        }
    }
    encoder->channel_layout = best;
    encoder->channels = av_get_channel_layout_nb_channels(best);
    return 0;
}

int ec_layout_channels(const AVCodecContext *encoder)
{
    return encoder->channels;
}

void ec_layout_describe(const AVCodecContext *encoder, char *text, size_t bytes)
{
    snprintf(text, bytes, "0x%llx", (unsigned long long)encoder->channel_layout);
}

void ec_layout_complete(AVFrame *frame)
{
    frame->channel_layout = mask_of(frame->channel_layout, frame->channels);
}

int ec_layout_to_source(AVBufferSrcParameters *source, const AVFrame *frame)
{
    source->channel_layout = frame->channel_layout;
    return 0;
}

bool ec_layout_equal(const AVFrame *a, const AVFrame *b)
{
    return a->channels == b->channels && a->channel_layout == b->channel_layout;
}

#endif
