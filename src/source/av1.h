/* What has to be known of an AV1 stream before a decoder sees it. */
#ifndef EC_SOURCE_AV1_H
#define EC_SOURCE_AV1_H

#include <stddef.h>
#include <stdint.h>

struct ec_av1_sequence {
    const uint8_t *data; /* inside the packet */
    size_t bytes; /* 0: there is none */
};

/* The first sequence header of a packet in the low-overhead format (AV1 specification, 5.2 to 5.5), in which libavformat gives
 * them. Every picture up to the next different one has its profile, depth and greatest size. Damaged packets have none. */
struct ec_av1_sequence ec_av1_find_sequence(const uint8_t *data, size_t bytes);

#endif
