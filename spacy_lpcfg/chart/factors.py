"""Evidence as factors of the items of a chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.arrays import read_only
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.evidence import Evidence


class Factors(NamedTuple):
    """The factors with which evidence multiplies the items of a chart of n words, and its probabilities of tags.

    spans (float64, (n (n + 1) / 2, n_columns)): The factors of each span [i, j), in the order (0, 1), (0, 2), ...
    columns (int32, (n_symbols,)): The column of `spans` for each symbol.
    tags (float64, (n, n_tags)): The factors of the tags of each word.
    tag_probabilities (float64, (n, n_tags)): P(tag | word).
    symbol_logs (float32, (n, n_preterminals)): For each preterminal, ln P(tag | word) of its tag plus the log-odds of
        its labels over the word.
    """

    spans: np.ndarray
    columns: np.ndarray
    tags: np.ndarray
    tag_probabilities: np.ndarray
    symbol_logs: np.ndarray


class FactorTable:
    """Mapping from the symbols of a grammar to the chains and tags of evidence, to compute factors.

    The factor of symbol a over [i, j) is (p(chain of a) / p(no bracket)) ** `span_power`, and 1 for symbols without
    labels. The factor of a tag of a word is p(tag) ** `tag_power`. A chain that the evidence lacks counts as its first
    label; a label or tag that the evidence lacks has the log-odds or log-probability `FLOOR`.

    grammar (Grammar): The grammar.
    chains (sequence of tuple of str): The unary chains of the columns of `Evidence.spans`.
    tags (sequence of str): The tags of the columns of `Evidence.tags`.
    span_power, tag_power (float): The exponents, at least 0.
    """

    def __init__(
        self,
        grammar: Grammar,
        chains: Sequence[tuple[str, ...]],
        tags: Sequence[str],
        span_power: float,
        tag_power: float,
    ) -> None:
        self._powers = span_power, tag_power
        ids = {chain: i for i, chain in enumerate(chains)}
        n = len(chains)
        columns = [ids.get(chain, ids.get(chain[:1], n + 1)) if chain else n for chain in grammar.label_chains]
        self._columns = read_only(np.array(columns, np.int32))
        tag_ids = {tag: i for i, tag in enumerate(tags)}
        self._tag_columns = read_only(np.array([tag_ids.get(tag, len(tags)) for tag in grammar.tags]))
        self._tag_of = grammar.tag_of

    def factors(self, evidence: Evidence) -> Factors:
        """Compute the factors of a sentence from its evidence."""
        span_power, tag_power = self._powers
        n_spans, n_words = len(evidence.spans), len(evidence.tags)
        neutral, floor = np.zeros((n_spans, 1), np.float32), np.full((n_spans, 1), FLOOR, np.float32)
        odds = np.concatenate([evidence.spans, neutral, floor], axis=1)
        logs = np.concatenate([evidence.tags, floor[:n_words]], axis=1)[:, self._tag_columns]
        starts = np.arange(n_words)
        of_words = odds[starts * n_words - starts * (starts - 1) // 2][:, self._columns[: len(self._tag_of)]]
        return Factors(
            np.exp(span_power * odds).astype(np.float64, order="C"),  # single precision is several times faster
            self._columns,
            np.exp(tag_power * logs, dtype=np.float64, order="C"),
            np.exp(logs, dtype=np.float64, order="C"),
            np.ascontiguousarray(logs[:, self._tag_of] + of_words, dtype=np.float32),
        )


def with_listed(
    tag_factors: np.ndarray, extra: np.ndarray, listed: np.ndarray, unseen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Apply a tag dictionary to the factors of emissions; return new `tag_factors` and `extra`.

    If a word has listed tags, factors of its other tags are multiplied by `UNLISTED`. A listed tag that the word was
    never seen with gets its factor in `unseen`.

    tag_factors (float64, (n_words, n_tags)): Factors of the emissions under each tag.
    extra (float64, (n_words, n_tags)): Factors of tags that the words were never seen with.
    listed (bool, (n_words, n_tags)): Whether the dictionary lists each tag for each word.
    unseen (float64, (n_words, n_tags)): Factors of tags that the words were never seen with, if they are listed.
    """
    scales = np.where(listed.any(axis=1, keepdims=True) & ~listed, UNLISTED, 1.0)
    return tag_factors * scales, np.where(listed, unseen, extra * scales)


FLOOR = -8.0
"""Log-odds of labels, and log-probability of tags, that evidence knows nothing of."""
UNLISTED = 0.001
"""Factor of the tags of a word for which a tag dictionary lists other tags, measured in docs/performance.md."""
