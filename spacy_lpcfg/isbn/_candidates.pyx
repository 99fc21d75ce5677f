"""The tags and outcomes that a network considers for the words of a sentence, gathered from what it knows of each."""

import numpy as np

from libc.stdint cimport int32_t, uint8_t


def candidate_columns(list words, list tags, list unknown):
    """The candidates of the words of a sentence under some tags each, as columns of `Candidates` in their order.

    words (list of KnownWord), tags (list of sequence of int): (n_words,).
    unknown (list of int): (n_tags,); the outcome of the unknown word of each tag.
    """
    cdef int n_words = len(words), n_candidates = sum(map(len, tags)), i, tag, c = 0
    offsets_, signature_offsets_ = np.zeros((2, n_words + 1), dtype=np.int32)
    tags_, outcomes_ = np.empty((2, n_candidates), dtype=np.int32)
    log_factors_ = np.zeros(n_candidates, dtype=np.float32)
    has_signatures_ = np.empty(n_candidates, dtype=np.uint8)
    cdef int32_t[::1] offsets = offsets_, signature_offsets = signature_offsets_, of_tags = tags_, outcomes = outcomes_
    cdef float[::1] log_factors = log_factors_
    cdef uint8_t[::1] has_signatures = has_signatures_
    cdef list signature_rows = []
    cdef dict known
    cdef bint is_frequent, has_any
    for i in range(n_words):
        word = words[i]
        known, is_frequent, has_any = word.outcomes, word.is_frequent, False
        for tag in tags[i]:
            outcome = known.get(tag)
            if outcome is None:
                log_factors[c] = word.log_factors[tag]
            of_tags[c], outcomes[c] = tag, unknown[tag] if outcome is None else outcome
            has_signatures[c] = outcome is None or not is_frequent
            has_any |= has_signatures[c]
            c += 1
        if has_any:
            signature_rows += word.signature_rows
        offsets[i + 1], signature_offsets[i + 1] = c, len(signature_rows)
    return (offsets_, tags_, outcomes_, log_factors_, has_signatures_, signature_offsets_,
            np.array(signature_rows, dtype=np.int32))
