#include "source/input.h"

#include <libavdevice/avdevice.h>
#include <libavutil/avstring.h>
#include <libavutil/opt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ec_input_cancelled(const struct ec_input *input)
{
    return atomic_load(input->stop) || (input->cancel && __atomic_load_n(input->cancel, __ATOMIC_RELAXED));
}

void ec_input_begin_wait(struct ec_input *input)
{
    input->deadline_ns = input->patience_ns > 0 ? ec_now_ns() + input->patience_ns : 0;
}

static int cancelled(void *opaque)
{
    const struct ec_input *input = opaque;
    return ec_input_cancelled(input) || (input->deadline_ns > 0 && ec_now_ns() > input->deadline_ns);
}

/* An existing file is that file, whatever its name looks like; everything else is FFmpeg's to read. Caller frees. */
static char *url_of(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 ? av_asprintf("file:%s", name) : av_strdup(name);
}

/* A name that is no URL, no pattern and not there: says so before a demuxer says something vaguer. */
static bool is_missing_file(const struct ec_pipeline_params *p)
{
    return !p->input_format && access(p->input, F_OK) != 0 && !strstr(p->input, ":") && !strchr(p->input, '%') &&
           strcmp(p->input, "-") != 0;
}

static enum ec_status fill_options(AVDictionary **options, const struct ec_pipeline_params *p, struct ec_error *error)
{
    for (int i = 0; i < p->input_option_count; i++)
        if (av_dict_set(options, p->input_options[i].key, p->input_options[i].value, 0) < 0)
            return ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", p->input);
    return EC_OK;
}

static enum ec_status find_format(const struct ec_pipeline_params *p, const AVInputFormat **format, struct ec_error *error)
{
    if (!p->input_format)
        return EC_OK;
    *format = av_find_input_format(p->input_format);
    return *format ? EC_OK
                   : ec_fail(error, EC_ERROR_ARGUMENT, "%s: FFmpeg here has no input format or device \"%s\"", p->input,
                             p->input_format);
}

static bool is_regular(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && S_ISREG(st.st_mode);
}

enum ec_status ec_input_failed(const struct ec_input *in, int r, struct ec_error *error)
{
    char cause[AV_ERROR_MAX_STRING_SIZE];
    if (ec_input_cancelled(in))
        return ec_fail(error, EC_STOPPED, "%s: stopped", in->name);
    if (r == AVERROR_INVALIDDATA && in->descriptor)
        return ec_fail(
            error, EC_ERROR_INPUT,
            "%s: not a video that can be read from a pipe (an mp4 or mov file needs its index at the front there: make it "
            "with -movflags +faststart, or name the file itself)",
            in->name);
    /* A size of frames that is an error, and 6 bytes more: FFmpeg's word for a y4m header that makes no sense. */
    if (r == AVERROR_INVALIDDATA || r == AVERROR_EOF || r == AVERROR(EINVAL) + 6)
        return ec_fail(error, EC_ERROR_INPUT, "%s: not a video, or too damaged to be opened", in->name);
    if (r == AVERROR(EPERM) && is_regular(in->name) && access(in->name, R_OK) == 0)
        return ec_fail(
            error, EC_ERROR_INPUT,
            "%s: FFmpeg does not open the files it names (plain relative names only, unless --input-opt safe=0 is given)",
            in->name);
    av_strerror(r, cause, sizeof cause);
    return ec_fail(error, EC_ERROR_INPUT, "%s: %s", in->name, cause);
}

static bool is_picture_track(const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !(stream->disposition & AV_DISPOSITION_ATTACHED_PIC);
}

