from libc.stdint cimport int32_t

from spacy_lpcfg.isbn.search._history cimport History
from spacy_lpcfg.isbn.search._words cimport SentenceWords

cdef tuple constituents_of(History history, SentenceWords words, int32_t branch, tuple labels)
