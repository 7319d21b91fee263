#include "pipeline/queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <libavcodec/avcodec.h>

/* A packet's own bookkeeping, so that empty packets are bounded too. */
#define PACKET_OVERHEAD_BYTES 256

struct node {
    struct ec_item item;
    struct node *next;
};

struct ec_queue {
    int max_frames;
    int64_t max_packet_bytes;
    bool newest_wins;
    pthread_mutex_t lock;
    pthread_cond_t filled, drained;
    /* guarded by lock */
    struct node *first, *last, *spare; /* spare: nodes to use again */
    int frames;
    int64_t packet_bytes;
    bool input_closed, output_closed;
    int64_t dropped, held_ns, empty_ns, changed_ns;
};

static int64_t item_bytes(const struct ec_item *item)
{
    return item->kind == EC_ITEM_PACKET ? item->packet->size + PACKET_OVERHEAD_BYTES : 0;
}

/* Before every change between empty and not: closes the interval that ends now. */
static void account(struct ec_queue *q)
{
    const int64_t now = ec_now_ns();
    *(q->first ? &q->held_ns : &q->empty_ns) += now - q->changed_ns;
    q->changed_ns = now;
}

static void append(struct ec_queue *q, struct node *node)
{
    node->next = NULL;
    if (q->last)
        q->last->next = node;
    else
        q->first = node;
    q->last = node;
    q->frames += node->item.kind == EC_ITEM_FRAME;
    q->packet_bytes += item_bytes(&node->item);
}

/* Unlinks the node behind `before` (NULL: the first) and keeps it as a spare; the item is the caller's. */
static struct ec_item unlink_node(struct ec_queue *q, struct node *before)
{
    struct node *node = before ? before->next : q->first;
    struct ec_item item = node->item;
    *(before ? &before->next : &q->first) = node->next;
    if (q->last == node)
        q->last = before;
    q->frames -= item.kind == EC_ITEM_FRAME;
    q->packet_bytes -= item_bytes(&item);
    node->next = q->spare;
    q->spare = node;
    return item;
}

static void drop_oldest_frame(struct ec_queue *q)
{
    struct node *before = NULL;
    for (struct node *n = q->first; n && n->item.kind != EC_ITEM_FRAME; n = n->next)
        before = n;
    struct ec_item item = unlink_node(q, before);
    ec_item_release(&item);
    q->dropped++;
}

static bool full(const struct ec_queue *q, const struct ec_item *item)
{
    if (item->kind == EC_ITEM_FRAME)
        return q->frames >= q->max_frames;
    return q->packet_bytes > 0 && q->packet_bytes + item_bytes(item) > q->max_packet_bytes;
}

struct ec_queue *ec_queue_open(int frames, int64_t packet_bytes, bool newest_wins)
{
    struct ec_queue *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->max_frames = frames;
    q->max_packet_bytes = packet_bytes;
    q->newest_wins = newest_wins;
    q->changed_ns = ec_now_ns();
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->filled, &monotonic);
    pthread_cond_init(&q->drained, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return q;
}

static void release_all(struct ec_queue *q)
{
    while (q->first) {
        struct ec_item item = unlink_node(q, NULL);
        ec_item_release(&item);
    }
}

void ec_queue_free(struct ec_queue **queue)
{
    struct ec_queue *q = *queue;
    if (!q)
        return;
    release_all(q);
    while (q->spare) {
        struct node *next = q->spare->next;
        free(q->spare);
        q->spare = next;
    }
    pthread_cond_destroy(&q->filled);
    pthread_cond_destroy(&q->drained);
    pthread_mutex_destroy(&q->lock);
    free(q);
    *queue = NULL;
}

bool ec_queue_push(struct ec_queue *q, struct ec_item *item, int64_t *wait_ns)
{
    bool taken = false;
    pthread_mutex_lock(&q->lock);
    if (full(q, item)) {
        const int64_t from = ec_now_ns();
        while (!q->output_closed && full(q, item)) {
            if (q->newest_wins && item->kind == EC_ITEM_FRAME)
                drop_oldest_frame(q);
            else
                pthread_cond_wait(&q->drained, &q->lock);
        }
        *wait_ns += ec_now_ns() - from;
    }
    if (!q->output_closed) {
        struct node *node = q->spare;
        if (node)
            q->spare = node->next;
        else
            node = malloc(sizeof *node);
        if (node) {
            if (!q->first)
                account(q);
            node->item = *item;
            node->item.frame.queued_ns = ec_now_ns();
            append(q, node);
            *item = (struct ec_item){0};
            taken = true;
            pthread_cond_signal(&q->filled);
        }
    }
    pthread_mutex_unlock(&q->lock);
    return taken;
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){ns / 1000000000, ns % 1000000000};
}

enum ec_queue_result ec_queue_pop(struct ec_queue *q, struct ec_item *item, int64_t timeout_ns, int64_t *wait_ns)
{
    enum ec_queue_result result = EC_QUEUE_OK;
    pthread_mutex_lock(&q->lock);
    if (!q->first && !q->input_closed && timeout_ns != 0) {
        const int64_t from = ec_now_ns();
        const struct timespec until = to_timespec(from + (timeout_ns > 0 ? timeout_ns : 0));
        int late = 0;
        while (!q->first && !q->input_closed && !late) {
            if (timeout_ns < 0)
                pthread_cond_wait(&q->filled, &q->lock);
            else
                late = pthread_cond_timedwait(&q->filled, &q->lock, &until);
        }
        *wait_ns += ec_now_ns() - from;
    }
    if (q->first) {
        const bool last = !q->first->next;
        if (last)
            account(q);
        *item = unlink_node(q, NULL);
        pthread_cond_signal(&q->drained);
    } else {
        *item = (struct ec_item){0};
        result = q->input_closed ? EC_QUEUE_CLOSED : EC_QUEUE_EMPTY;
    }
    pthread_mutex_unlock(&q->lock);
    return result;
}

void ec_queue_close_input(struct ec_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->input_closed = true;
    pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

void ec_queue_close_output(struct ec_queue *q)
{
    pthread_mutex_lock(&q->lock);
    if (q->first)
        account(q);
    q->output_closed = true;
    release_all(q);
    pthread_cond_broadcast(&q->drained);
    pthread_mutex_unlock(&q->lock);
}

void ec_queue_stats(struct ec_queue *q, struct ec_queue_stats *out)
{
    pthread_mutex_lock(&q->lock);
    account(q);
    *out = (struct ec_queue_stats){q->dropped, q->held_ns, q->empty_ns};
    pthread_mutex_unlock(&q->lock);
}
