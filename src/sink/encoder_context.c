#include "sink/encoder_context.h"

#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

#include "pipeline/style.h"
#include "sink/encoder_options.h"

/* One attempt. */
struct attempt {
    const struct ec_encoder_request *request;
    const AVCodec *codec;
    bool stand_in, on_surfaces;
    AVCodecContext *context;
    struct ec_timing timing;
    int code; /* FFmpeg's word when the encoder itself said no (EC_ERROR_DEVICE then) */
};

static void describe(const struct attempt *a)
{
    AVCodecContext *context = a->context;
    const struct ec_stream_info *info = a->request->info;
    context->time_base = a->timing.time_base;
    context->framerate = a->timing.frame_rate;
    context->sample_aspect_ratio = info->pixel_aspect;
    context->color_range = ec_codec_tells_range(context->codec) ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    const enum ec_style style = a->request->params->style.style;
    const bool own = ec_style_is_coloured(style) && !ec_style_shows_video(style); /* nothing of the video's light is left */
    context->color_primaries = own || info->primaries == AVCOL_PRI_UNSPECIFIED ? AVCOL_PRI_BT709 : info->primaries;
    context->color_trc = own || info->transfer == AVCOL_TRC_UNSPECIFIED ? AVCOL_TRC_BT709 : info->transfer;
    /* The matrix of colour.h; neutral chroma gives the same gray with every one. */
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(context->pix_fmt);
    context->colorspace = format && format->flags & AV_PIX_FMT_FLAG_RGB ? AVCOL_SPC_RGB : AVCOL_SPC_BT709;
    context->thread_count = a->request->params->encoder_threads;
}

/* Frames in surfaces instead of `format`. False: the encoder would see other samples than from host memory. */
static bool put_on_surfaces(const struct attempt *a, enum AVPixelFormat format)
{
    if ((format != AV_PIX_FMT_YUV420P && format != AV_PIX_FMT_NV12) || a->context->color_range != AVCOL_RANGE_JPEG)
        return false;
    a->context->pix_fmt = AV_PIX_FMT_CUDA;
    a->context->sw_pix_fmt = AV_PIX_FMT_NV12;
    a->context->hw_frames_ctx = av_buffer_ref(a->request->surfaces);
    return a->context->hw_frames_ctx != NULL;
}

/* An encoder that is told which GPU to use has frames of its own there. */
static bool names_gpu(AVCodecContext *context)
{
    int64_t gpu = -1;
    return av_opt_get_int(context, "gpu", AV_OPT_SEARCH_CHILDREN, &gpu) >= 0 && gpu != -1;
}

static enum ec_status try_size(struct attempt *a, int width_px, int height_px, AVDictionary **left, struct ec_error *error)
{
    const struct ec_encoder_request *r = a->request;
    enum AVPixelFormat format = AV_PIX_FMT_NONE;
    const AVOutputFormat *container = r->mux->context->oformat;
    enum ec_status status = ec_codec_pixel_format(&format, a->codec, container, r->params->pixel_format, &r->content, error);
    if (status != EC_OK)
        return status;
    avcodec_free_context(&a->context);
    av_dict_free(left);
    a->context = avcodec_alloc_context3(a->codec);
    if (!a->context)
        return ec_fail(error, EC_ERROR_MEMORY, "out of memory");
    a->timing = ec_codec_timing(a->codec, container, r->info);
    a->context->pix_fmt = format;
    a->context->width = width_px;
    a->context->height = height_px;
    describe(a);
    a->code = AVERROR(ENOSYS);
    if (a->on_surfaces && !put_on_surfaces(a, format))
        return EC_ERROR_DEVICE;
    if (container->flags & AVFMT_GLOBALHEADER)
        a->context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    status = ec_encoder_options_set(a->context, r->params, a->stand_in, left, error);
    if (status != EC_OK)
        return status;
    if (a->on_surfaces && names_gpu(a->context))
        return EC_ERROR_DEVICE;
    a->code = avcodec_open2(a->context, a->codec, NULL);
    return a->code < 0 ? EC_ERROR_DEVICE : EC_OK;
}

