/* What takes frames: a const table of functions. All calls come from one thread (the window's must be the main thread). A call
 * that returns EC_STOPPED has met the end of what standard output was read by: the run ends, and there is nothing to say. */
#ifndef EC_SINK_SINK_H
#define EC_SINK_SINK_H

#include "edge/error.h"
#include "edgecam/pipeline.h"
#include "pipeline/frame.h"
#include "source/source.h"

struct ec_sink;

enum ec_sink_wish {
    EC_SINK_GO_ON = 0,
    EC_SINK_QUIT, /* the person closed the window */
    EC_SINK_PAUSE, /* no frame, please, until poll() says GO_ON */
};

/* What the frames that come are like, beside the size in ec_stream_info. Luma is of full range. */
struct ec_results {
    int depth_bits;
    /* An AVHWFramesContext in whose frames they can stay (ec_frame.surface), for an encoder on the same GPU; NULL: they come in
     * host memory. */
    AVBufferRef *surfaces;
};

struct ec_sink_ops {
    const char *name;
    /* Finds what cannot be written before the first frame. */
    enum ec_status (*open)(struct ec_sink **out, const struct ec_pipeline_params *params, const struct ec_stream_info *info,
                           const struct ec_results *results, struct ec_error *error);
    /* Once it is open: whether the frames must come in the surfaces that it was offered; else in host memory. NULL in the
     * table: this sink knows no surfaces. */
    bool (*takes_surfaces)(const struct ec_sink *sink);
    /* frame->look, where there is one, is what is to be shown. The frame stays the caller's; a sink that needs it longer takes
     * its own reference of frame->owner. */
    enum ec_status (*frame)(struct ec_sink *sink, const struct ec_frame *frame, struct ec_error *error);
    /* A packet of another stream, in the input's terms; NULL in the table: this sink has no use for packets. */
    enum ec_status (*packet)(struct ec_sink *sink, const AVPacket *packet, struct ec_error *error);
    /* Lets the window breathe; called at least every 20 ms. NULL: nothing to do. */
    enum ec_sink_wish (*poll)(struct ec_sink *sink);
    /* Completes the output: writes the trailer and gives the file its final name. After deadline_ns (CLOCK_MONOTONIC; 0: none)
     * frames that are still inside an encoder are given up and the file ends before them, but not before its first one;
     * *given_up grows by their number. */
    enum ec_status (*finish)(struct ec_sink *sink, int64_t deadline_ns, int64_t *given_up, struct ec_error *error);
    /* One sentence for a run that this sink held up, which lives for ever; NULL in the table: there is nothing to say. */
    const char *(*advice)(const struct ec_sink *sink);
    /* Removes what has no final name yet, from any thread, between open and close; the output fails from here on. NULL: there
     * is nothing of the kind. */
    void (*abandon)(const struct ec_sink *sink);
    /* Releases everything; an output that was not finished leaves no file. NULL is fine. */
    void (*close)(struct ec_sink **sink);
};

extern const struct ec_sink_ops ec_sink_file, ec_sink_window, ec_sink_hash, ec_sink_null;

#endif
