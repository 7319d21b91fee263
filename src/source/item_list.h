/* A list of items in order, of any length: what came out of one step before anyone asked for it. One thread. */
#ifndef EC_SOURCE_ITEM_LIST_H
#define EC_SOURCE_ITEM_LIST_H

#include "pipeline/frame.h"

struct ec_item_node;

/* Zero-initialise. */
struct ec_item_list {
    struct ec_item_node *first, *last;
    int64_t packet_bytes; /* of the packets in it */
};

/* Takes over what *item owns; false when memory ran out (then it does not). */
bool ec_item_list_append(struct ec_item_list *list, const struct ec_item *item);
/* The oldest item; false: empty. */
bool ec_item_list_take(struct ec_item_list *list, struct ec_item *out);
void ec_item_list_clear(struct ec_item_list *list);

#endif
