/* A bounded queue of items between one producer and one consumer. Each end closes by its own call:
 * the producer's close lets the consumer drain what is left; the consumer's close makes every push fail at once. */
#ifndef EC_PIPELINE_QUEUE_H
#define EC_PIPELINE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/frame.h"

struct ec_queue;

enum ec_queue_result { EC_QUEUE_OK = 0, EC_QUEUE_EMPTY /* nothing within the time */, EC_QUEUE_CLOSED };

/* Holds up to `frames` frames and `packet_bytes` bytes of packets (one packet always fits). newest_wins: a push into a full
 * queue drops the oldest frame instead of waiting. NULL when memory ran out. */
struct ec_queue *ec_queue_open(int frames, int64_t packet_bytes, bool newest_wins);
void ec_queue_free(struct ec_queue **queue);

/* Takes the item (and empties *item) or returns false and leaves it: the consumer has closed its end. Waits while full;
 * *wait_ns grows by the time spent waiting. */
bool ec_queue_push(struct ec_queue *queue, struct ec_item *item, int64_t *wait_ns);

/* The oldest item. timeout_ns < 0: waits for one; 0: never waits. EC_QUEUE_CLOSED: the producer has closed and nothing is left.
 */
enum ec_queue_result ec_queue_pop(struct ec_queue *queue, struct ec_item *item, int64_t timeout_ns, int64_t *wait_ns);

void ec_queue_close_input(struct ec_queue *queue); /* the producer has no more */
void ec_queue_close_output(struct ec_queue *queue); /* the consumer takes no more; what is queued is released */

struct ec_queue_stats {
    int64_t dropped; /* frames, by newest_wins */
    int64_t held_ns, empty_ns; /* time with and without an item, since open */
};
void ec_queue_stats(struct ec_queue *queue, struct ec_queue_stats *out);

#endif
