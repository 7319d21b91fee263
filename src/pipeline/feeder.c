#include "pipeline/feeder.h"

#include <time.h>

#include "pipeline/range.h"

/* A stop may come from a signal handler, which can only set a flag: waits are cut in slices. */
#define SLICE_NS 20000000

void ec_wait_until(int64_t deadline_ns, const atomic_bool *stop)
{
    for (int64_t now = ec_now_ns(); now < deadline_ns && !atomic_load(stop); now = ec_now_ns()) {
        const int64_t until = deadline_ns - now > SLICE_NS ? now + SLICE_NS : deadline_ns;
        const struct timespec t = {until / 1000000000, until % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
}

void ec_feeder_run(const struct ec_feeder_params *p, struct ec_queue *out, struct ec_error *error)
{
    const double tick_ns = av_q2d(p->ops->info(p->source)->time_base) * 1e9;
    const int64_t begin_ns = ec_now_ns();
    int64_t wait_ns = 0, frames = 0, clock_ns = 0, first_pts = 0;
    bool taken = true;
    while (taken && !atomic_load(p->halt) && (p->max_frames == 0 || frames < p->max_frames)) {
        struct ec_item item = {0};
        const int64_t from_ns = ec_now_ns();
        ec_range_begin("decode");
        const enum ec_read_result result = p->ops->read(p->source, &item, error);
        ec_range_end();
        if (result != EC_READ_ITEM)
            break;
        if (item.kind == EC_ITEM_FRAME) {
            if (frames == 0) {
                clock_ns = ec_now_ns();
                first_pts = item.frame.pts;
            }
            item.frame.index = frames++;
            ec_trace_span(p->trace, EC_TRACK_DECODE, "decode", item.frame.index, from_ns, ec_now_ns());
            if (p->realtime) {
                const int64_t ready_ns = ec_now_ns();
                ec_wait_until(clock_ns + (int64_t)((double)(item.frame.pts - first_pts) * tick_ns), p->halt);
                item.frame.decoded_ns = ec_now_ns();
                wait_ns += item.frame.decoded_ns - ready_ns;
            }
            ec_meters_frame_in(p->meters);
        }
        taken = ec_queue_push(out, &item, &wait_ns);
        ec_item_release(&item);
        ec_meters_stage(p->meters, EC_STAGE_DECODE, ec_now_ns() - begin_ns - wait_ns, wait_ns);
    }
    ec_queue_close_input(out);
}
