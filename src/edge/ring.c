#include "edge/ring.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "edge/arith.h"

#define LINE_BYTES 64u
#define PAGE_BYTES 4096u

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

bool ec_ring_open(struct ec_ring *ring, int slots, int width, size_t element_bytes, int left, int right)
{
    *ring = (struct ec_ring){.slots = slots, .width = width, .left = left, .right = right, .element_bytes = element_bytes};
    ring->margin_bytes = round_up((size_t)left * element_bytes, LINE_BYTES);
    ring->stride_bytes = ring->margin_bytes + round_up(((size_t)width + (size_t)right) * element_bytes, LINE_BYTES);
    /* Rows a page apart would compete for the same few cache lines. */
    if (ring->stride_bytes % PAGE_BYTES == 0)
        ring->stride_bytes += LINE_BYTES;
    if (ring->stride_bytes > (SIZE_MAX - EC_RING_SLACK_BYTES) / (size_t)slots)
        return false;
    const size_t bytes = ring->stride_bytes * (size_t)slots + EC_RING_SLACK_BYTES;
    ring->held = malloc((size_t)slots * sizeof *ring->held);
    ring->memory = aligned_alloc(LINE_BYTES, bytes);
    if (!ring->held || !ring->memory)
        return false;
    ec_ring_fill(ring, 0);
    ec_ring_clear(ring);
    return true;
}

void ec_ring_fill(struct ec_ring *ring, unsigned char byte)
{
    memset(ring->memory, byte, ring->stride_bytes * (size_t)ring->slots + EC_RING_SLACK_BYTES);
}

void ec_ring_clear(struct ec_ring *ring)
{
    for (int slot = 0; slot < ring->slots; slot++)
        ring->held[slot] = -1;
}

void *ec_ring_row(struct ec_ring *ring, int y, bool *fresh)
{
    const int slot = y % ring->slots;
    *fresh = ring->held[slot] == y;
    ring->held[slot] = y;
    return ring->memory + ring->margin_bytes + (size_t)slot * ring->stride_bytes;
}

static void copy_element(unsigned char *row, ptrdiff_t to, ptrdiff_t from, size_t bytes)
{
    memcpy(row + to * (ptrdiff_t)bytes, row + from * (ptrdiff_t)bytes, bytes);
}

void ec_ring_extend(const struct ec_ring *ring, void *row, enum ec_border border)
{
    if (border == EC_BORDER_CONSTANT)
        return;
    for (int x = -ring->left; x < 0; x++)
        copy_element(row, x, ec_border_index(x, ring->width, border), ring->element_bytes);
    for (int x = ring->width; x < ring->width + ring->right; x++)
        copy_element(row, x, ec_border_index(x, ring->width, border), ring->element_bytes);
}

void ec_ring_close(struct ec_ring *ring)
{
    free(ring->memory);
    free(ring->held);
    *ring = (struct ec_ring){0};
}
