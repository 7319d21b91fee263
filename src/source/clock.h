/* The time axis of one input: every time that leaves the source is counted from the wanted start, frames strictly increase,
 * missing and absurd timestamps are filled in. One thread. */
#ifndef EC_SOURCE_CLOCK_H
#define EC_SOURCE_CLOCK_H

#include <libavcodec/packet.h>
#include <libavutil/rational.h>
#include <stdbool.h>
#include <stdint.h>

struct ec_clock {
    AVRational base; /* of frames */
    int64_t shift_us; /* subtracted from everything: the input's start and --start */
    bool wraps; /* the format's times may begin anew, forwards too: joined or rebooted transport streams */
    bool alone; /* nothing else goes by these times: a hole without pictures may be closed. Where the sound goes on it is no
                 * hole, but a picture that stands still */
    bool drop_early; /* what ends before 0 is not wanted (after a seek) */
    double end_s; /* on the shifted axis; NaN: none */
    int64_t default_duration; /* in base */
    int holes; /* jumps forward that were closed */
    int64_t jump; /* in base: added after a jump of the input, within a round */
    int64_t ahead; /* in base: what other streams' packets add that have jumped before the frames; 0: none has */
    int64_t round; /* in base: added since the input was started again */
    int64_t said_us, hole_us, cut_us, cut_before_us; /* unless alone, in the input's own time: the end of all packets so far; of
                                                      * the last hole, and what is taken from times behind and before it */
    int64_t next_pts, last_pts;
    bool any; /* a frame has been stamped */
    bool in_round; /* since the last new round */
    bool past_end;
};

/* start_us: the container's own start, 0 when unknown. frame_rate may be 0/1. end_s <= 0: none. */
void ec_clock_init(struct ec_clock *clock, AVRational base, AVRational frame_rate, int64_t start_us, double skip_s,
                   double end_s);

/* Frames come in another time base and, unless it is 0/1, at another rate from now on; only before the first one. */
void ec_clock_change_base(struct ec_clock *clock, AVRational base, AVRational frame_rate);

/* Gives a frame its place (pts may be AV_NOPTS_VALUE, duration 0). False: it lies outside the wanted part. */
bool ec_clock_stamp(struct ec_clock *clock, int64_t pts, int64_t duration, int64_t *out_pts, int64_t *out_duration);

/* For every packet as it is read, unless the pictures are alone: where nothing at all comes for more than an hour, neither
 * pictures nor sound, what follows moves up, to within a second. Times that are none in microseconds are taken off. */
void ec_clock_close_hole(struct ec_clock *clock, AVPacket *packet, AVRational base);

/* Moves a packet of another stream, in `base`, onto the shifted axis. False: outside the wanted part. */
bool ec_clock_shift_packet(struct ec_clock *clock, AVPacket *packet, AVRational base);

/* True for a video packet (in the container's own terms) so far behind the end that other streams have reached it too. */
bool ec_clock_is_far_past(const struct ec_clock *clock, const AVPacket *packet, AVRational base);

/* Back to the state before the first frame. */
void ec_clock_restart(struct ec_clock *clock);

/* Another input takes over, with a start of its own: its frames go on behind the last one. */
void ec_clock_take_over(struct ec_clock *clock, int64_t start_us);

/* The input starts again: frames go on behind the last one. False: the round that ends had none. */
bool ec_clock_next_round(struct ec_clock *clock);

#endif
