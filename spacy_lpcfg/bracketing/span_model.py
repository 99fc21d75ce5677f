"""Scores of spans by their yields and their contexts, as a frozen table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.bracketing._spans import ADVERB, MODIFIER, NOMINAL, OPENS_NONE, VERB, SpanScores
from spacy_lpcfg.bracketing.sentences import Plain
from spacy_lpcfg.bracketing.symbols import N_SYMBOLS, Symbols
from spacy_lpcfg.bracketing.top import TopScores, heuristic_split
from spacy_lpcfg.cached import cached_property

_FLAGS = dict.fromkeys(("ADJ", "DET", "NOUN", "NUM", "PROPN"), NOMINAL | MODIFIER)
_FLAGS |= {"PRON": MODIFIER, "CCONJ": OPENS_NONE, "INTJ": OPENS_NONE, "ADV": ADVERB, "AUX": VERB, "VERB": VERB}


@dataclass(frozen=True, eq=False)
class SpanModel:
    """How much likelier yields and contexts are of a bracket than of any other span, in natural logarithms.

    symbols (Symbols): what is seen of words.
    keys (int64, (n,)), values (float32, (n,)): scores of yields and contexts, as `_spans.span_keys` makes them.
    unseen (float64, (2,)): those of a yield and of a context that are not among the keys.
    top (TopScores or None): the rule of the top bracket; None for the paper's.
    is_flat (bool): whether brackets are left out of the best tree as treebanks leave them out: those that begin with a
        coordinator or an interjection, those of a verb phrase with the adverb before it, and those within groups of
        nominal words, `the [old house]`.
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
            flags[1 : len(tags) + 1] = [_FLAGS.get(tag, 0) for tag in tags]
        of_yield, of_context = self.unseen
        return SpanScores(self.keys, self.values, of_yield, of_context, flags)

    def split(self, sentence: Plain, symbols: bytes) -> int:
        """The top bracket; 0 for the one of the best tree."""
        return heuristic_split(sentence) if self.top is None else self.top.split(sentence, symbols)

    def spans(self, symbols: bytes, segments: np.ndarray, split: int) -> tuple[list[tuple[int, int]], list[float]]:
        """Brackets of a sentence of two or more words, without the whole of it, and their scores from 0 to 1.

        symbols (bytes), segments (int32): of its n words. split (int): the top bracket, or 0.
        """
        return self._table.decode(symbols, segments, split)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_table"}
