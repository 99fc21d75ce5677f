"""Sums over the sentences of an EVALB evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spacy_lpcfg.evaluation.evalb_sentence import PRF, SentenceScore, Status, percent


@dataclass(frozen=True)
class Totals:
    """Sums over the sentences of an evaluation, and the percentages that EVALB reports.

    Numbers other than the first three are about valid sentences only.

    n_sentences (int): Number of all sentences.
    n_error, n_skipped (int): Numbers of error and of skipped sentences, see `SentenceScore.status`.
    brackets (PRF): Counts of brackets of all labels.
    n_complete (int): Number of sentences whose brackets all match.
    n_no_crossing, n_few_crossing (int): Numbers of sentences in which no test bracket, or at most 2 of them, cross a
        gold bracket.
    n_crossing (int): Number of test brackets that cross a gold bracket.
    n_words, n_correct_tags (int): Numbers of words that count, and of words with the gold tag.
    """

    n_sentences: int
    n_error: int
    n_skipped: int
    brackets: PRF
    n_complete: int
    n_no_crossing: int
    n_few_crossing: int
    n_crossing: int
    n_words: int
    n_correct_tags: int

    @classmethod
    def of(cls, sentences: Iterable[SentenceScore]) -> Totals:
        """Sum up the scores of sentences; all sums are 0 if there are no sentences."""
        sentences = list(sentences)
        valid = [score for score in sentences if score.status == Status.VALID]
        return cls(
            n_sentences=len(sentences),
            n_error=sum(score.status == Status.ERROR for score in sentences),
            n_skipped=sum(score.status == Status.SKIPPED for score in sentences),
            brackets=sum((score.brackets for score in valid), PRF()),
            n_complete=sum(score.is_complete for score in valid),
            n_no_crossing=sum(score.n_crossing == 0 for score in valid),
            n_few_crossing=sum(score.n_crossing <= 2 for score in valid),
            n_crossing=sum(score.n_crossing for score in valid),
            n_words=sum(score.n_words for score in valid),
            n_correct_tags=sum(score.n_correct_tags for score in valid),
        )

    @property
    def n_valid(self) -> int:
        return self.n_sentences - self.n_error - self.n_skipped

    @property
    def precision(self) -> float:
        return self.brackets.precision

    @property
    def recall(self) -> float:
        return self.brackets.recall

    @property
    def fmeasure(self) -> float:
        return self.brackets.fmeasure

    @property
    def complete_match(self) -> float:
        return percent(self.n_complete, self.n_valid)

    @property
    def average_crossing(self) -> float:
        """Mean number of crossing brackets per sentence; all other averages of this class are percentages."""
        return self.n_crossing / self.n_valid if self.n_valid else 0.0

    @property
    def no_crossing(self) -> float:
        return percent(self.n_no_crossing, self.n_valid)

    @property
    def few_crossing(self) -> float:
        return percent(self.n_few_crossing, self.n_valid)

    @property
    def tag_accuracy(self) -> float:
        return percent(self.n_correct_tags, self.n_words)
