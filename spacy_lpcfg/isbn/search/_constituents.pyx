"""The last stage of the search: from the steps of a derivation to the constituents and the tags that they build."""

cimport cython
from libc.stdint cimport int32_t, int64_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._types cimport MODIFY, NONE, PROJECT, SHIFT
from spacy_lpcfg.isbn.search._words cimport SentenceWords

cdef enum:
    MAX_NODES = (1 << 21) - 1    # words or nodes of a sentence that orders can tell apart
    OPEN = -1


cdef tuple constituents_of(History history, SentenceWords words, int32_t branch, tuple labels):
    """The constituents that a derivation has built, and its tags.

    branch (int): the last one of the derivation.
    RETURNS (tuple of (start, end, label)): in pre-order; end is -1 of constituents that are still open.
    RETURNS (list of int): numbers of the words' tags.
    """
    cdef vector[int32_t] path
    cdef Nodes nodes = Nodes()
    cdef int32_t action, n_words = 0
    cdef int k
    cdef list tags = []
    while branch != NONE:
        path.push_back(branch)
        branch = history.branches[branch].previous
    for k in range(<int>path.size() - 1, -1, -1):
        action = history.branches[path[k]].action
        if action == SHIFT:
            tags.append(words.tags[history.branches[path[k]].candidate])
            nodes.stack.push_back(-1 - n_words)
            n_words += 1
        else:
            nodes.take(action, n_words)
    return nodes.in_pre_order(labels), tags


@cython.final
cdef class Nodes:
    """The constituents of a derivation, numbered as they are projected, and its stack."""

    cdef vector[int32_t] starts
    cdef vector[int32_t] ends        # OPEN until they are known
    cdef vector[int32_t] labels
    cdef vector[int32_t] stack       # nodes; -1 - i for word i

    cdef int32_t pop(self):
        cdef int32_t node = self.stack.back()
        self.stack.pop_back()
        return node

    cdef int32_t start_of(self, int32_t node):
        return -1 - node if node < 0 else self.starts[node]

    cdef void take(self, int action, int n_words):
        """Attach, Modify or Project after so many words."""
        cdef int32_t below, top = self.pop()
        if top >= 0:
            self.ends[top] = n_words
        if action == MODIFY:
            below = self.pop()
            self.ends[below] = self.start_of(top)
            self.project(self.labels[below], below)
        elif action >= PROJECT:
            self.project(action - PROJECT, top)

    cdef void project(self, int label, int32_t child):
        """Put a node over its first child."""
        self.stack.push_back(<int32_t>self.labels.size())
        self.labels.push_back(label)
        self.starts.push_back(self.start_of(child))
        self.ends.push_back(OPEN)

    cdef tuple in_pre_order(self, tuple names):
        """The constituents as (start, end, label)."""
        cdef vector[int64_t] places
        cdef int64_t place
        cdef int node
        for node in range(<int>self.labels.size()):
            places.push_back(place_of(self.starts[node], self.ends[node], node))
        sort(places.begin(), places.end())
        found = []
        for place in places:
            node = node_at(place)
            found.append((self.starts[node], self.ends[node], names[self.labels[node]]))
        return tuple(found)


cdef int64_t place_of(int64_t start, int64_t end, int64_t node) noexcept nogil:
    """A number by which nodes are in pre-order: of those over the same words the later is above."""
    return start << 42 | (MAX_NODES - end if end >= 0 else 0) << 21 | (MAX_NODES - node)


cdef int node_at(int64_t place) noexcept nogil:
    return <int>(MAX_NODES - (place & MAX_NODES))
