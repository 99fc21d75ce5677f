"""Which brackets the derivations of a sentence may build, as bits by start, end and label."""

from libc.stdint cimport int32_t, uint64_t


cdef class Masks:
    """The allowed brackets of one sentence at a time.

    n_labels (int): of the networks.
    """

    def __init__(self, int n_labels):
        self.n_labels, self.n_blocks = n_labels, (n_labels + 63) // 64

    def begin(self, int n_words, const int32_t[:, ::1] brackets):
        """Begin a sentence.

        brackets (int32, (n, 3)): start, end and label of those that are allowed; a label of -1 is any.
        RAISES (ValueError): If one is not of these words, or has no such label.
        """
        cdef int i, label
        for i in range(brackets.shape[0]):
            if not (0 <= brackets[i, 0] < brackets[i, 1] <= n_words and -1 <= brackets[i, 2] < self.n_labels):
                raise ValueError(f"Expected brackets over {n_words} words, got {tuple(brackets[i])}.")
        self.n_words = n_words
        self.closings.assign(<size_t>n_words * (n_words + 1) * self.n_blocks, 0)
        self.ends.assign(<size_t>n_words * self.n_labels, 0)
        for i in range(brackets.shape[0]):
            if brackets[i, 2] >= 0:
                self.allow(brackets[i, 0], brackets[i, 1], brackets[i, 2])
                continue
            for label in range(self.n_labels):
                self.allow(brackets[i, 0], brackets[i, 1], label)

    cdef void allow(self, int start, int end, int label) noexcept nogil:
        cdef size_t block = (<size_t>start * (self.n_words + 1) + end) * self.n_blocks + label // 64
        cdef size_t place = <size_t>start * self.n_labels + label
        self.closings[block] = self.closings[block] | <uint64_t>1 << (label % 64)
        self.ends[place] = max(self.ends[place], end)
