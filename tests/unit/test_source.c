/* The time axis, orientation, and gray planes out of every pixel format that FFmpeg knows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libavutil/bswap.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#include "edge/backend.h"
#include "source/clock.h"
#include "source/filter.h"
#include "source/gray.h"
#include "source/orientation.h"

static const AVRational ms = {1, 1000};

enum { W = 32, H = 8 };

static void clock_keeps_good_times_and_mends_bad_ones(void **state)
{
    (void)state;
    struct ec_clock c;
    int64_t pts, duration;
    ec_clock_init(&c, ms, (AVRational){25, 1}, 500000, 0, 0);
    assert_true(ec_clock_stamp(&c, 500, 40, &pts, &duration));
    assert_int_equal(pts, 0);
    assert_true(ec_clock_stamp(&c, 533, 0, &pts, &duration));
    assert_int_equal(pts, 33);
    assert_int_equal(duration, 40);
    assert_true(ec_clock_stamp(&c, AV_NOPTS_VALUE, 40, &pts, &duration));
    assert_int_equal(pts, 73);
    assert_true(ec_clock_stamp(&c, 573, 40, &pts, &duration)); /* the same time again */
    assert_int_equal(pts, 74);
    assert_true(ec_clock_stamp(&c, INT64_MAX - 3, INT64_MAX, &pts, &duration)); /* absurd: as if missing */
    assert_int_equal(pts, 114);
    assert_int_equal(duration, 40);
    assert_true(ec_clock_stamp(&c, 100000, 40, &pts, &duration));
    assert_int_equal(pts, 99500);
    assert_true(ec_clock_stamp(&c, 500, 40, &pts, &duration)); /* joined streams: time starts again */
    assert_int_equal(pts, 99540);
    assert_true(ec_clock_stamp(&c, 540, 40, &pts, &duration));
    assert_int_equal(pts, 99580);
}

static void clock_cuts_the_wanted_part(void **state)
{
    (void)state;
    struct ec_clock c;
    int64_t pts, duration;
    ec_clock_init(&c, ms, (AVRational){25, 1}, 0, 2.0, 1.0);
    assert_false(ec_clock_stamp(&c, 1960, 40, &pts, &duration));
    assert_true(ec_clock_stamp(&c, 2000, 40, &pts, &duration));
    assert_int_equal(pts, 0);
    assert_true(ec_clock_stamp(&c, 2960, 40, &pts, &duration));
    assert_false(c.past_end);
    AVPacket *p = av_packet_alloc();
    p->pts = p->dts = 88200;
    assert_true(ec_clock_shift_packet(&c, p, (AVRational){1, 44100}));
    assert_int_equal(p->pts, 0);
    p->pts = p->dts = 88000;
    assert_false(ec_clock_shift_packet(&c, p, (AVRational){1, 44100}));
    p->pts = p->dts = 3 * 44100;
    assert_false(ec_clock_shift_packet(&c, p, (AVRational){1, 44100}));
    av_packet_free(&p);
    assert_false(ec_clock_stamp(&c, 3000, 40, &pts, &duration));
    assert_true(c.past_end);
}

static void clock_goes_on_in_a_new_round(void **state)
{
    (void)state;
    struct ec_clock c;
    int64_t pts, duration;
    ec_clock_init(&c, ms, (AVRational){25, 1}, 0, 0, 0);
    assert_true(ec_clock_stamp(&c, 0, 40, &pts, &duration));
    assert_true(ec_clock_next_round(&c));
    assert_true(ec_clock_stamp(&c, 0, 40, &pts, &duration));
    assert_int_equal(pts, 40);
    assert_true(ec_clock_next_round(&c));
    assert_false(ec_clock_next_round(&c));
}

