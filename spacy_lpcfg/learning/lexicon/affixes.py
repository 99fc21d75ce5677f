"""Selection of the signatures of unknown words: endings that predict the tags of words better than shorter endings.

Signatures form chains, from one ending to a shorter one (`affix_backoff`). From the shortest on, an ending becomes a
signature if it predicts the tags of its rare words better than the nearest shorter ending that was selected: if the
log-likelihood of these tags grows by more than `COST` times the BIC penalty (Schwarz 1978). The penalty is half the
logarithm of the number of words, for each tag but one. `COST` is above 1 because a signature needs parameters for
latent states too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import log

from spacy_lpcfg.words.signatures import UNKNOWN, affix_backoff, is_signature

FEWEST = 40
"""Minimum number of tokens of rare words under a signature."""
COST = 3.0


def chosen_affixes(tags: Mapping[tuple[str, bool], Mapping[str, int]]) -> frozenset[str]:
    """Select the signatures whose rare words differ in their tags from the words of the next broader signature.

    tags (mapping): For each key (rare word, whether it opens the sentence) a mapping from tags to counts.
    RETURNS (frozenset of str): The selected names of `affix_backoff`, and `UNKNOWN`.
    """
    chains: dict[tuple[str, bool], list[str]] = {}
    counts: dict[str, Counter[str]] = {}
    for key, tag_counts in tags.items():
        chain = chains[key] = [name for name in reversed(affix_backoff(*key)) if is_signature(name)]
        for name in chain:
            counts.setdefault(name, Counter()).update(tag_counts)
    selected = {UNKNOWN}
    decided: set[str] = set()
    for depth in range(1, max(map(len, chains.values()), default=1)):
        for chain in chains.values():
            if depth < len(chain) and chain[depth] not in decided:
                name = chain[depth]
                decided.add(name)
                nearest = next(broader for broader in reversed(chain[:depth]) if broader in selected)
                if _gain(counts[name], counts[nearest]) > 0:
                    selected.add(name)
    return frozenset(selected)


def _gain(counts: Counter[str], broader: Counter[str]) -> float:
    """Return the log-likelihood, in nats, that a signature gains over a broader one, less `COST` times the BIC penalty.

    The result is -1 if the signature has fewer than `FEWEST` tokens, or all tokens of the broader one.

    counts, broader (Counter): Counts of tags under the signature, and under the broader one.
    """
    n, n_all = counts.total(), broader.total()
    if n < FEWEST or n == n_all:
        return -1.0
    better = sum(count * (log(count / n) - log(broader[tag] / n_all)) for tag, count in counts.items())
    return better - COST * max(1, len(counts) - 1) * log(n) / 2
