"""The steps that are still to be taken for a word, best first, and the best Shifts of it so far."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libcpp.algorithm cimport pop_heap, push_heap, sort

from spacy_lpcfg.isbn.search._types cimport NONE, Item, Shifted


cdef class Beam:
    """The agenda of the search for a word, and the beam after it.

    size (int): hypotheses that are kept.
    margin (float): as in `BeamSettings`.
    """

    def __init__(self, int size, double margin):
        self.size, self.margin = size, margin

    cdef void begin(self) noexcept nogil:
        """Begin the search for a word."""
        self.agenda.clear()
        self.shifted.clear()
        self.best_shift = -INFINITY

    cdef void put(self, double log_probability, int32_t state, int32_t action) noexcept nogil:
        """Put a step on the agenda, if it is possible."""
        cdef Item item
        if not log_probability > -INFINITY:
            return
        item.log_probability, item.state, item.action = log_probability, state, action
        self.agenda.push_back(item)
        push_heap(self.agenda.begin(), self.agenda.end(), is_worse)

    cdef Item pop(self) noexcept nogil:
        """Take the best step from the agenda."""
        cdef Item item = self.agenda.front()
        pop_heap(self.agenda.begin(), self.agenda.end(), is_worse)
        self.agenda.pop_back()
        return item

    cdef int32_t make_room(self) noexcept nogil:
        """Drop the worst Shift of a full beam; the number of its theta, which is free now, or NONE."""
        cdef int32_t theta
        if not self.is_full():
            return NONE
        pop_heap(self.shifted.begin(), self.shifted.end(), is_better)
        theta = self.shifted.back().theta
        self.shifted.pop_back()
        return theta

    cdef void keep(self, const Shifted& new) noexcept nogil:
        """Add a Shift to a beam that has room for it."""
        self.shifted.push_back(new)
        push_heap(self.shifted.begin(), self.shifted.end(), is_better)

    cdef void sort_shifted(self) noexcept nogil:
        """Best first; they are no heap then."""
        sort(self.shifted.begin(), self.shifted.end(), is_better)


cdef bint is_worse(const Item& x, const Item& y) noexcept nogil:
    return x.log_probability < y.log_probability


cdef bint is_better(const Shifted& x, const Shifted& y) noexcept nogil:
    return x.log_probability > y.log_probability
