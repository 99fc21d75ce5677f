"""Decoder of arrays in the coding "table", see `coding.py`."""

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
    """Set the numbers whose bit is 1 to entries of a table, the k-th of them to `table[places[k]]`.

    bits (uint8, (ceil(n / 8),)): A bit for each of the n numbers, the highest bit of a byte first; bits after the n-th
        are 0.
    places (uint8 or uint16, (n_places,)): A position in the table for each bit of 1.
    table (unsigned, (n_table,)): The distinct numbers other than 0.
    numbers (unsigned of the same size, (n,)): The numbers, which are set in place; numbers whose bit is 0 stay.
    RETURNS (bool): Whether there are as many places as bits of 1, all within the table; if False, only some are set.
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
