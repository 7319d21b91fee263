/* What travels through the pipeline: frames, and packets of the other streams in between. */
#ifndef EC_PIPELINE_FRAME_H
#define EC_PIPELINE_FRAME_H

#include <libavcodec/packet.h>
#include <libavutil/buffer.h>
#include <libavutil/frame.h>
#include <stdbool.h>
#include <stdint.h>

#include "edgecam/image.h"

/* One picture, gray or three planes of colour. `owner` keeps image.data alive; the image is read-only once the frame has been
 * pushed. */
struct ec_frame {
    struct ec_image image;
    bool limited_range;
    int64_t pts, duration; /* in the video stream's time base (ec_stream_info); pts strictly increases */
    int64_t index; /* 0, 1, 2, ... of delivered frames */
    int64_t decoded_ns; /* CLOCK_MONOTONIC when it left the decoder */
    int64_t queued_ns; /* when it entered the queue it came from */
    AVBufferRef *owner;
    AVFrame *surface; /* of a result that stays in the device's memory: the frame for an encoder of that device whose luma plane
                         is the image, which has no owner then; else NULL */
    AVFrame *picture; /* the upright picture of the video that it was made of; NULL unless the style needs it */
    const AVFrame *look; /* on the way through the sinks: RGB24 or RGBA to be shown instead of the image; NULL: the image */
};

enum ec_item_kind { EC_ITEM_NONE = 0, EC_ITEM_FRAME, EC_ITEM_PACKET };

/* Owns its frame or packet. A packet's stream_index is the input's, its times are in the input stream's time base, shifted like
 * the frames'. */
struct ec_item {
    enum ec_item_kind kind;
    struct ec_frame frame;
    AVPacket *packet;
};

/* Releases what the item owns and empties it. */
void ec_item_release(struct ec_item *item);

/* Host memory of one backend in equal blocks that are used again; bounded by what is in flight. Any thread. */
struct ec_pool;
struct ec_backend;
struct ec_device;

struct ec_pool *ec_pool_open(const struct ec_backend *backend, struct ec_device *device);
/* A block of at least `bytes` bytes, aligned to 4096; NULL when memory ran out. A change of size starts a new set of blocks. */
AVBufferRef *ec_pool_get(struct ec_pool *pool, size_t bytes);
/* Buffers still referenced stay valid until they are released; the device must outlive them. NULL is fine. */
void ec_pool_close(struct ec_pool **pool);

int64_t ec_now_ns(void); /* CLOCK_MONOTONIC */

#endif
