/* Which runs leave their results on the GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "edge/backend.h"
#include "pipeline/surfaces.h"
#include "sink/codec.h"

static AVBufferRef *give_surfaces(struct ec_device *device, int width_px, int height_px, int count, struct ec_error *error)
{
    (void)device, (void)error;
    assert_int_equal(width_px, 64);
    assert_int_equal(height_px, 48);
    assert_int_equal(count, 9);
    return av_buffer_alloc(1);
}

static AVBufferRef *give_none(struct ec_device *device, int width_px, int height_px, int count, struct ec_error *error)
{
    (void)device, (void)width_px, (void)height_px, (void)count;
    ec_fail(error, EC_ERROR_DEVICE, "the device has no surfaces");
    return NULL;
}

static const struct ec_backend able = {.encode_surfaces = give_surfaces}, unable = {.encode_surfaces = give_none}, host = {0};

struct run {
    struct ec_pipeline_params run;
    struct ec_stream_info info;
    struct ec_surfaces_params p;
};

/* One that does. */
static void begin(struct run *r)
{
    *r = (struct run){
        .run = {.input = "in", .output = "out.mp4", .codec = "h264_nvenc"},
        .info = {.width_px = 64, .height_px = 48},
        .p = {.backend = &able, .gpus = 1, .depth_bits = 8, .count = 9},
    };
    r->p.run = &r->run;
    r->p.info = &r->info;
}

static bool stays(const struct run *r)
{
    AVBufferRef *surfaces = ec_surfaces_open(&r->p);
    const bool there = surfaces != NULL;
    av_buffer_unref(&surfaces);
    return there;
}

static void only_what_is_encoded_there_stays(void **state)
{
    struct run r;
    (void)state;
    if (!ec_codec_name_takes_surfaces("h264_nvenc"))
        skip();
    begin(&r);
    assert_true(stays(&r));
    r.run.null_sink = true;
    assert_true(stays(&r));

    r.run.hash = true;
    assert_false(stays(&r));
    begin(&r);
    r.run.display = true;
    assert_false(stays(&r));
    begin(&r);
    r.run.style.style = EC_STYLE_GLOW;
    assert_false(stays(&r));
    begin(&r);
    r.run.output = NULL;
    assert_false(stays(&r));
    const char *const codecs[] = {NULL, "h264", "libx264", "ffv1", "no such codec"};
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        begin(&r);
        r.run.codec = codecs[i];
        assert_false(stays(&r));
    }
}

static void only_even_pictures_of_8_bits_on_one_gpu_stay(void **state)
{
    struct run r;
    (void)state;
    begin(&r);
    r.p.depth_bits = 10;
    assert_false(stays(&r));
    begin(&r);
    r.p.gpus = 2;
    assert_false(stays(&r));
    begin(&r);
    r.info.width_px = 63;
    assert_false(stays(&r));
    begin(&r);
    r.info.height_px = 47;
    assert_false(stays(&r));
    begin(&r);
    r.p.backend = &host;
    assert_false(stays(&r));
    r.p.backend = &unable;
    assert_false(stays(&r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_encoded_there_stays),
        cmocka_unit_test(only_even_pictures_of_8_bits_on_one_gpu_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
