"""Comparison of the tokenization of trees with a grammar's: how frequent hyphens and quotation marks are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.evaluation.conventions import Difference
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.words.signatures import is_signature, token_shape

_RATIO = 4.0  # of two rates that differ
_FEWEST = 10  # tokens that one of the two sides has or would have
_DASHES = ("-", "\N{EN DASH}", "\N{NON-BREAKING HYPHEN}")


def mark_kind(name: str) -> str | None:
    """Return a phrase for the kind of hyphen or quotation mark in a word or signature; None if it has neither."""
    if is_signature(name):
        return _HYPHENED if "dash" in name.strip("<>").replace(":", " ").split() else None
    if name in _DASHES:
        return "hyphens that are words"
    if name == '"':
        return 'quotation marks " that do not open or close'
    if name in ("``", "''"):
        return "quotation marks `` and ''"
    return _HYPHENED if token_shape(name) == "dash" and name[0].isalnum() and name[-1].isalnum() else None


_HYPHENED = "words with hyphens"


def spelling_differences(grammar: Grammar, golds: Sequence[Tree]) -> list[Difference]:
    """Return the kinds of hyphens and quotation marks that are far more or less frequent than a grammar expects.

    A kind counts if it differs by a factor of 4, and if the trees have, or should have, at least 10 tokens of it.

    grammar (Grammar): The grammar.
    golds (sequence of Tree): Trees of the text to compare.
    RETURNS (list of Difference): A difference for each such kind; [] if there are none.
    """
    expected, n_words = _expected_shares(grammar), sum(map(len, golds))
    counts, examples = Counter[str](), dict[str, str]()
    for gold in golds:
        for word in gold.words:
            if kind := mark_kind(word):
                counts[kind] += 1
                examples.setdefault(kind, word)
    differences = []
    for kind, share in expected.items():
        n, n_expected = counts[kind], share * n_words
        if max(n, n_expected) >= _FEWEST and not 1 / _RATIO <= (n + 1) / (n_expected + 1) <= _RATIO:
            rates = f"{1000 * n / n_words:.1f} in 1,000 words, {1000 * share:.1f} in those of the model"
            differences.append(Difference(f"{kind}: {rates}", n, examples.get(kind, "none")))
    return differences


def _expected_shares(grammar: Grammar) -> dict[str, float]:
    """Return the expected share of each kind of `mark_kind` among a grammar's words, as a fraction."""
    lexicon = grammar.lexicon
    per_row = lexicon.words_per_row(grammar.tag_of)
    rates = lexicon.weights * per_row * grammar.symbol_weights[lexicon.symbols]
    rates[np.isin(lexicon.row_terminals, lexicon.tag_terminals)] = 0.0
    of_terminals = np.bincount(lexicon.row_terminals, rates, len(lexicon.terminals))
    shares: dict[str, float] = dict.fromkeys(filter(None, map(mark_kind, (_DASHES[0], '"', "``", "a-b"))), 0.0)
    for name, rate in zip(lexicon.terminals, of_terminals.tolist(), strict=True):
        if kind := mark_kind(name):
            shares[kind] += rate / of_terminals.sum()
    return shares