/* A round of a part: what lies in front of the wanted start is dropped every time. */
static void clock_drops_the_front_in_every_round(void **state)
{
    (void)state;
    struct ec_clock c;
    int64_t pts, duration;
    ec_clock_init(&c, ms, (AVRational){25, 1}, 0, 1.0, 0);
    for (int round = 0; round < 3; round++) {
        assert_false(ec_clock_stamp(&c, 920, 40, &pts, &duration));
        assert_true(ec_clock_stamp(&c, 1000, 40, &pts, &duration));
        assert_int_equal(pts, 80 * round);
        assert_true(ec_clock_stamp(&c, 1040, 40, &pts, &duration));
        assert_int_equal(pts, 80 * round + 40);
        AVPacket *p = av_packet_alloc();
        p->pts = p->dts = 48000;
        assert_true(ec_clock_shift_packet(&c, p, (AVRational){1, 48000}));
        assert_int_equal(p->pts, 48 * 80 * round);
        p->pts = p->dts = 47000;
        assert_false(ec_clock_shift_packet(&c, p, (AVRational){1, 48000}));
        av_packet_free(&p);
        assert_true(ec_clock_next_round(&c));
    }
}

/* Packets of 40 ms in the order of the file, and what becomes of their times: hours of silence become a second. */
static void clock_closes_holes_of_all_streams(void **state)
{
    (void)state;
    enum { HOUR = 3600000 };
    static const struct {
        int pts, expected;
    } in[] = {{0, 0},
              {100, 100},
              {40, 40},
              {2 * HOUR, 1140},
              {2 * HOUR - 40, 1100},
              {60, 60},
              {2 * HOUR + 40, 1180},
              {3 * HOUR + 30, HOUR + 1170},
              {5 * HOUR, HOUR + 2210}};
    struct ec_clock c;
    ec_clock_init(&c, ms, (AVRational){25, 1}, 0, 0, 0);
    AVPacket *p = av_packet_alloc();
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
            p->pts = p->dts = in[i].pts;
            p->duration = 40;
            ec_clock_close_hole(&c, p, ms);
            assert_int_equal(p->pts, in[i].expected);
            assert_int_equal(p->dts, in[i].expected);
        }
        assert_int_equal(c.holes, 2 * (round + 1));
        ec_clock_restart(&c);
    }
    c.alone = true;
    p->pts = p->dts = 20 * HOUR;
    ec_clock_close_hole(&c, p, ms);
    assert_int_equal(p->pts, 20 * HOUR);
    c.alone = false;
    const int64_t absurd[] = {INT64_MAX - 3, INT64_MIN + 1, (int64_t)1 << 41};
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        p->pts = p->dts = absurd[i];
        p->duration = INT64_MAX;
        ec_clock_close_hole(&c, p, (AVRational){1, 1});
        assert_int_equal(p->pts, AV_NOPTS_VALUE);
        assert_int_equal(p->dts, AV_NOPTS_VALUE);
        assert_int_equal(c.said_us, INT64_MIN);
    }
    av_packet_free(&p);
}

/* Where a display matrix puts the corner pixels of a w x h picture, worked out from its definition. */
static void orientation_follows_the_matrix(void **state)
{
    (void)state;
    enum { ONE = 1 << 16 };
    for (int n = 0; n < 8; n++) {
        const int transpose = n & 1, sx = n & 2 ? -1 : 1, sy = n & 4 ? -1 : 1;
        const int32_t m[9] = {transpose ? 0 : sx * ONE,
                              transpose ? sy * ONE : 0,
                              0,
                              transpose ? sx * ONE : 0,
                              transpose ? 0 : sy * ONE,
                              0,
                              0,
                              0,
                              1 << 30};
        const struct ec_orientation o = ec_orientation_from_matrix(m);
        assert_false(o.oblique);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                const int ow = transpose ? H : W, oh = transpose ? W : H;
                /* pixel centres, doubled; shifted so that the result starts at 0 */
                int dx = (m[0] / ONE) * (2 * x + 1) + (m[3] / ONE) * (2 * y + 1);
                int dy = (m[1] / ONE) * (2 * x + 1) + (m[4] / ONE) * (2 * y + 1);
                dx = dx < 0 ? dx + 2 * ow : dx;
                dy = dy < 0 ? dy + 2 * oh : dy;
                int ax = o.transpose ? y : x, ay = o.transpose ? x : y;
                ax = o.mirror_x ? ow - 1 - ax : ax;
                ay = o.mirror_y ? oh - 1 - ay : ay;
                assert_int_equal(ax, dx / 2);
                assert_int_equal(ay, dy / 2);
            }
    }
    const int32_t oblique[9] = {60000, 20000, 0, -20000, 60000, 0, 0, 0, 1 << 30};
    assert_true(ec_orientation_from_matrix(oblique).oblique);
    assert_true(ec_orientation_is_upright(ec_orientation_from_matrix(NULL)));
}

