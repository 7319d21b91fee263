#include "source/item_list.h"

#include <stdlib.h>

struct ec_item_node {
    struct ec_item item;
    struct ec_item_node *next;
};

static int64_t packet_bytes(const struct ec_item *item)
{
    return item->kind == EC_ITEM_PACKET ? item->packet->size : 0;
}

bool ec_item_list_append(struct ec_item_list *list, const struct ec_item *item)
{
    struct ec_item_node *node = malloc(sizeof *node);
    if (!node)
        return false;
    *node = (struct ec_item_node){.item = *item};
    *(list->last ? &list->last->next : &list->first) = node;
    list->last = node;
    list->packet_bytes += packet_bytes(item);
    return true;
}

bool ec_item_list_take(struct ec_item_list *list, struct ec_item *out)
{
    struct ec_item_node *node = list->first;
    if (!node)
        return false;
    *out = node->item;
    list->first = node->next;
    if (!list->first)
        list->last = NULL;
    list->packet_bytes -= packet_bytes(out);
    free(node);
    return true;
}

void ec_item_list_clear(struct ec_item_list *list)
{
    struct ec_item item;
    while (ec_item_list_take(list, &item))
        ec_item_release(&item);
}