/* The exact size if the encoder takes it, else an even one, else one of whole blocks. */
static enum ec_status try_codec(struct attempt *a, AVDictionary **left, struct ec_error *error)
{
    static const struct {
        int multiple, least;
    } sizes[] = {{1, 1}, {2, 2}, {16, 64}};
    const struct ec_mux *mux = a->request->mux;
    const int width = a->request->info->width_px, height = a->request->info->height_px;
    enum ec_status status = EC_ERROR_DEVICE;
    int first_code = 0, last_width = 0, last_height = 0;
    for (size_t i = 0; status == EC_ERROR_DEVICE && i < sizeof sizes / sizeof *sizes; i++) {
        const int w = FFMAX(FFALIGN(width, sizes[i].multiple), sizes[i].least);
        const int h = FFMAX(FFALIGN(height, sizes[i].multiple), sizes[i].least);
        if (w == last_width && h == last_height)
            continue;
        status = try_size(a, w, h, left, error);
        if (i == 0)
            first_code = a->code;
        last_width = w;
        last_height = h;
    }
    if (status == EC_ERROR_DEVICE)
        a->code = first_code;
    if (status == EC_OK && (last_width != width || last_height != height))
        ec_log(&mux->logger, EC_LOG_NOTICE, "%s: %s cannot encode %dx%d in %s; padded to %dx%d", mux->target->name,
               a->codec->name, width, height, av_get_pix_fmt_name(a->context->pix_fmt), last_width, last_height);
    return status;
}

/* The frames where they are, on the GPU: of the exact size only. */
static enum ec_status try_surfaces(struct attempt *a, AVDictionary **left, struct ec_error *error)
{
    const struct ec_mux *mux = a->request->mux;
    if (!a->request->surfaces || !ec_codec_takes_surfaces(a->codec))
        return EC_ERROR_DEVICE;
    a->on_surfaces = true;
    const enum ec_status status = try_size(a, a->request->info->width_px, a->request->info->height_px, left, error);
    a->on_surfaces = false;
    if (status == EC_OK)
        ec_log(&mux->logger, EC_LOG_VERBOSE, "%s: %s takes the results from the GPU's memory", mux->target->name,
               a->codec->name);
    else if (status == EC_ERROR_DEVICE)
        ec_log(&mux->logger, EC_LOG_VERBOSE, "%s: %s does not take the results from the GPU's memory: %s", mux->target->name,
               a->codec->name, av_err2str(a->code));
    return status;
}

/* FFV1 takes every size and every rate. */
static enum ec_status refused(const struct attempt *a, struct ec_error *error)
{
    const struct ec_pipeline_params *params = a->request->params;
    const struct ec_stream_info *info = a->request->info;
    const char *name = a->request->mux->target->name;
    const bool wishes = params->crf || params->preset || params->pixel_format || params->encoder_option_count > 0;
    if (wishes)
        return ec_fail(error, EC_ERROR_ARGUMENT, "cannot write %s: the encoder %s refuses these options: %s", name,
                       a->codec->name, av_err2str(a->code));
    return ec_fail(
        error, EC_ERROR_OUTPUT,
        "cannot write %s: the encoder %s does not start with pictures of %dx%d, %.5g a second: %s (.mkv with --codec "
        "ffv1 takes them)",
        name, a->codec->name, info->width_px, info->height_px, av_q2d(info->frame_rate), av_err2str(a->code));
}

static enum ec_status try_codecs(struct attempt *a, AVDictionary **left, struct ec_error *error)
{
    const struct ec_mux *mux = a->request->mux;
    const AVCodec *codecs[EC_CODEC_CANDIDATES] = {0};
    int count = 0;
    enum ec_status status = ec_codec_find(codecs, &count, a->request->params, mux, error);
    if (status != EC_OK)
        return status;
    for (int i = 0; i < count; i++) {
        a->codec = codecs[i];
        a->stand_in = i > 0;
        status = try_surfaces(a, left, error);
        if (status == EC_ERROR_DEVICE)
            status = try_codec(a, left, error);
        if (status != EC_ERROR_DEVICE)
            return status;
        const bool last = i + 1 == count || !ec_codec_is_hardware(codecs[i]);
        if (last)
            return refused(a, error);
        /* Not what was asked for by name: even a quiet program says so. */
        ec_log(&mux->logger, EC_LOG_ERROR, "%s: the encoder %s cannot be used here (%s); %s takes its place", mux->target->name,
               codecs[i]->name, av_err2str(a->code), codecs[i + 1]->name);
    }
    return status;
}

enum ec_status ec_encoder_context_open(AVCodecContext **out, struct ec_timing *timing, const struct ec_encoder_request *request,
                                       AVDictionary **left, struct ec_error *error)
{
    struct attempt attempt = {.request = request};
    const enum ec_status status = try_codecs(&attempt, left, error);
    if (status != EC_OK)
        avcodec_free_context(&attempt.context);
    *out = attempt.context;
    *timing = attempt.timing;
    return status;
}