/* The chains do what the flags say, on a picture whose pixels are all different. */
static void chains_do_what_the_flags_say(void **state)
{
    (void)state;
    for (int n = 0; n < 8; n++) {
        const struct ec_orientation o = {.transpose = n & 1, .mirror_x = n & 2, .mirror_y = n & 4};
        struct ec_error error = {0};
        struct ec_filter *f = NULL;
        assert_int_equal(ec_filter_open(&f, ec_orientation_chain(o), "turn", ms, (AVRational){25, 1}, &error), EC_OK);
        AVFrame *in = av_frame_alloc(), *out = av_frame_alloc();
        in->format = AV_PIX_FMT_GRAY8;
        in->width = W;
        in->height = H;
        assert_int_equal(av_frame_get_buffer(in, 0), 0);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                in->data[0][y * in->linesize[0] + x] = (uint8_t)(y * W + x);
        assert_int_equal(ec_filter_push(f, in, &error), EC_OK);
        assert_int_equal(ec_filter_pull(f, out), 1);
        assert_int_equal(out->width, o.transpose ? H : W);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                int ax = o.transpose ? y : x, ay = o.transpose ? x : y;
                ax = o.mirror_x ? out->width - 1 - ax : ax;
                ay = o.mirror_y ? out->height - 1 - ay : ay;
                assert_int_equal(out->data[0][ay * out->linesize[0] + ax], y * W + x);
            }
        av_frame_free(&in);
        av_frame_free(&out);
        ec_filter_close(&f);
    }
}

/* Floats by hand: libswscale 5.1 writes big-endian ones wrongly. */
static void fill_floats(AVFrame *in, const AVPixFmtDescriptor *d, const uint8_t *ramp)
{
    for (int c = 0; c < d->nb_components; c++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                const float v = (float)ramp[x] / 255.0f;
                uint32_t bits;
                memcpy(&bits, &v, sizeof bits);
                bits = d->flags & AV_PIX_FMT_FLAG_BE ? av_be2ne32(bits) : av_le2ne32(bits);
                memcpy(in->data[d->comp[c].plane] + y * in->linesize[d->comp[c].plane] + 4 * x, &bits, sizeof bits);
            }
}

static void fill(AVFrame *in, const AVPixFmtDescriptor *d, const uint8_t *ramp)
{
    if (d->flags & AV_PIX_FMT_FLAG_FLOAT) {
        fill_floats(in, d, ramp);
        return;
    }
    struct SwsContext *sws =
        sws_getContext(W, H, AV_PIX_FMT_GRAY8, W, H, in->format, SWS_BICUBIC | SWS_ACCURATE_RND, NULL, NULL, NULL);
    assert_non_null(sws);
    const uint8_t *rows[4] = {ramp};
    const int pitch[4] = {W};
    assert_int_equal(sws_scale(sws, rows, pitch, 0, H, in->data, in->linesize), H);
    sws_freeContext(sws);
}

/* Every format that libswscale can write, from one gray ramp: the plane that comes back must be that ramp, as closely as the
 * format can hold it. */
