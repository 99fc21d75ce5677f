"""Inside-outside of a latent-variable PCFG over observed trees, for the E step of EM.

Every inside vector is scaled to sum 1, and every outside vector so that its dot product with the inside vector of its
node is 1. Numbers then stay near 1 in trees of any size, and the posterior of a node's states is the elementwise
product of its two vectors. The logarithms of the scales add up to the log-likelihood.
"""

from libc.math cimport log
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from spacy_lpcfg.simd cimport add_outer, add_rows, mix_rows, outer, pass_down

cdef float LEAST = 1e-15    # smaller entries of an inside vector become 0, as denormal numbers are slow


def inside_outside(const int32_t[::1] order, const int32_t[::1] parent, const int32_t[::1] left,
                   const int32_t[::1] right, const int32_t[::1] n_states, const int64_t[::1] starts, const float[::1] tensors,
                   float[:, ::1] inside, float[:, ::1] outside, float[::1] counts):
    """Compute the inside and outside vectors of whole trees, and the expected counts of their rules.

    order (int32, (n,)): The nodes of these trees, children before parents.
    parent, left, right (int32, (n_nodes,)): Nodes, -1 for none.
    n_states (int32, (n_nodes,)): Number of states of each node.
    starts (int64, (n_nodes,)): Offset of each inner node's tensor in `tensors`.
    inside (float32, (n_nodes, m)): q(x | a, h) at leaves, else 0; scaled and filled in place.
    outside (float32, (n_nodes, m)): pi(a, h) at roots, else 0; scaled and filled in place.
    counts (float32, like tensors): The expected count of each entry, divided by the entry, is added in place.
    RETURNS (float): Log-likelihood of the trees; not finite if one of them has no probability.
    """
    cdef vector[float] pairs
    cdef double log_likelihood = 0.0, log_scale
    cdef Py_ssize_t i
    pairs.resize(inside.shape[1] * inside.shape[1])
    with nogil:
        for i in range(order.shape[0]):
            log_likelihood += go_up(order[i], left, right, n_states, starts, tensors, inside, pairs.data())
        for i in range(order.shape[0] - 1, -1, -1):
            log_scale = go_down(order[i], left, right, n_states, starts, tensors, inside, outside,
                                pairs.data(), counts)
            if parent[order[i]] < 0:
                log_likelihood += log_scale
    return log_likelihood


cdef double go_up(int32_t node, const int32_t[::1] left, const int32_t[::1] right, const int32_t[::1] n_states,
                  const int64_t[::1] starts, const float[::1] tensors, float[:, ::1] inside,
                  float* pairs) noexcept nogil:
    """Compute the inside vector of a node from those of its children; return the logarithm of its scale."""
    cdef int32_t l = left[node], r = right[node]
    cdef int h, m = n_states[node]
    cdef float total = 0.0
    if l >= 0:
        outer(pairs, &inside[l, 0], &inside[r, 0], 1.0, n_states[l], n_states[r])
        add_rows(&inside[node, 0], &tensors[starts[node]], pairs, m, n_states[l] * n_states[r])
    for h in range(m):
        total += inside[node, h]
    for h in range(m):
        inside[node, h] = inside[node, h] / total if inside[node, h] > LEAST * total else 0.0
    return log(total)


cdef double go_down(int32_t node, const int32_t[::1] left, const int32_t[::1] right, const int32_t[::1] n_states,
                    const int64_t[::1] starts, const float[::1] tensors, const float[:, ::1] inside,
                    float[:, ::1] outside, float* pairs, float[::1] counts) noexcept nogil:
    """Scale the outside vector of a node, pass it down to its children, count the rule; return the log of the scale."""
    cdef int32_t l = left[node], r = right[node]
    cdef int h, m = n_states[node]
    cdef float total = 0.0
    cdef float rule_total
    for h in range(m):
        total += outside[node, h] * inside[node, h]
    for h in range(m):
        outside[node, h] /= total
    if l >= 0:
        mix_rows(pairs, &tensors[starts[node]], &outside[node, 0], m, n_states[l] * n_states[r])
        rule_total = pass_down(&outside[l, 0], &outside[r, 0], pairs, &inside[l, 0], &inside[r, 0],
                               1.0, n_states[l], n_states[r])
        outer(pairs, &inside[l, 0], &inside[r, 0], 1.0, n_states[l], n_states[r])
        add_outer(&counts[starts[node]], &outside[node, 0], pairs, 1 / rule_total, m, n_states[l] * n_states[r])
    return log(total)
