#include "source/clock.h"

#include <libavutil/avutil.h>
#include <libavutil/mathematics.h>
#include <math.h>

#define ABSURD (INT64_C(1) << 60)
#define FORWARD_S 10.0 /* FFmpeg's own limit, its dts_delta_threshold */
#define HOLE_S 3600.0 /* the pause of a recording; three frames of twice that length are more than MP4 can say in 1/90000 s */
#define HOLE_US ((int64_t)(HOLE_S * 1e6))
#define LEFT_US 1000000 /* of a hole, for pictures that are still to come from before it */
#define MICROSECONDS ((AVRational){1, 1000000})

void ec_clock_init(struct ec_clock *c, AVRational base, AVRational frame_rate, int64_t start_us, double skip_s, double end_s)
{
    *c = (struct ec_clock){
        .base = base,
        .shift_us = start_us + (int64_t)(skip_s * 1e6),
        .drop_early = skip_s > 0,
        .end_s = end_s > 0 ? end_s : NAN,
        .last_pts = INT64_MIN,
        .said_us = INT64_MIN,
    };
    const AVRational frame = frame_rate.num > 0 && frame_rate.den > 0 ? av_inv_q(frame_rate) : (AVRational){1, 25};
    c->default_duration = av_rescale_q(1, frame, base);
    if (c->default_duration < 1 || c->default_duration > ABSURD)
        c->default_duration = 1;
}

void ec_clock_change_base(struct ec_clock *c, AVRational base, AVRational frame_rate)
{
    const bool known = frame_rate.num > 0 && frame_rate.den > 0;
    c->default_duration =
        known ? av_rescale_q(1, av_inv_q(frame_rate), base) : av_rescale_q(c->default_duration, c->base, base);
    if (c->default_duration < 1 || c->default_duration > ABSURD)
        c->default_duration = 1;
    c->base = base;
}

static bool is_time(int64_t t)
{
    return t != AV_NOPTS_VALUE && t < ABSURD && t > -ABSURD;
}

/* The input begins again. */
static void forget_holes(struct ec_clock *c)
{
    c->said_us = INT64_MIN;
    c->hole_us = c->cut_us = c->cut_before_us = 0;
}

static double forward_limit_s(const struct ec_clock *c)
{
    return c->wraps ? FORWARD_S : c->alone ? HOLE_S : INFINITY;
}

bool ec_clock_stamp(struct ec_clock *c, int64_t pts, int64_t duration, int64_t *out_pts, int64_t *out_duration)
{
    if (duration <= 0 || duration > ABSURD)
        duration = c->default_duration;
    if (is_time(pts)) {
        pts += c->jump - av_rescale_q(c->shift_us, MICROSECONDS, c->base);
        if (c->drop_early && pts < 0)
            return false;
        pts += c->round;
        /* A jump back by more than a second is a new beginning (joined streams, wrapped counters), not disorder; so is one
         * forwards that no recording has on its own. */
        const double step_s = (double)(pts - c->next_pts) * av_q2d(c->base);
        if (c->any && ((double)(c->last_pts - pts) * av_q2d(c->base) > 1.0 || step_s > forward_limit_s(c))) {
            c->holes += step_s > 0;
            c->jump += c->next_pts - pts;
            pts = c->next_pts;
            c->ahead = 0;
        }
    } else {
        pts = c->next_pts;
    }
    if (c->any && pts <= c->last_pts)
        pts = c->last_pts + 1;
    if (!isnan(c->end_s) && (double)pts * av_q2d(c->base) >= c->end_s - 1e-9) {
        c->past_end = true;
        return false;
    }
    *out_pts = c->last_pts = pts;
    *out_duration = duration;
    c->next_pts = pts + duration;
    c->any = c->in_round = true;
    return true;
}

/* Pictures do not come in the order they are shown in: some from before the hole may follow behind it, and some are a little
 * earlier than the first one behind it. */
static int64_t behind_holes(const struct ec_clock *c, int64_t t, AVRational base)
{
    const bool behind = av_rescale_q(t, base, MICROSECONDS) > c->hole_us - HOLE_US / 2;
    return t - av_rescale_q(behind ? c->cut_us : c->cut_before_us, MICROSECONDS, base);
}

