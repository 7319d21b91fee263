/* What makes frames: a const table of functions. Used by one thread, except interrupt(). */
#ifndef EC_SOURCE_SOURCE_H
#define EC_SOURCE_SOURCE_H

#include <libavformat/avformat.h>
#include <stdatomic.h>

#include "edge/error.h"
#include "edgecam/pipeline.h"
#include "pipeline/frame.h"

/* What a sink may know before the first frame. Everything is owned by the source and lives until its close. */
struct ec_stream_info {
    const char *name; /* of the input, for messages */
    int width_px, height_px; /* upright, of every frame that comes */
    int depth_bits; /* of every frame that comes */
    AVRational pixel_aspect; /* 0/1: unknown */
    AVRational time_base;
    AVRational frame_rate; /* 0/1: unknown */
    double duration_s; /* NaN: unknown */
    int64_t frames; /* expected, -1: unknown */
    bool live; /* frames are lost unless taken in time */
    int device_frames; /* how many frames in a GPU's memory the pipeline may hold at once; 0: none come */
    enum AVColorPrimaries primaries;
    enum AVColorTransferCharacteristic transfer;
    /* The container, for streams to copy, metadata and chapters; NULL: none (generated pictures). */
    const AVFormatContext *container;
    int video_stream; /* index in container, -1 without */
    int64_t shift_us; /* already subtracted from every time that comes: the input's start (microseconds) */
    double end_s; /* of the wanted part on the shifted axis; NaN: to the end */
};

struct ec_source_env {
    struct ec_pool *pool; /* where frames go */
    struct AVBufferRef *decode_device; /* where frames may also go: a GPU's memory; NULL: host memory only */
    int device_frames, least_device_frames; /* how many of those the pipeline would hold at once, and can work with */
    const atomic_bool *stop; /* blocking calls return soon after it becomes true */
    struct ec_logger logger;
};

struct ec_source;

enum ec_read_result { EC_READ_ITEM = 0, EC_READ_END, EC_READ_ERROR };

struct ec_source_ops {
    const char *name;
    enum ec_status (*open)(struct ec_source **out, const struct ec_pipeline_params *params, const struct ec_source_env *env,
                           struct ec_error *error);
    const struct ec_stream_info *(*info)(const struct ec_source *source);
    /* The next frame or packet, in the order of the input. EC_READ_ERROR: *error says why; frames before it were delivered. */
    enum ec_read_result (*read)(struct ec_source *source, struct ec_item *out, struct ec_error *error);
    int64_t (*damaged)(const struct ec_source *source); /* frames lost or damaged so far; any thread */
    /* One sentence for a run that this source held up, which lives for ever. Once it is open. */
    const char *(*advice)(const struct ec_source *source);
    void (*close)(struct ec_source **source);
};

extern const struct ec_source_ops ec_source_libav;
extern const struct ec_source_ops ec_source_demo; /* a moving picture, "demo:WxH@FPS" */
extern const struct ec_source_ops
    ec_source_cycle; /* a few noise-like frames, rendered beforehand, again and again: "cycle:WxH@FPS" */

/* The table for an input; an existing file always belongs to libav. */
const struct ec_source_ops *ec_source_find(const char *input);

#endif
