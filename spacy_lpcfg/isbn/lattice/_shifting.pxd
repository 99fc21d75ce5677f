cimport cython
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.lattice._graph cimport Graph
from spacy_lpcfg.isbn.lattice._scores cimport Scores
from spacy_lpcfg.isbn.lattice._stacks cimport Stacks
from spacy_lpcfg.isbn.lattice._types cimport Arc
from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._types cimport Model
from spacy_lpcfg.isbn.search._words cimport SentenceWords


@cython.final
cdef class Shifting:
    cdef Graph graph
    cdef Stacks stacks
    cdef Scores scores
    cdef SentenceWords words
    cdef const Model* model
    cdef vector[Arc] likely
    cdef vector[Arc] arcs                     # with tag and word
    cdef void shift(self, const vector[Arc]& shifts, double least) noexcept nogil
    cdef void shift_from(self, const Arc& arc, const float* means, const float* log_tags) noexcept nogil
