from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.search._types cimport Model, NetworkTable


cdef class Networks:
    cdef list arrays         # that the model points to
    cdef tuple labels, tags
    cdef vector[NetworkTable] tables
    cdef Model model
    cdef read_normalizers(self, normalizers, padded_networks)
    cdef NetworkTable table(self, network)
    cdef void number_relations(self, latent, decisions)
    cdef const float* floats(self, array)
    cdef const int32_t* integers(self, array)
    cdef const uint8_t* bytes(self, array)
