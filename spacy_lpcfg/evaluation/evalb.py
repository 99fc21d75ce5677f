"""EVALB in Python: labelled brackets and tags of parsed trees against gold trees.

The scores equal those of evalb.c by Sekine and Collins (1997), with the repair of quotation marks by Ellis (2006).
Differences:

1. Sizes have no limit (evalb.c: 200 words, 200 brackets, 20 quotation marks, lines of 4,999 bytes).
2. MAX_ERROR does not end the evaluation (evalb.c exits silently, without the totals).
3. Unbalanced parentheses, gold and test files of different lengths, and bad parameter files raise errors.
4. F1 is 0 where precision and recall are 0 (evalb.c has nan, and so has `reference_table`).

As in evalb.c, error sentences (the test tree has other words than the gold tree) and skipped sentences (the test tree
has no words) are counted, but are part of no score: look at `n_error` and `n_skipped` before you believe the F1 of a
parser that fails on some sentences.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from spacy_lpcfg.checks import counted
from spacy_lpcfg.evaluation.evalb_params import COLLINS, Params
from spacy_lpcfg.evaluation.evalb_sentence import (
    PRF,
    SentenceScore,
    SentenceTrees,
    Status,
    score_sentence,
)
from spacy_lpcfg.evaluation.evalb_totals import Totals
from spacy_lpcfg.trees.brackets import parse_trees
from spacy_lpcfg.trees.errors import TreebankError
from spacy_lpcfg.trees.lines import read_lines
from spacy_lpcfg.trees.tree import Tree

__all__ = [
    "COLLINS",
    "PRF",
    "Evaluation",
    "Params",
    "SentenceScore",
    "Status",
    "Totals",
    "evaluate",
    "read_evalb",
    "score_sentence",
]

LENGTHS = (10, 20, 30, 40)
"""Upper limits of the ranges of sentence length."""


@dataclass(frozen=True)
class Evaluation:
    """EVALB scores of all sentences, as `evaluate` returns them.

    sentences (list of SentenceScore): Scores of the sentences, in the order of the trees.
    params (Params): The settings of the comparison.
    """

    sentences: list[SentenceScore]
    params: Params = COLLINS

    def total(self, max_length: int | None = None) -> Totals:
        """Sum up the scores of all sentences, or of sentences whose gold tree has at most `max_length` words.

        max_length (int or None): The maximum of `SentenceScore.length`; None for all sentences.
        """
        return Totals.of(score for score in self.sentences if max_length is None or score.length <= max_length)

    def scores(self) -> dict[str, float]:
        """Return the scores over sentences of all lengths, by name.

        RETURNS (dict of str to float): Percentages (0 to 100) over the valid sentences, and numbers of sentences:
            - evalb_p, evalb_r, evalb_f: precision, recall and F1 of brackets;
            - complete_match: share of sentences whose brackets all match;
            - tag_acc: share of words with the gold tag;
            - n_sentences, n_error, n_skipped (int): numbers of all, error and skipped sentences.
        """
        total = self.total()
        return {
            "evalb_p": total.precision,
            "evalb_r": total.recall,
            "evalb_f": total.fmeasure,
            "complete_match": total.complete_match,
            "tag_acc": total.tag_accuracy,
            "n_sentences": total.n_sentences,
            "n_error": total.n_error,
            "n_skipped": total.n_skipped,
        }

    def per_label(self) -> dict[str, PRF]:
        """Return bracket counts by label (see `SentenceScore.labels`), in alphabetical order."""
        labels: dict[str, PRF] = {}
        for score in self.sentences:
            for label, counts in score.labels.items():
                labels[label] = labels.get(label, PRF()) + counts
        return dict(sorted(labels.items()))

    def per_length(self) -> dict[str, Totals]:
        """Return totals over the sentences in each range of lengths (see `SentenceScore.length`).

        RETURNS (dict of str to Totals): Keys are "1-10", "11-20" and so on, and finally ">40"; a range
            without sentences is left out.
        """
        names = [*(f"{low + 1}-{high}" for low, high in pairwise((0, *LENGTHS))), f">{LENGTHS[-1]}"]
        ranges: dict[str, list[SentenceScore]] = {name: [] for name in names}
        for score in self.sentences:
            ranges[names[bisect_left(LENGTHS, score.length)]].append(score)
        return {name: Totals.of(scores) for name, scores in ranges.items() if scores}

    def confusions(self) -> dict[tuple[str, str], int]:
        """Count brackets with the right words and a wrong label, by gold and test label.

        RETURNS (dict of (str, str) to int): Counts by gold and test label (see
            `SentenceScore.confusions`), in descending order.
        """
        counts: Counter[tuple[str, str]] = Counter()
        for score in self.sentences:
            counts.update(score.confusions)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def evaluate(golds: Iterable[SentenceTrees], tests: Iterable[SentenceTrees], params: Params = COLLINS) -> Evaluation:
    """Compute the EVALB scores of test trees against gold trees, one to one.

    golds, tests (iterable of (Tree, sequence of Tree, or None)): The tree or trees of each sentence, as for
        `score_sentence`; None or () for a sentence without a tree.
    params (Params): The settings of the comparison.
    RETURNS (Evaluation): The scores of every sentence.
    RAISES (ValueError): If there are not as many test trees as gold trees.
    """
    golds, tests = list(golds), list(tests)
    if len(golds) != len(tests):
        raise ValueError(
            f"Gold has {counted(len(golds), 'tree')} and test has {len(tests)}, but each gold tree needs its test "
            "tree. For a sentence without a parse, the file of the parser has an empty line."
        )
    return Evaluation([score_sentence(*pair, params) for pair in zip(golds, tests, strict=True)], params)


def read_evalb(path: str | os.PathLike[str]) -> Iterator[tuple[Tree, ...]]:
    """Read a file of trees with one sentence per line, as EVALB does.

    path (path): A file of trees in parentheses, plain or compressed, as for `read_trees`.
    YIELDS (tuple of Tree): The trees on a line; an empty tuple for a line without words, which stands for a sentence
        without a tree.
    RAISES (TreebankError): If a line does not consist of complete trees, and as for `read_trees`.
    """
    for number, line in enumerate(read_lines(path), start=1):
        try:
            trees = tuple(parse_trees([line])) if line.strip("() \t\r\n") else ()
        except TreebankError as error:
            raise TreebankError(error.message, path=os.fspath(path), line=number) from None
        yield trees
