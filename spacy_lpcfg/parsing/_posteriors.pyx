"""Posteriors of brackets and tags from those of other models: means, and mirror images."""

from libc.stdint cimport int64_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector


cdef struct Place:
    int64_t start
    int64_t end
    size_t i       # among those that are to be ordered


def mean_brackets(list brackets, list weights):
    """Weighted means of the probabilities of brackets.

    brackets (list of dict of (start, end, label) to float): those of each model; weights (list of float): of the models.
    RETURNS (dict of (start, end, label) to float): none above 1; in pre-order, and over the same words in the order in
        which the models, one after the other, have them first.
    """
    return in_pre_order(weighted_sums(brackets, weights))


def mean_tags(list tags, list weights):
    """Weighted means of the probabilities of tags.

    tags (list of list of dict of str to float): the tags of the words, by model; weights (list of float): of the models.
    RETURNS (list of dict of str to float): (n_words,); none above 1.
    """
    return [weighted_sums(list(of_word), weights) for of_word in zip(*tags, strict=True)]


cdef dict weighted_sums(list values, list weights):
    cdef dict sums = {}
    cdef double weight, p
    cdef object found
    cdef dict each
    for each, weight in zip(values, weights, strict=True):
        for key, p in each.items():
            found = sums.get(key)
            sums[key] = weight * p if found is None else <double>found + weight * p
    for key, p in sums.items():
        if p > 1:
            sums[key] = 1.0
    return sums


def mirrored_brackets(dict brackets, int64_t n_words):
    """Those of the sentence read from right to left, in pre-order; over the same words labels keep their order."""
    cdef int64_t start, end
    cdef dict found = {}
    for (start, end, label), p in brackets.items():
        found[n_words - end, n_words - start, label] = p
    return in_pre_order(found)


cdef dict in_pre_order(dict brackets):
    """The same in pre-order; what is over the same words keeps its order."""
    cdef list keys = list(brackets), values = list(brackets.values())
    cdef vector[Place] places
    cdef Place place
    cdef dict ordered = {}
    cdef tuple bracket
    for place.i, bracket in enumerate(keys):
        place.start, place.end = bracket[0], bracket[1]
        places.push_back(place)
    sort(places.begin(), places.end(), &is_before)
    for place in places:
        ordered[keys[place.i]] = values[place.i]
    return ordered


cdef bint is_before(const Place& x, const Place& y) noexcept nogil:
    if x.start != y.start:
        return x.start < y.start
    return x.end > y.end if x.end != y.end else x.i < y.i
