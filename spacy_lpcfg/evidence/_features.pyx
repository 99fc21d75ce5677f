"""Sparse features with a row of weights each: their keys, a hash table of the rows, sums of rows, and AdaGrad."""

import numpy as np

from libc.math cimport fabsf, sqrtf
from libc.stdint cimport int8_t, int32_t, uint64_t

cdef enum:
    KEY_BITS = 31

cdef uint64_t ODD = 0x9E3779B97F4A7C15

ctypedef fused weight_t:
    int8_t
    float


cdef extern from *:
    """
    #if defined(__GNUC__)
    #define lpcfg_prefetch(address) __builtin_prefetch(address)
    #else
    #define lpcfg_prefetch(address) ((void)0)
    #endif
    """
    void lpcfg_prefetch(const void* address) noexcept nogil


cdef inline uint64_t mixed(uint64_t state, uint64_t atom) noexcept nogil:
    state = (state ^ atom) * ODD
    return state ^ (state >> 32)


def feature_keys(const int32_t[:, ::1] atoms, const int32_t[:, ::1] templates):
    """Return the key of each template's feature of each item, int32 (n_items, n_templates); -1 for none.

    atoms (int32, (n_items, n_atoms)): The hashes of which features consist; 0 for an atom that an item lacks, so that it
        has no feature of the atom's templates.
    templates (int32, (n_templates, width)): The number of each template, then its atoms, padded by -1.
    """
    cdef Py_ssize_t i, t, k
    cdef uint64_t state, atom
    keys_ = np.empty((atoms.shape[0], templates.shape[0]), np.int32)
    cdef int32_t[:, ::1] keys = keys_
    with nogil:
        for i in range(atoms.shape[0]):
            for t in range(templates.shape[0]):
                state = mixed(ODD, templates[t, 0])
                for k in range(1, templates.shape[1]):
                    if templates[t, k] < 0:
                        break
                    atom = <uint64_t>atoms[i, templates[t, k]]
                    if atom == 0:
                        state = 0
                        break
                    state = mixed(state, atom)
                keys[i, t] = <int32_t>(state >> (64 - KEY_BITS)) if state else -1
    return keys_


cdef inline Py_ssize_t first_slot(int32_t key, int bits) noexcept nogil:
    return <Py_ssize_t>((<uint64_t>key * ODD) >> (64 - bits))


def hash_table(const int32_t[::1] keys):
    """Return a table of the places of distinct keys, int32 (2 ** bits,); -1 for empty slots, at least half of them."""
    cdef int bits = max(1, int(2 * keys.shape[0]).bit_length())
    cdef Py_ssize_t place, slot, mask = (1 << bits) - 1
    slots_ = np.full(1 << bits, -1, np.int32)
    cdef int32_t[::1] slots = slots_
    with nogil:
        for place in range(keys.shape[0]):
            slot = first_slot(keys[place], bits)
            while slots[slot] >= 0:
                slot = (slot + 1) & mask
            slots[slot] = <int32_t>place
    return slots_


def find_rows(int32_t[:, ::1] wanted, const int32_t[::1] keys, const int32_t[::1] slots):
    """Replace each of the wanted keys by its place among `keys`, in place; -1 for those that are not there.

    slots (int32, (2 ** bits,)): The `hash_table` of the keys.
    """
    cdef Py_ssize_t i, t, slot, mask = slots.shape[0] - 1, n = wanted.shape[1]
    cdef int bits = int(mask).bit_length()
    cdef int32_t key
    with nogil:
        for i in range(wanted.shape[0]):
            for t in range(n):
                if wanted[i, t] >= 0:
                    lpcfg_prefetch(&slots[first_slot(wanted[i, t], bits)])
            for t in range(n):
                key = wanted[i, t]
                if key < 0:
                    continue
                slot = first_slot(key, bits)
                while slots[slot] >= 0 and keys[slots[slot]] != key:
                    slot = (slot + 1) & mask
                wanted[i, t] = slots[slot]


def sum_rows(const int32_t[:, ::1] rows, const weight_t[:, ::1] weights):
    """Return the sum of the rows of weights of each item's features, float32 (n_items, n_classes).

    rows (int32, (n_items, n_templates)): Rows of features, -1 for none.
    weights (int8 or float32, (n_features, n_classes)): The weights.
    """
    cdef Py_ssize_t i, t, c, n = weights.shape[1]
    cdef const weight_t* row
    cdef float* out
    sums_ = np.zeros((rows.shape[0], n), np.float32)
    cdef float[:, ::1] sums = sums_
    with nogil:
        for i in range(rows.shape[0]):
            out = &sums[i, 0]
            for t in range(rows.shape[1]):
                if rows[i, t] >= 0:
                    lpcfg_prefetch(&weights[rows[i, t], 0])
            for t in range(rows.shape[1]):
                if rows[i, t] >= 0:
                    row = &weights[rows[i, t], 0]
                    for c in range(n):
                        out[c] += row[c]
    return sums_


def descend(
    const int32_t[:, ::1] rows,
    const float[:, ::1] gradients,
    float[:, ::1] weights,
    float[:, ::1] squares,
    float rate,
    float least,
):
    """Take a step of AdaGrad (Duchi et al. 2011) for each feature of each item, in place, one after the other.

    rows (int32, (n_items, n_templates)): Rows of features, -1 for none.
    gradients (float32, (n_items, n_classes)): The gradient of the loss by each item's sums.
    weights, squares (float32, (n_features, n_classes)): The weights, and their sums of squared gradients, above 0.
    rate (float): The learning rate.
    least (float): Items whose gradients are all smaller are left out.
    """
    cdef Py_ssize_t i, t, c, n = weights.shape[1]
    cdef float most
    cdef float* weight
    cdef float* square
    cdef const float* gradient
    with nogil:
        for i in range(rows.shape[0]):
            gradient = &gradients[i, 0]
            most = 0
            for c in range(n):
                if fabsf(gradient[c]) > most:
                    most = fabsf(gradient[c])
            if most < least:
                continue
            for t in range(rows.shape[1]):
                if rows[i, t] < 0:
                    continue
                weight, square = &weights[rows[i, t], 0], &squares[rows[i, t], 0]
                for c in range(n):
                    square[c] += gradient[c] * gradient[c]
                    weight[c] -= rate * gradient[c] / sqrtf(square[c])