static void gray_out_of_every_format(void **state)
{
    (void)state;
    struct ec_device *device = NULL;
    struct ec_error error = {0};
    const struct ec_device_params cpu = {.backend = EC_BACKEND_CPU, .threads = 1};
    assert_int_equal(ec_backend_cpu.open(&device, &cpu, NULL, &error), EC_OK);
    struct ec_gray gray = {.pool = ec_pool_open(&ec_backend_cpu, device)};
    uint8_t ramp[H][W];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            ramp[y][x] = (uint8_t)(x * 255 / (W - 1));
    int tried = 0;
    for (const AVPixFmtDescriptor *d = NULL; (d = av_pix_fmt_desc_next(d));) {
        const enum AVPixelFormat format = av_pix_fmt_desc_get_id(d);
        if (!sws_isSupportedOutput(format) || (d->flags & AV_PIX_FMT_FLAG_HWACCEL) || format == AV_PIX_FMT_XYZ12LE ||
            format == AV_PIX_FMT_XYZ12BE)
            continue;
        AVFrame *in = av_frame_alloc(), *out = av_frame_alloc();
        in->format = format;
        in->width = W;
        in->height = H;
        assert_int_equal(av_frame_get_buffer(in, 0), 0);
        fill(in, d, ramp[0]);
        if (ec_gray_from(&gray, out, in, &error) != EC_OK)
            fail_msg("%s: %s", d->name, error.text);
        const int depth = av_pix_fmt_desc_get(out->format)->comp[0].depth;
        /* RGB of few bits and mono are dithered; YUV from swscale is limited range unless yuvj or gray. */
        const double step = 255.0 / ((1 << (d->comp[0].depth < 8 ? d->comp[0].depth : 8)) - 1);
        for (int x = 0; x < W; x++) {
            double sum = 0;
            for (int y = 0; y < H; y++) {
                const uint8_t *row = out->data[0] + y * out->linesize[0];
                double v = depth > 8 ? ((const uint16_t *)(const void *)row)[x] / (double)((1 << depth) - 1) * 255 : row[x];
                if (out->color_range == AVCOL_RANGE_MPEG)
                    v = (v - 16) * 255 / 219;
                sum += v;
            }
            const double got = sum / H, want = ramp[0][x];
            if (fabs(got - want) > (d->comp[0].depth < 8 ? 1.2 * step : 2.5))
                fail_msg("%s: column %d is %g, expected %g", d->name, x, got, want);
        }
        tried++;
        av_frame_free(&in);
        av_frame_free(&out);
    }
    assert_true(tried > 100);
    struct ec_pool *pool = gray.pool;
    ec_gray_close(&gray);
    ec_pool_close(&pool);
    ec_backend_cpu.close(&device);
}

static void planar_luma_is_not_copied(void **state)
{
    (void)state;
    struct ec_gray gray = {0};
    struct ec_error error = {0};
    AVFrame *in = av_frame_alloc(), *out = av_frame_alloc();
    in->format = AV_PIX_FMT_YUV420P10;
    in->width = in->height = 32;
    assert_int_equal(av_frame_get_buffer(in, 0), 0);
    assert_int_equal(ec_gray_from(&gray, out, in, &error), EC_OK);
    assert_ptr_equal(out->data[0], in->data[0]);
    assert_int_equal(out->format, AV_PIX_FMT_GRAY10);
    assert_int_equal(out->color_range, AVCOL_RANGE_MPEG);
    av_frame_free(&in);
    av_frame_free(&out);
    ec_gray_close(&gray);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_keeps_good_times_and_mends_bad_ones),
        cmocka_unit_test(clock_cuts_the_wanted_part),
        cmocka_unit_test(clock_closes_holes_of_all_streams),
        cmocka_unit_test(clock_goes_on_in_a_new_round),
        cmocka_unit_test(clock_drops_the_front_in_every_round),
        cmocka_unit_test(orientation_follows_the_matrix),
        cmocka_unit_test(chains_do_what_the_flags_say),
        cmocka_unit_test(gray_out_of_every_format),
        cmocka_unit_test(planar_luma_is_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
