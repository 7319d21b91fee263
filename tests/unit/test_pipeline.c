/* Queues, pools, percentiles and the busy/overlap arithmetic. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libavcodec/avcodec.h>

#include "edge/backend.h"
#include "pipeline/latency.h"
#include "pipeline/queue.h"
#include "pipeline/timeline.h"

static struct ec_item frame_item(int64_t index)
{
    return (struct ec_item){.kind = EC_ITEM_FRAME, .frame = {.index = index, .owner = av_buffer_alloc(1)}};
}

static struct ec_item packet_item(int bytes)
{
    struct ec_item item = {.kind = EC_ITEM_PACKET, .packet = av_packet_alloc()};
    assert_int_equal(av_new_packet(item.packet, bytes), 0);
    return item;
}

struct producer {
    struct ec_queue *queue;
    int64_t frames, taken, wait_ns;
};

static void *produce(void *opaque)
{
    struct producer *p = opaque;
    for (int64_t i = 0; i < p->frames; i++) {
        struct ec_item item = i % 7 == 3 ? packet_item(100) : frame_item(i);
        p->taken += ec_queue_push(p->queue, &item, &p->wait_ns);
        ec_item_release(&item);
    }
    ec_queue_close_input(p->queue);
    return NULL;
}

static void queue_keeps_order_and_loses_nothing(void **state)
{
    (void)state;
    struct ec_queue *q = ec_queue_open(3, 1000, false);
    struct producer p = {.queue = q, .frames = 20000};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, produce, &p), 0);
    struct ec_item item;
    int64_t wait = 0, n = 0, last = -1;
    for (; ec_queue_pop(q, &item, -1, &wait) == EC_QUEUE_OK; n++) {
        if (item.kind == EC_ITEM_FRAME) {
            assert_true(item.frame.index > last);
            last = item.frame.index;
        }
        ec_item_release(&item);
    }
    pthread_join(thread, NULL);
    assert_int_equal(n, 20000);
    assert_int_equal(p.taken, 20000);
    assert_int_equal(ec_queue_pop(q, &item, -1, &wait), EC_QUEUE_CLOSED);
    ec_queue_free(&q);
}

static void queue_push_fails_once_the_consumer_is_gone(void **state)
{
    (void)state;
    struct ec_queue *q = ec_queue_open(2, 1000, false);
    struct producer p = {.queue = q, .frames = 100};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, produce, &p), 0);
    struct ec_item item;
    int64_t wait = 0;
    assert_int_equal(ec_queue_pop(q, &item, -1, &wait), EC_QUEUE_OK);
    ec_item_release(&item);
    ec_queue_close_output(q);
    pthread_join(thread, NULL);
    assert_in_range(p.taken, 1, 4);
    item = frame_item(1);
    assert_false(ec_queue_push(q, &item, &wait));
    assert_int_equal(item.kind, EC_ITEM_FRAME);
    ec_item_release(&item);
    ec_queue_free(&q);
}

static void queue_drops_the_oldest_when_the_newest_wins(void **state)
{
    (void)state;
    struct ec_queue *q = ec_queue_open(2, 1000, true);
    int64_t wait = 0;
    struct ec_item item = packet_item(10);
    assert_true(ec_queue_push(q, &item, &wait));
    for (int i = 0; i < 5; i++) {
        item = frame_item(i);
        assert_true(ec_queue_push(q, &item, &wait));
    }
    struct ec_queue_stats stats;
    ec_queue_stats(q, &stats);
    assert_int_equal(stats.dropped, 3);
    assert_int_equal(ec_queue_pop(q, &item, 0, &wait), EC_QUEUE_OK);
    assert_int_equal(item.kind, EC_ITEM_PACKET);
    ec_item_release(&item);
    for (int i = 3; i < 5; i++) {
        assert_int_equal(ec_queue_pop(q, &item, 0, &wait), EC_QUEUE_OK);
        assert_int_equal(item.frame.index, i);
        ec_item_release(&item);
    }
    assert_int_equal(ec_queue_pop(q, &item, 0, &wait), EC_QUEUE_EMPTY);
    assert_int_equal(ec_queue_pop(q, &item, 2000000, &wait), EC_QUEUE_EMPTY);
    assert_true(wait >= 2000000);
    ec_queue_free(&q);
}

static void queue_takes_one_packet_of_any_size_but_not_two(void **state)
{
    (void)state;
    struct ec_queue *q = ec_queue_open(1, 1000, false);
    int64_t wait = 0;
    struct ec_item item = packet_item(100000);
    assert_true(ec_queue_push(q, &item, &wait));
    struct producer p = {.queue = q, .frames = 4}; /* its last item is a packet: it must wait for the big one to leave */
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, produce, &p), 0);
    int n = 0;
    while (ec_queue_pop(q, &item, -1, &wait) == EC_QUEUE_OK) {
        ec_item_release(&item);
        n++;
    }
    pthread_join(thread, NULL);
    assert_int_equal(n, 5);
    ec_queue_free(&q);
}

