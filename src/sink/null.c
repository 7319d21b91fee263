/* The null sink: takes frames and drops them. */
#include <stdlib.h>

#include "sink/sink.h"

struct ec_sink {
    int64_t frames;
};

static enum ec_status null_open(struct ec_sink **out, const struct ec_pipeline_params *params,
                                const struct ec_stream_info *info, const struct ec_results *results, struct ec_error *error)
{
    (void)params, (void)info, (void)results;
    *out = calloc(1, sizeof **out);
    return *out ? EC_OK : ec_fail(error, EC_ERROR_MEMORY, "out of memory");
}

static enum ec_status null_frame(struct ec_sink *sink, const struct ec_frame *frame, struct ec_error *error)
{
    (void)frame, (void)error;
    sink->frames++;
    return EC_OK;
}

static enum ec_status null_finish(struct ec_sink *sink, int64_t deadline_ns, int64_t *given_up, struct ec_error *error)
{
    (void)deadline_ns;
    (void)given_up;
    (void)sink, (void)error;
    return EC_OK;
}

static void null_close(struct ec_sink **sink)
{
    free(*sink);
    *sink = NULL;
}

const struct ec_sink_ops ec_sink_null = {
    .name = "null", .open = null_open, .frame = null_frame, .finish = null_finish, .close = null_close};