/* FFmpeg's choice, unless that is cover art or a single picture beside a real video. */
static int best_stream(AVFormatContext *container)
{
    const int best = av_find_best_stream(container, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    if (best >= 0 && is_picture_track(container->streams[best]) && container->streams[best]->nb_frames != 1)
        return best;
    int only = best >= 0 && is_picture_track(container->streams[best]) ? best : -1;
    for (unsigned i = 0; i < container->nb_streams; i++) {
        if (!is_picture_track(container->streams[i]))
            continue;
        if (container->streams[i]->nb_frames != 1)
            return (int)i;
        if (only < 0)
            only = (int)i;
    }
    return only;
}

static enum ec_status choose_stream(struct ec_input *in, const struct ec_pipeline_params *p, struct ec_error *error)
{
    const AVFormatContext *c = in->container;
    if (p->has_stream) {
        if (p->stream >= (int)c->nb_streams || c->streams[p->stream]->codecpar->codec_type != AVMEDIA_TYPE_VIDEO)
            return ec_fail(error, EC_ERROR_INPUT, "%s: stream %d is not a video stream (there are %u streams)", in->name,
                           p->stream, c->nb_streams);
        in->stream = p->stream;
        return EC_OK;
    }
    if (c->nb_streams == 0)
        return ec_fail(error, EC_ERROR_FRAMES, "%s: no frames came: the file holds no stream at all", in->name);
    in->stream = best_stream(in->container);
    return in->stream >= 0 ? EC_OK : ec_fail(error, EC_ERROR_INPUT, "%s: no video stream", in->name);
}

static bool is_live(const struct ec_pipeline_params *p, const AVFormatContext *c)
{
    static const char *const protocols[] = {"rtsp:", "rtsps:", "rtp:", "udp:", "srt:"};
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
        if (av_strstart(p->input, protocols[i], NULL))
            return true;
    const AVClass *class = c->iformat->priv_class;
    const bool device = class && class->category == AV_CLASS_CATEGORY_DEVICE_VIDEO_INPUT;
    return p->live || device;
}

static int open_container(struct ec_input *in, const char *url, const AVInputFormat *format, AVDictionary **options)
{
    in->container = avformat_alloc_context();
    if (!in->container)
        return AVERROR(ENOMEM);
    in->container->interrupt_callback = (AVIOInterruptCB){cancelled, in};
    if (in->descriptor)
        in->container->pb = ec_descriptor_io(in->descriptor);
    return avformat_open_input(&in->container, url, (void *)(uintptr_t)format, options);
}

/* An MP4 that ends in the table of a fragment, or an MXF, whose last table libavformat looks for too. */
static bool may_open_forwards(const char *url)
{
    struct ec_ending ending = {0};
    AVIOContext *file = NULL;
    if (avio_open(&file, url, AVIO_FLAG_READ) < 0)
        return false;
    const bool mxf = avio_rb32(file) == 0x060E2B34;
    if (!mxf)
        ec_ending_feed_file(&ending, file);
    avio_closep(&file);
    return mxf || ec_ending_is_in_table(&ending);
}

/* A file that only opens when it is read forwards. */
static int open_forwards(struct ec_input *in, const char *url, const AVInputFormat *format, AVDictionary **options, int failed)
{
    struct ec_error unused = {0};
    if ((failed != AVERROR_INVALIDDATA && failed != AVERROR_EOF) || in->descriptor || !is_regular(in->name) ||
        !may_open_forwards(url) || ec_descriptor_open(&in->descriptor, in->name, true, cancelled, in, &unused) != EC_OK)
        return failed;
    if (open_container(in, url, format, options) >= 0)
        return 0;
    ec_descriptor_close(&in->descriptor);
    return failed;
}

/* The container of what was named, and what is in it. */
static enum ec_status open_url(struct ec_input *in, const struct ec_pipeline_params *p, const char *url,
                               const AVInputFormat *format, struct ec_error *error)
{
    AVDictionary *options = NULL, *again = NULL;
    enum ec_status status = fill_options(&options, p, error);
    if (status == EC_OK)
        status = fill_options(&again, p, error);
    if (status == EC_OK) {
        int r = open_container(in, url, format, &options);
        if (r < 0)
            r = open_forwards(in, url, format, &again, r);
        const AVDictionaryEntry *left = av_dict_get(options, "", NULL, AV_DICT_IGNORE_SUFFIX);
        if (r >= 0 && left)
            status = ec_fail(error, EC_ERROR_ARGUMENT, "%s: the input option \"%s\" is not known to this kind of input",
                             in->name, left->key);
        if (r >= 0 && status == EC_OK)
            r = avformat_find_stream_info(in->container, NULL);
        if (r < 0 && status == EC_OK)
            status = ec_input_failed(in, r, error);
    }
    av_dict_free(&options);
    av_dict_free(&again);
    return status;
}

enum ec_status ec_input_open(struct ec_input *in, const struct ec_pipeline_params *p, const struct ec_source_env *env,
                             struct ec_error *error)
{
    in->name = p->input;
    in->stop = env->stop;
    in->cancel = p->cancel;
    ec_input_begin_wait(in);
    if (is_missing_file(p))
        return ec_fail(error, EC_ERROR_INPUT, "%s: no such file", in->name);

    avdevice_register_all();
    const AVInputFormat *format = NULL;
    char *url = url_of(p->input);
    enum ec_status status =
        url ? find_format(p, &format, error) : ec_fail(error, EC_ERROR_MEMORY, "%s: out of memory", in->name);
    if (status == EC_OK && ec_descriptor_wanted(p->input))
        status = ec_descriptor_open(&in->descriptor, p->input, false, cancelled, in, error);
    if (status == EC_OK)
        status = open_url(in, p, url, format, error);
    if (status == EC_OK)
        status = choose_stream(in, p, error);
    if (status == EC_OK)
        in->live = is_live(p, in->container);
    av_free(url);
    return status;
}

bool ec_input_is_cut(const struct ec_input *in)
{
    const char *format = in->container->iformat->name;
    const struct ec_ending *seen = in->descriptor ? ec_descriptor_ending(in->descriptor) : NULL;
    if (seen)
        return ec_ending_is_cut(seen, format);
    AVIOContext *file = in->container->pb;
    if (!file || !(file->seekable & AVIO_SEEKABLE_NORMAL) || !(in->descriptor || is_regular(in->name)))
        return false;
    struct ec_ending ending = {0};
    ec_ending_feed_file(&ending, file);
    return ec_ending_is_cut(&ending, format);
}

void ec_input_close(struct ec_input *in)
{
    avformat_close_input(&in->container);
    ec_descriptor_close(&in->descriptor);
    *in = (struct ec_input){0};
}
