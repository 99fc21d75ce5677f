"""Unlabelled scores, by which brackets that were learned without a treebank are compared.

Beside EVALB (`evalb.py`), whose counts and F1 these are (`PRF`), differs the set of brackets: labels do not count, nor
does how often a span is bracketed, nor brackets of one word, nor words that are punctuation. Two conventions are in
use, and both are computed: with the bracket of the whole sentence (Klein and Manning 2002, Parikh et al. 2014), and
without. The former is higher, since that bracket is always right. Sentences that are left with one word count in
neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from spacy_lpcfg.evaluation.evalb_sentence import PRF

Bracket = tuple[int, int]
LENGTHS = (10, 20, 40)
"""The limits of sentence length that papers report; words that count."""


def counted_brackets(brackets: Iterable[Bracket], keep: Sequence[bool]) -> frozenset[Bracket]:
    """The brackets that count, over the words that count.

    brackets (iterable of (start, end)): Half-open spans of the words of a sentence.
    keep (sequence of bool, (n_words,)): Whether each word counts; punctuation does not.
    RETURNS (frozenset of (start, end)): Each span of two or more words that count, by the positions among those.
    """
    before = list(accumulate(map(int, keep), initial=0))
    spans = ((before[start], before[end]) for start, end in brackets)
    return frozenset((start, end) for start, end in spans if end - start > 1)


@dataclass(frozen=True)
class UnlabelledScore:
    """How the brackets of a sentence compare with the gold brackets.

    length (int): Words that count.
    inner (PRF): Without the bracket of the whole sentence.
    with_sentence (PRF): With it.
    """

    length: int
    inner: PRF
    with_sentence: PRF


def score_brackets(gold: Iterable[Bracket], test: Iterable[Bracket], keep: Sequence[bool]) -> UnlabelledScore:
    """Compare two bracketings of a sentence.

    gold, test (iterable of (start, end)): Half-open spans of its words, in any order. Of both the whole sentence's
        bracket counts, whether it is among them or not.
    keep (sequence of bool, (n_words,)): Whether each word counts.
    RETURNS (UnlabelledScore): The counts.
    """
    length = sum(map(bool, keep))
    whole = {(0, length)} if length > 1 else set()
    gold_spans, test_spans = (counted_brackets(spans, keep) - whole for spans in (gold, test))
    inner = PRF(len(gold_spans & test_spans), len(gold_spans), len(test_spans))
    return UnlabelledScore(length, inner, inner + PRF(len(whole), len(whole), len(whole)))


@dataclass(frozen=True)
class UnlabelledTotals:
    """The scores of some sentences, in percent.

    n_sentences (int): Those of two or more words.
    inner, with_sentence (PRF): Brackets of all sentences together, without those of the whole sentence and with them.
    sentence_f, sentence_f_with_sentence (float): Mean of the sentences' F1. One is 100 where a sentence has no bracket
        to find and none was found, and 0 where only one of these holds.
    """

    n_sentences: int
    inner: PRF
    with_sentence: PRF
    sentence_f: float
    sentence_f_with_sentence: float

    @property
    def f(self) -> float:
        """F1 of the brackets of all sentences together."""
        return self.inner.fmeasure

    @property
    def f_with_sentence(self) -> float:
        """The same with the brackets of the whole sentence."""
        return self.with_sentence.fmeasure

    def as_dict(self) -> dict[str, float]:
        """The scores by name."""
        return {name: getattr(self, name) for name in SCORES}


SCORES = ("n_sentences", "f", "f_with_sentence", "sentence_f", "sentence_f_with_sentence")


def unlabelled_totals(scores: Iterable[UnlabelledScore], max_length: int | None = None) -> UnlabelledTotals:
    """Sum up sentences, of at most `max_length` words if that is not None."""
    counted = [s for s in scores if s.length > 1 and (max_length is None or s.length <= max_length)]
    inner, with_sentence = [s.inner for s in counted], [s.with_sentence for s in counted]
    return UnlabelledTotals(
        len(counted),
        sum(inner, PRF()),
        sum(with_sentence, PRF()),
        _mean_fmeasure(inner),
        _mean_fmeasure(with_sentence),
    )


def _mean_fmeasure(counts: Sequence[PRF]) -> float:
    if not counts:
        return 0.0
    return sum(prf.fmeasure if prf.n_gold or prf.n_test else 100.0 for prf in counts) / len(counts)
