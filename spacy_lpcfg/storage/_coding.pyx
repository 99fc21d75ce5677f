"""The coding "table" of arrays: a bit for each number, which says whether it is 0, and places in a table of others."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


ctypedef fused place_t:
    uint8_t
    uint16_t


ctypedef fused number_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


def fill_nonzero(
    const uint8_t[::1] bits, const place_t[::1] places, const number_t[::1] table, number_t[::1] numbers
):
    """Set the numbers whose bit is 1 to the entries of a table at the next places each; the others stay.

    bits (uint8, (ceil(n / 8),)): a bit for each of the n numbers, the first of a byte its highest; those after n are 0.
    places: of the entries; table, numbers (n,): of one unsigned type.
    Returns whether there are as many places as bits of 1, and all are within the table; else it stops early.
    """
    cdef Py_ssize_t i, at, k = 0, n = numbers.shape[0], n_places = places.shape[0], n_table = table.shape[0]
    cdef uint8_t byte
    with nogil:
        for i in range(bits.shape[0]):
            byte = bits[i]
            at = 8 * i
            while byte:
                if byte & 128:
                    if k == n_places or at >= n or places[k] >= n_table:
                        with gil:
                            return False
                    numbers[at] = table[places[k]]
                    k += 1
                byte = <uint8_t>(byte << 1)
                at += 1
    return k == n_places
