"""The immutable span model: scores of a span's yield (its words) and context (its neighbours)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.bracketing._spans import SpanScores
from spacy_lpcfg.bracketing.extensions.flat_brackets import FLAGS
from spacy_lpcfg.bracketing.extensions.learned_top import TopScores
from spacy_lpcfg.bracketing.extensions.symbols import N_SYMBOLS, Symbols
from spacy_lpcfg.bracketing.paper.top import heuristic_split
from spacy_lpcfg.bracketing.sentences import Plain
from spacy_lpcfg.cached import cached_property


@dataclass(frozen=True, eq=False)
class SpanModel:
    """Scores of spans; a span's score is the sum of the log-odds of its yield and of its context, in nats.

    The log-odds of the key of a yield or context are log P(key | bracket) - log P(key | other span).

    symbols (Symbols): The encoding of words.
    keys (int64, (n,)), values (float32, (n,)): Log-odds of yields and contexts by their keys from `_spans.span_keys`.
    unseen (float64, (2,)): Log-odds of unseen yields and of unseen contexts.
    top (TopScores or None): The rule for the top split (division of the sentence in two); None for the paper's rule.
    is_flat (bool): Whether brackets that treebanks do not annotate are removed from the best tree: brackets that begin
        with a coordinator or an interjection, over an adverb with the verb phrase after it, and within groups of
        nominal words, as in `the [old house]`.
    """

    symbols: Symbols
    keys: np.ndarray
    values: np.ndarray
    unseen: np.ndarray
    top: TopScores | None
    is_flat: bool

    @cached_property
    def _table(self) -> SpanScores:
        flags = np.zeros(N_SYMBOLS, np.uint8)
        if self.is_flat:
            tags = self.symbols.tags()
            flags[1 : len(tags) + 1] = [FLAGS.get(tag, 0) for tag in tags]
        of_yield, of_context = self.unseen
        return SpanScores(self.keys, self.values, of_yield, of_context, flags)

    def split(self, sentence: Plain, symbols: bytes) -> int:
        """Return the word position of the top split; 0 if the rule finds none, so that the best tree decides.

        sentence (Plain): The sentence without punctuation.
        symbols (bytes): The symbols of its words, from `Symbols.encode`.
        """
        return heuristic_split(sentence) if self.top is None else self.top.split(sentence, symbols)

    def spans(self, symbols: bytes, segments: np.ndarray, split: int) -> tuple[list[tuple[int, int]], list[float]]:
        """Compute the brackets of a sentence, except for the whole sentence.

        symbols (bytes), segments (int32, (n,)): Symbols and segments of two or more words.
        split (int): Word position of the top split; 0 if the best tree decides it.
        RETURNS (list of (start, end), list of float): The brackets as ranges of words, and their scores from 0 to 1.
        """
        return self._table.decode(symbols, segments, split)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_table"}