/* A time that is none in microseconds, some 36000 years, is none. */
static int64_t known_time(int64_t t, AVRational base)
{
    return is_time(t) && is_time(av_rescale_q(t, base, MICROSECONDS)) ? t : AV_NOPTS_VALUE;
}

void ec_clock_close_hole(struct ec_clock *c, AVPacket *p, AVRational base)
{
    if (c->alone || c->wraps)
        return;
    p->pts = known_time(p->pts, base);
    p->dts = known_time(p->dts, base);
    const int64_t own = is_time(p->pts) ? p->pts : p->dts;
    if (!is_time(own))
        return;
    const int64_t at = av_rescale_q(own, base, MICROSECONDS);
    if (c->said_us != INT64_MIN && at - c->said_us > HOLE_US) {
        c->holes++;
        c->hole_us = at;
        c->cut_before_us = c->cut_us;
        c->cut_us += at - c->said_us - LEFT_US;
    }
    const int64_t length = p->duration > 0 && p->duration < ABSURD ? av_rescale_q(p->duration, base, MICROSECONDS) : 0;
    c->said_us = FFMAX(c->said_us, at + (is_time(length) ? length : 0));
    p->pts = is_time(p->pts) ? behind_holes(c, p->pts, base) : p->pts;
    p->dts = is_time(p->dts) ? behind_holes(c, p->dts, base) : p->dts;
}

/* Other streams may jump before the pictures do, which are still being decoded: how far such a packet is off, in base. */
static int64_t jump_ahead(struct ec_clock *c, int64_t at, AVRational base)
{
    const int64_t place = av_rescale_q(at, base, c->base);
    if (!c->wraps || !c->any || fabs((double)(place - c->next_pts) * av_q2d(c->base)) <= FORWARD_S)
        return 0;
    if (!c->ahead || fabs((double)(place + c->ahead - c->next_pts) * av_q2d(c->base)) > FORWARD_S)
        c->ahead = c->next_pts - place;
    return c->ahead;
}

bool ec_clock_shift_packet(struct ec_clock *c, AVPacket *p, AVRational base)
{
    const int64_t shift = av_rescale_q(c->shift_us, MICROSECONDS, base) - av_rescale_q(c->jump, c->base, base);
    const int64_t own = is_time(p->pts) ? p->pts : p->dts;
    if (c->drop_early && (!is_time(own) || own - shift < 0))
        return false;
    int64_t move = av_rescale_q(c->round, c->base, base) - shift;
    if (is_time(own))
        move += av_rescale_q(jump_ahead(c, own + move, base), c->base, base);
    if (is_time(p->pts))
        p->pts += move;
    if (is_time(p->dts))
        p->dts += move;
    const int64_t at = is_time(p->pts) ? p->pts : p->dts;
    if (!is_time(at))
        return true;
    return isnan(c->end_s) || (double)at * av_q2d(base) < c->end_s;
}

bool ec_clock_is_far_past(const struct ec_clock *c, const AVPacket *p, AVRational base)
{
    return !isnan(c->end_s) && is_time(p->dts) && (double)p->dts * av_q2d(base) - (double)c->shift_us / 1e6 > c->end_s + 1.0;
}

void ec_clock_restart(struct ec_clock *c)
{
    forget_holes(c);
    c->jump = c->ahead = c->round = c->next_pts = 0;
    c->last_pts = INT64_MIN;
    c->any = c->in_round = c->past_end = false;
}

void ec_clock_take_over(struct ec_clock *c, int64_t start_us)
{
    forget_holes(c);
    c->shift_us = start_us;
    c->drop_early = false;
    c->round = c->next_pts;
    c->jump = c->ahead = 0;
}

bool ec_clock_next_round(struct ec_clock *c)
{
    if (!c->in_round)
        return false;
    forget_holes(c);
    c->in_round = false;
    c->round = c->next_pts;
    c->jump = c->ahead = 0;
    return true;
}
