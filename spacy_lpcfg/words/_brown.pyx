"""The exchange algorithm for word classes (Martin, Liermann and Ney 1998): moves one word at a time to its best."""

from libc.math cimport log
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from spacy_lpcfg.vectors cimport fill


cdef inline double n_log_n(int64_t n) noexcept nogil:
    return n * log(<double>n) if n > 1 else 0


cdef inline double growth(int64_t n, int64_t by) noexcept nogil:
    """Return the difference of n log n at n + by and at n."""
    return n_log_n(n + by) - n_log_n(n) if by else 0


cdef struct Word:
    int64_t itself     # times that the word follows itself
    int64_t left       # times that it is a first word of two, and a second one
    int64_t right


cdef int neighbours(const int32_t[::1] offsets, const int32_t[::1] words, const int64_t[::1] counts,
                    const int32_t[::1] classes, int word, vector[int64_t]& by_class, vector[int]& used,
                    int64_t* total, int64_t* itself) except -1 nogil:
    """Count how often each class stands beside a word, the word itself excluded; `used` are the classes that do."""
    cdef int k, c
    total[0] = itself[0] = 0
    used.clear()
    for k in range(offsets[word], offsets[word + 1]):
        total[0] += counts[k]
        if words[k] == word:
            itself[0] = counts[k]
            continue
        c = classes[words[k]]
        if by_class[c] == 0:
            used.push_back(c)
        by_class[c] += counts[k]


cdef void move(int64_t[:, ::1] pairs, int64_t[::1] first, int64_t[::1] second, const vector[int64_t]& after,
               const vector[int64_t]& before, const Word& word, int g, int sign) noexcept nogil:
    """Add a word to class g (sign 1), or remove it (-1)."""
    cdef int c, n = pairs.shape[0]
    for c in range(n):
        pairs[g, c] += sign * after[c]
        pairs[c, g] += sign * before[c]
    pairs[g, g] += sign * word.itself
    first[g] += sign * word.left
    second[g] += sign * word.right


cdef double gain(const int64_t[:, ::1] pairs, const int64_t[::1] first, const int64_t[::1] second,
                 const vector[int64_t]& after, const vector[int]& used_after, const vector[int64_t]& before,
                 const vector[int]& used_before, const Word& word, int g) noexcept nogil:
    """Return the log-likelihood gained by adding a word without a class to class g."""
    cdef double total = growth(pairs[g, g], after[g] + before[g] + word.itself)
    cdef size_t k
    cdef int c
    for k in range(used_after.size()):
        c = used_after[k]
        if c != g:
            total += growth(pairs[g, c], after[c])
    for k in range(used_before.size()):
        c = used_before[k]
        if c != g:
            total += growth(pairs[c, g], before[c])
    return total - growth(first[g], word.left) - growth(second[g], word.right)


def exchange(
    const int32_t[::1] after_offsets, const int32_t[::1] after_words, const int64_t[::1] after_counts,
    const int32_t[::1] before_offsets, const int32_t[::1] before_words, const int64_t[::1] before_counts,
    int32_t[::1] classes, int64_t[:, ::1] pairs, int64_t[::1] first, int64_t[::1] second, int n_classes,
):
    """Make a sweep: move every word in turn to the class of the highest likelihood; return the number that moved.

    after_*, before_* (compressed rows): Counts of the words after, and before, each word; the last word is the sentence
        boundary, which stays in its class, the last one.
    classes (int32, (n_words,)): Class of each word; pairs (int64, (C + 1, C + 1)): Class bigram counts; first, second
        (int64, (C + 1,)): Their sums over second and over first classes; all changed in place.
    n_classes (int): C, the class of the boundary not counted.
    """
    cdef int n_words = classes.shape[0] - 1, n = n_classes + 1, w, g, best, moved = 0
    cdef size_t k
    cdef vector[int64_t] after, before
    cdef vector[int] used_after, used_before
    cdef Word word
    cdef double value, most
    with nogil:
        fill(after, n, 0)
        fill(before, n, 0)
        for w in range(n_words):
            neighbours(after_offsets, after_words, after_counts, classes, w, after, used_after, &word.left,
                       &word.itself)
            neighbours(before_offsets, before_words, before_counts, classes, w, before, used_before, &word.right,
                       &word.itself)
            best = classes[w]
            move(pairs, first, second, after, before, word, best, -1)
            most = gain(pairs, first, second, after, used_after, before, used_before, word, best) + 1e-9
            for g in range(n_classes):
                value = gain(pairs, first, second, after, used_after, before, used_before, word, g)
                if value > most:
                    most, best = value, g
            move(pairs, first, second, after, before, word, best, 1)
            moved += best != classes[w]
            classes[w] = best
            for k in range(used_after.size()):
                after[used_after[k]] = 0
            for k in range(used_before.size()):
                before[used_before[k]] = 0
    return moved
