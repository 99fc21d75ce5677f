"""The coding "table" of arrays: a bit for each number, 0 for the number 0, and positions of others in a table."""

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
    """Set each number whose bit is 1 to the table's entry at the next of the places; the others stay.

    bits (uint8, (ceil(n / 8),)): A bit for each of the n numbers, the first of a byte its highest; those after n are 0.
    places (uint8 or uint16, (n_places,)): Positions in the table, in the order of the numbers.
    table (unsigned, (n_table,)): The distinct numbers other than 0.
    numbers (unsigned of the same size, (n,)): The numbers, which are set in place.
    RETURNS (bool): Whether there are as many places as bits of 1, all within the table; otherwise it stops early.
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
