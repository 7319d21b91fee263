/* From decoded pictures to the frames of the pipeline:
 *
 *   picture -> [prefilter, which also turns it upright] -> gray plane -> [turn upright] [scale to the first size] -> frame
 *   picture -> prefilter, which also makes RGB of it    -> 3 planes   ->                [scale to the first size] -> frame
 *
 * The parts in brackets are libavfilter chains that exist only where they are needed; without them the decoder's own luma plane
 * is the frame. Pictures in a GPU's memory stay there unless they must be turned or scaled. One thread. */
#ifndef EC_SOURCE_PICTURES_H
#define EC_SOURCE_PICTURES_H

#include "source/clock.h"
#include "source/filter.h"
#include "source/gray.h"
#include "source/item_list.h"
#include "source/orientation.h"
#include "source/rgb.h"
#include "source/source.h"

struct ec_pictures {
    /* Set by the owner before ec_pictures_open; not owned. */
    const char *name, *prefilter_chain; /* prefilter_chain: libavfilter's language, NULL: none */
    struct ec_logger logger;
    struct ec_pool *pool;
    AVStream *stream;
    struct ec_stream_info *info; /* its size, depth and aspect are set by the first frame, its time base by a prefilter */
    struct ec_clock *clock;
    bool colour, native_depth; /* red, green and blue instead of gray; of more than 8 bits where the pictures have them */
    bool keep; /* each frame gets the whole upright picture too */
    bool on_device; /* the decoder was asked for pictures in a GPU's memory */

    int64_t first_pts; /* of the first frame, on the shifted axis */
    struct ec_item_list items; /* frames that are ready; the owner takes them, and may append packets */
    struct ec_orientation orientation; /* of the stream; a frame's own goes before */

    /* Private. */
    AVFrame *planes, *filtered, *kept, *prefiltered, *next;
    struct ec_item_list waiting; /* pictures for the prefilter, in frame.picture; `next` is the first one */
    int64_t added_end; /* of the last picture that was added to them */
    bool ending, told_end; /* no more pictures come; the prefilter knows that none do to it */
    struct ec_gray converter;
    struct ec_filter *prefilter, *finish;
    struct ec_orientation prefilter_orientation, finish_orientation;
    bool finish_scales, told_interlaced, told_oblique, told_scaled, told_hole;
};

enum ec_status ec_pictures_open(struct ec_pictures *pictures, struct ec_error *error);

/* A picture from the decoder, pts = best_effort_timestamp; its references are taken. */
enum ec_status ec_pictures_add(struct ec_pictures *pictures, AVFrame *picture, struct ec_error *error);

/* The next step of the prefilter, which may make any number of pictures of one: a frame more may be ready then. *done: nothing
 * is left to do with the pictures that came. Before the next ones are added. */
enum ec_status ec_pictures_go_on(struct ec_pictures *pictures, bool *done, struct ec_error *error);

/* No more pictures come, or a new round of them begins: what a prefilter still holds comes out next. */
void ec_pictures_end(struct ec_pictures *pictures);

/* Forgets everything that is on its way. */
void ec_pictures_restart(struct ec_pictures *pictures);

void ec_pictures_close(struct ec_pictures *pictures);

#endif
