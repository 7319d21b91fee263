/* Sequence headers in AV1 packets, whole, cut off, and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/av1.h"

/* Units: a delimiter; a frame, with an extension byte, of 3 bytes; a sequence header of 2 bytes, its size in two digits. */
static const uint8_t packet[] = {0x12, 0, 0x36, 0xff, 3, 1, 2, 3, 0x0a, 0x82, 0x00, 0xaa, 0xbb};

static void finds_the_header_behind_other_units(void **state)
{
    (void)state;
    const struct ec_av1_sequence found = ec_av1_find_sequence(packet, sizeof packet);
    assert_ptr_equal(found.data, packet + 11);
    assert_int_equal(found.bytes, 2);
}

static void a_last_unit_without_size_ends_with_the_packet(void **state)
{
    (void)state;
    static const uint8_t unsized[] = {0x12, 0, 0x08, 1, 2, 3};
    assert_int_equal(ec_av1_find_sequence(unsized, sizeof unsized).bytes, 3);
}

/* Every packet is copied to memory of its size, so that the sanitizers see a byte too far. */
static size_t bytes_found(const uint8_t *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    const struct ec_av1_sequence found = ec_av1_find_sequence(copy, bytes);
    if (found.bytes > 0)
        assert_true(found.data >= copy && found.data + found.bytes <= copy + bytes);
    free(copy);
    return found.bytes;
}

static void damaged_packets_have_none(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < sizeof packet; bytes++)
        assert_int_equal(bytes_found(packet, bytes), 0);
    static const uint8_t endless[] = {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0};
    assert_int_equal(bytes_found(endless, sizeof endless), 0);
    static const uint8_t huge[] = {0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x0a, 1, 1};
    assert_int_equal(bytes_found(huge, sizeof huge), 0);
    for (unsigned seed = 1; seed < 20000; seed++) {
        uint8_t noise[24];
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (uint8_t)((seed * 2654435761U + (unsigned)i * 40503U) >> (i % 8 + 8));
        assert_true(bytes_found(noise, seed % sizeof noise) < sizeof noise);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_header_behind_other_units),
        cmocka_unit_test(a_last_unit_without_size_ends_with_the_packet),
        cmocka_unit_test(damaged_packets_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
