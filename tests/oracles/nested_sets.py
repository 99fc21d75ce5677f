"""Sets of brackets that nest, one after the other, and their probabilities as sums over all of them."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

Bounds = tuple[int, int]


def nested_sets(bounds: Sequence[Bounds]) -> Iterator[tuple[int, ...]]:
    """Every set of brackets, by their places, of which no two cross; over the same words there may be several."""
    for n in range(len(bounds) + 1):
        for some in combinations(range(len(bounds)), n):
            if not any(cross(bounds[i], bounds[k]) for i, k in combinations(some, 2)):
                yield some


def cross(one: Bounds, other: Bounds) -> bool:
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def log_partition(bounds: Sequence[Bounds], scores: Sequence[float]) -> float:
    """ln of the sum of exp(sum of scores) over all sets."""
    return math.log(sum(math.exp(sum(scores[i] for i in some)) for some in nested_sets(bounds)))


def marginals(bounds: Sequence[Bounds], scores: Sequence[float]) -> list[float]:
    """The share of the sets that have each bracket."""
    log_z, found = log_partition(bounds, scores), [0.0] * len(bounds)
    for some in nested_sets(bounds):
        p = math.exp(sum(scores[i] for i in some) - log_z)
        for i in some:
            found[i] += p
    return found
