"""Stacks as numbers: of each open node the label, the first word and the labels of its first and last child.

Equal stacks have equal numbers, and share what is below. Leaves have their tags.
"""

from libc.stdint cimport int32_t, uint64_t

from spacy_lpcfg.isbn.lattice._masks cimport Masks
from spacy_lpcfg.isbn.lattice._types cimport Node
from spacy_lpcfg.isbn.search._types cimport LEAF, NONE, ROOT

cdef enum:
    SMALLEST_TABLE = 1 << 10

cdef uint64_t SPREAD = 0x1E3779B97F4A7C15    # odd, so that products keep all bits apart


cdef class Stacks:
    """The stacks of one sentence at a time.

    masks (Masks): the brackets that may be built.
    """

    def __init__(self, Masks masks):
        self.masks = masks

    cdef int32_t start(self) noexcept nogil:
        """Begin a sentence: the stack of the root alone."""
        cdef Node root
        self.nodes.clear()
        self.table.assign(SMALLEST_TABLE, NONE)
        root.below, root.label, root.start, root.first, root.last = NONE, ROOT, 0, NONE, NONE
        root.depth, root.reach = 0, self.masks.n_words
        return self.number_of(root)

    # Steps

    cdef int32_t shift(self, int32_t stack, int n_words, int tag) noexcept nogil:
        """The stack after a Shift of the word that comes after so many."""
        cdef Node leaf = self.nodes[stack]
        leaf.below, leaf.label, leaf.start = stack, LEAF, n_words
        leaf.first = leaf.last = self.masks.n_labels + tag
        leaf.depth += 1
        return self.number_of(leaf)

    cdef int32_t attach(self, int32_t stack) noexcept nogil:
        cdef Node node = self.nodes[self.nodes[stack].below]
        node.last = self.as_child(self.nodes[stack])
        return self.number_of(node)

    cdef int32_t modify(self, int32_t stack) noexcept nogil:
        cdef Node node = self.nodes[self.nodes[stack].below]
        node.first, node.last = node.label, self.as_child(self.nodes[stack])
        return self.number_of(node)

    cdef int32_t project(self, int32_t stack, int label) noexcept nogil:
        cdef Node node = self.nodes[stack]
        node.first = node.last = self.as_child(node)
        node.label = label
        node.reach = min(self.nodes[node.below].reach, self.masks.last_end(node.start, label))
        return self.number_of(node)

    # Numbers

    cdef int32_t number_of(self, Node node) noexcept nogil:
        """The number of a node, which is new if there is no equal one."""
        cdef size_t place = self.place_of(node)
        if self.table[place] != NONE:
            return self.table[place]
        self.nodes.push_back(node)
        if 2 * self.nodes.size() > self.table.size():
            self.grow()
        else:
            self.table[place] = <int32_t>self.nodes.size() - 1
        return <int32_t>self.nodes.size() - 1

    cdef size_t place_of(self, const Node& node) noexcept nogil:
        """The place of a node in the table, or the free place for it."""
        cdef size_t place = hash_of(node) & (self.table.size() - 1)
        while self.table[place] != NONE and not is_equal(self.nodes[self.table[place]], node):
            place = (place + 1) & (self.table.size() - 1)
        return place

    cdef void grow(self) noexcept nogil:
        cdef size_t i
        self.table.assign(2 * self.table.size(), NONE)
        for i in range(self.nodes.size()):
            self.table[self.place_of(self.nodes[i])] = <int32_t>i


cdef bint is_equal(const Node& x, const Node& y) noexcept nogil:
    return (x.below == y.below and x.label == y.label and x.start == y.start and x.first == y.first
            and x.last == y.last)


cdef uint64_t hash_of(const Node& node) noexcept nogil:
    cdef uint64_t found = <uint64_t>(node.below + 1)
    found = found * SPREAD + <uint64_t>(node.label + 2)
    found = found * SPREAD + <uint64_t>node.start
    found = found * SPREAD + <uint64_t>(node.first + 1)
    found = found * SPREAD + <uint64_t>(node.last + 1)
    return found ^ found >> 29