static void pool_uses_blocks_again_and_survives_its_close(void **state)
{
    (void)state;
    struct ec_device *device = NULL;
    struct ec_error error = {0};
    const struct ec_device_params params = {.backend = EC_BACKEND_CPU, .threads = 1};
    assert_int_equal(ec_backend_cpu.open(&device, &params, NULL, &error), EC_OK);
    struct ec_pool *pool = ec_pool_open(&ec_backend_cpu, device);
    AVBufferRef *a = ec_pool_get(pool, 5000);
    assert_int_equal((uintptr_t)a->data % 4096, 0);
    const uint8_t *data = a->data;
    av_buffer_unref(&a);
    a = ec_pool_get(pool, 5000);
    assert_ptr_equal(a->data, data);
    AVBufferRef *b = ec_pool_get(pool, 9000);
    assert_ptr_not_equal(a->data, b->data);
    assert_null(ec_pool_get(pool, 0));
    assert_null(ec_pool_get(pool, SIZE_MAX));
    ec_pool_close(&pool);
    memset(a->data, 1, 5000);
    memset(b->data, 1, 9000);
    av_buffer_unref(&a);
    av_buffer_unref(&b);
    ec_backend_cpu.close(&device);
}

static void percentiles_are_within_a_step(void **state)
{
    (void)state;
    struct ec_latency *l = calloc(1, sizeof *l);
    assert_true(isnan(ec_latency_percentile_ms(l, 50)));
    for (int64_t i = 1; i <= 1000; i++)
        ec_latency_add(l, i * 1000000);
    const double percents[] = {50, 95, 99, 100};
    for (size_t i = 0; i < 4; i++) {
        const double exact = percents[i] * 10, got = ec_latency_percentile_ms(l, percents[i]);
        assert_true(got >= exact - 1e-9 && got <= exact * (1 + 1.0 / 64));
    }
    assert_int_equal(l->max_ns, 1000000000);
    ec_latency_add(l, -5);
    ec_latency_add(l, INT64_MAX);
    assert_true(ec_latency_percentile_ms(l, 100) == (double)INT64_MAX / 1e6);
    free(l);
}

/* Brute force: one cell for each nanosecond. */
static struct ec_timeline_result count_cells(const struct ec_interval (*list)[4000], const int *n, int64_t span)
{
    struct ec_timeline_result r = {0};
    unsigned char *cells = calloc((size_t)span, 1);
    for (int e = 0; e < EC_TIMELINE_ENGINES; e++)
        for (int i = 0; i < n[e]; i++)
            for (int64_t t = list[e][i].start_ns; t < list[e][i].end_ns; t++)
                cells[t] |= (unsigned char)(1 << e);
    for (int64_t t = 0; t < span; t++) {
        for (int e = 0; e < EC_TIMELINE_ENGINES; e++)
            r.busy_ns[e] += cells[t] >> e & 1;
        r.any_ns += cells[t] != 0;
        r.overlap_ns += (cells[t] & (cells[t] - 1)) != 0;
    }
    free(cells);
    return r;
}

static void timeline_of_hand_made_intervals(void **state)
{
    (void)state;
    struct ec_timeline *t = calloc(1, sizeof *t);
    struct ec_timeline_result r;
    ec_timeline_read(t, &r);
    assert_int_equal(r.any_ns, 0);
    ec_timeline_add(t, 0, 0, 10); /* upload 0-10, 8-20 */
    ec_timeline_add(t, 1, 10, 14); /* compute 10-14 */
    ec_timeline_add(t, 2, 14, 30); /* download 14-30 */
    ec_timeline_add(t, 0, 8, 20);
    ec_timeline_read(t, &r);
    assert_int_equal(r.span_ns, 30);
    assert_int_equal(r.busy_ns[0], 20);
    assert_int_equal(r.busy_ns[1], 4);
    assert_int_equal(r.busy_ns[2], 16);
    assert_int_equal(r.any_ns, 30);
    assert_int_equal(r.overlap_ns, 4 + 6); /* 10-14 with compute, 14-20 with download */
    free(t);
}

static void timeline_equals_counting(void **state)
{
    (void)state;
    static struct ec_interval list[EC_TIMELINE_ENGINES][4000];
    struct ec_timeline *t = calloc(1, sizeof *t);
    srand(7);
    for (int round = 0; round < 3; round++) {
        memset(t, 0, sizeof *t);
        int n[EC_TIMELINE_ENGINES] = {0};
        int64_t now = 0;
        for (int i = 0; i < 4000; i++) {
            now += rand() % 40;
            for (int e = 0; e < EC_TIMELINE_ENGINES; e++) {
                if (round == 1 && e == 2 && i > 100)
                    continue; /* an engine that falls silent */
                const struct ec_interval in = {now + 30 * e, now + 30 * e + rand() % 60};
                list[e][n[e]++] = in;
                ec_timeline_add(t, e, in.start_ns, in.end_ns);
            }
        }
        struct ec_timeline_result got;
        ec_timeline_read(t, &got);
        const struct ec_timeline_result want = count_cells(list, n, now + 1000);
        for (int e = 0; e < EC_TIMELINE_ENGINES; e++)
            assert_int_equal(got.busy_ns[e], want.busy_ns[e]);
        assert_int_equal(got.any_ns, want.any_ns);
        assert_int_equal(got.overlap_ns, want.overlap_ns);
    }
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_keeps_order_and_loses_nothing),
        cmocka_unit_test(queue_push_fails_once_the_consumer_is_gone),
        cmocka_unit_test(queue_drops_the_oldest_when_the_newest_wins),
        cmocka_unit_test(queue_takes_one_packet_of_any_size_but_not_two),
        cmocka_unit_test(pool_uses_blocks_again_and_survives_its_close),
        cmocka_unit_test(percentiles_are_within_a_step),
        cmocka_unit_test(timeline_of_hand_made_intervals),
        cmocka_unit_test(timeline_equals_counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
