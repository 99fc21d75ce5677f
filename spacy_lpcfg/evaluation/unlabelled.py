"""Unlabelled bracket scores, the measure of unsupervised parsing.

Counts and F1 are those of EVALB (`PRF`), but on another set of brackets: labels, repeated brackets over a span,
brackets of one word and punctuation are ignored. Two conventions are in use, and both are computed: with the bracket of
the whole sentence (Klein and Manning 2002, Parikh et al. 2014), and without it. The former score is higher, since that
bracket is always right. Sentences of one word count in neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from spacy_lpcfg.evaluation.evalb_sentence import PRF
from spacy_lpcfg.trees.tree import Tree

Bracket = tuple[int, int]
LENGTHS = (10, 20, 40)
"""Limits of sentence length that papers report, in words without punctuation."""


def counted_brackets(brackets: Iterable[Bracket], keep: Sequence[bool]) -> frozenset[Bracket]:
    """Remove words that do not count, such as punctuation, from brackets, and drop brackets of fewer than two words.

    brackets (iterable of (start, end)): Half-open spans of the words of a sentence.
    keep (sequence of bool, (n_words,)): Whether each word counts.
    RETURNS (frozenset of (start, end)): The distinct brackets, as half-open spans of the words that count.
    """
    before = list(accumulate(map(int, keep), initial=0))
    spans = ((before[start], before[end]) for start, end in brackets)
    return frozenset((start, end) for start, end in spans if end - start > 1)


@dataclass(frozen=True)
class UnlabelledScore:
    """The comparison of a bracketing of a sentence with the gold bracketing.

    length (int): Number of words that count.
    inner (PRF): Bracket counts without the bracket of the whole sentence.
    with_sentence (PRF): Bracket counts with the bracket of the whole sentence.
    """

    length: int
    inner: PRF
    with_sentence: PRF


def score_brackets(gold: Iterable[Bracket], test: Iterable[Bracket], keep: Sequence[bool]) -> UnlabelledScore:
    """Count the unlabelled brackets of a sentence that match, without and with the bracket of the whole sentence.

    gold, test (iterable of (start, end)): Half-open spans of words, in any order. The bracket of the whole sentence
        may be missing: `inner` never counts it, and `with_sentence` counts it as matched if two or more words
        count.
    keep (sequence of bool, (n_words,)): Whether each word counts; punctuation does not.
    RETURNS (UnlabelledScore): The counts.
    """
    length = sum(map(bool, keep))
    whole = {(0, length)} if length > 1 else set()
    gold_spans, test_spans = (counted_brackets(spans, keep) - whole for spans in (gold, test))
    inner = PRF(len(gold_spans & test_spans), len(gold_spans), len(test_spans))
    return UnlabelledScore(length, inner, inner + PRF(len(whole), len(whole), len(whole)))


def score_trees(gold: Tree, test: Tree | None, keep: Sequence[bool]) -> UnlabelledScore | None:
    """Compare the brackets of two trees over the same words; labels and the words themselves are ignored.

    gold (Tree): The gold tree.
    test (Tree or None): A tree over all words of the gold tree, or over the words that count; None stands for a tree
        without brackets.
    keep (sequence of bool): Whether each word of the gold tree counts.
    RETURNS (UnlabelledScore or None): The counts; None if the test tree has another number of words.
    """
    length = sum(map(bool, keep))
    n_words = length if test is None else len(test)
    if n_words not in (length, len(keep)):
        return None
    of_test = keep if n_words == len(keep) else [True] * length
    sides = ((gold, keep), (test, of_test))
    gold_spans, test_spans = (
        counted_brackets([(start, end) for start, end, _ in tree.spans()] if tree else [], counts)
        for tree, counts in sides
    )
    return score_brackets(gold_spans, test_spans, [True] * length)


@dataclass(frozen=True)
class UnlabelledTotals:
    """Unlabelled scores over many sentences, in percent.

    n_sentences (int): Number of sentences of two or more counted words.
    inner, with_sentence (PRF): Bracket counts of all sentences, without and with the brackets of whole sentences.
    sentence_f, sentence_f_with_sentence (float): Mean of the F1 of each sentence, without and with the brackets of
        whole sentences. A sentence without gold brackets has F1 100 if no bracket was predicted, and 0 otherwise.
    """

    n_sentences: int
    inner: PRF
    with_sentence: PRF
    sentence_f: float
    sentence_f_with_sentence: float

    @property
    def f(self) -> float:
        """Corpus-level F1, in percent, without the brackets of whole sentences."""
        return self.inner.fmeasure

    @property
    def f_with_sentence(self) -> float:
        """Corpus-level F1, in percent, with the brackets of whole sentences."""
        return self.with_sentence.fmeasure

    def as_dict(self) -> dict[str, float]:
        """Return the scores that `SCORES` names: the number of sentences, and four F1 in percent."""
        return {name: getattr(self, name) for name in SCORES}


SCORES = ("n_sentences", "f", "f_with_sentence", "sentence_f", "sentence_f_with_sentence")


def unlabelled_totals(scores: Iterable[UnlabelledScore], max_length: int | None = None) -> UnlabelledTotals:
    """Sum up the scores of sentences of at least 2 counted words.

    scores (iterable of UnlabelledScore): The scores of the sentences; shorter sentences are ignored.
    max_length (int or None): The maximum number of counted words of a sentence; None for no maximum.
    """
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
