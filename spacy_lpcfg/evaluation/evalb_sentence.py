"""EVALB for one sentence: the brackets, crossings and tags of a test tree against its gold tree."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import accumulate

from spacy_lpcfg.checks import shown
from spacy_lpcfg.evaluation.evalb_params import COLLINS, Params
from spacy_lpcfg.trees.tree import Span, Tree

SentenceTrees = Tree | Sequence[Tree] | None
"""One line of an EVALB file: a tree, several side by side, or nothing."""

_FUNCTION = re.compile("[-=]")


def percent(count: float, total: float) -> float:
    """Return `count` as a percentage of `total`; 0 if the total is 0."""
    return 100.0 * count / total if total else 0.0


@dataclass(frozen=True)
class PRF:
    """Counts of matched items, with precision, recall and F1 in percent; adding two of them adds their counts.

    matched (int): Number of items that agree.
    n_gold, n_test (int): Numbers of items in the gold trees, and in the trees of the parser.
    """

    matched: int = 0
    n_gold: int = 0
    n_test: int = 0

    def __add__(self, other: PRF) -> PRF:
        return PRF(self.matched + other.matched, self.n_gold + other.n_gold, self.n_test + other.n_test)

    @property
    def precision(self) -> float:
        return percent(self.matched, self.n_test)

    @property
    def recall(self) -> float:
        return percent(self.matched, self.n_gold)

    @property
    def fmeasure(self) -> float:
        """F1, the harmonic mean of precision and recall; 0 if both are 0."""
        p, r = self.precision, self.recall
        return 2 * p * r / (p + r) if p + r else 0.0


class Status(IntEnum):
    """The status of a sentence, as in the column `Stat.` of EVALB's report."""

    VALID = 0
    ERROR = 1
    SKIPPED = 2


@dataclass(frozen=True)
class SentenceScore:
    """The comparison of a test tree with its gold tree. Only valid sentences have counts other than `length`.

    length (int): Number of words of the gold tree, without words with a tag in `Params.deleted_for_length`.
    status (Status): Valid, error (other words than gold) or skipped (no words in the test tree).
    n_words (int): Number of words that are not deleted.
    n_correct_tags (int): Number of these words whose tag agrees with the gold tag.
    n_crossing (int): Number of test brackets that cross a gold bracket.
    labels (dict of str to PRF): Counts of brackets by label, whose function labels are cut off unless
        `Params.functions`. A test bracket that matches through an equivalence (or unlabelled) counts under the label of
        its gold bracket.
    confusions (dict of (str, str) to int): Number of pairs of unmatched brackets over the same words, by
        (gold label, test label); brackets are paired one to one in pre-order.
    reason (str): The reason why a sentence is not valid; "" if it is.
    """

    length: int
    status: Status
    n_words: int = 0
    n_correct_tags: int = 0
    n_crossing: int = 0
    labels: dict[str, PRF] = field(default_factory=dict)
    confusions: dict[tuple[str, str], int] = field(default_factory=dict)
    reason: str = ""

    @property
    def brackets(self) -> PRF:
        """Bracket counts over all labels."""
        return sum(self.labels.values(), PRF())

    @property
    def is_complete(self) -> bool:
        """Whether the sentence is valid and all its brackets match (its tags need not)."""
        counts = self.brackets
        return self.status == Status.VALID and counts.matched == counts.n_gold == counts.n_test


def score_sentence(gold: SentenceTrees, test: SentenceTrees, params: Params = COLLINS) -> SentenceScore:
    """Compare the brackets and tags of two trees over the same words.

    Words with a tag in `params.deleted` are removed from both trees, then brackets that are empty or
    have a label in `params.deleted`. Unless `params.functions`, labels (not tags) are first cut at
    their first "-" or "=", so that a bracket "-LRB-" has the empty label. If the trees then differ in
    their number of words, quotation marks that were removed from only one tree are restored (see
    `Params.quotes`).

    gold (Tree, sequence of Tree, or None): The gold tree, which is not normalized here.
    test (Tree, sequence of Tree, or None): The parser's tree. For None or (), the status is
        skipped, as in EVALB.
    params (Params): The settings of the comparison.
    RETURNS (SentenceScore): The counts, or the reason why the sentence has none.
    """
    gold_side, test_side = _Side(gold, params), _Side(test, params)
    length = sum(tag not in params.deleted_for_length for tag in gold_side.tags)
    if test_side.n_counted == 0:
        return SentenceScore(length, Status.SKIPPED, reason="no words in test")
    if gold_side.n_counted != test_side.n_counted:
        _restore_quotes(gold_side, test_side)
    reason = _mismatch(gold_side, test_side, params)
    if reason:
        return SentenceScore(length, Status.ERROR, reason=reason)
    gold_tags, test_tags = gold_side.counted(gold_side.tags), test_side.counted(test_side.tags)
    gold_brackets, test_brackets = gold_side.brackets(params), test_side.brackets(params)
    labels, confusions = _match(gold_brackets, test_brackets, params)
    return SentenceScore(
        length,
        Status.VALID,
        n_words=len(gold_tags),
        n_correct_tags=sum(map(params.same_label, gold_tags, test_tags)),
        n_crossing=_count_crossing(gold_brackets, test_brackets, len(gold_tags)),
        labels=labels,
        confusions=confusions,
    )


@dataclass
class _Quote:
    """A quotation mark.

    index (int): Its index among all words.
    position (int): Number of counted words before it.
    is_deleted (bool): Whether its tag is in `Params.deleted`.
    """

    index: int
    position: int
    is_deleted: bool


class _Side:
    """Words, tags and spans of the gold or the test side; `copies` is how often each word counts (0 if deleted)."""

    def __init__(self, sentence: SentenceTrees, params: Params) -> None:
        trees = (sentence,) if isinstance(sentence, Tree) else sentence or ()
        self.words = [word for tree in trees for word in tree.words]
        self.tags = [tag for tree in trees for tag in tree.tags]
        self.copies = [int(tag not in params.deleted) for tag in self.tags]
        self.spans = [
            (offset + start, offset + end, label)
            for offset, tree in zip(accumulate(map(len, trees), initial=0), trees, strict=False)
            for start, end, label in tree.spans()
        ]
        before = accumulate(self.copies, initial=0)
        self.quotes = [
            _Quote(index, position, tag in params.deleted)
            for index, (position, tag, word) in enumerate(zip(before, self.tags, self.words, strict=False))
            if params.may_be_quote(tag, word)
        ]

    @property
    def n_counted(self) -> int:
        return sum(self.copies)

    def counted(self, items: list[str]) -> list[str]:
        """Return the words, or tags, that count; restored quotation marks may count twice."""
        return [item for item, n in zip(items, self.copies, strict=True) for _ in range(n)]

    def brackets(self, params: Params) -> list[Span]:
        """Return the brackets that count, in pre-order, with positions among the words that count."""
        before = list(accumulate(self.copies, initial=0))
        spans = [
            (before[start], before[end], label if params.functions else _FUNCTION.split(label, maxsplit=1)[0])
            for start, end, label in self.spans
        ]
        return [(start, end, label) for start, end, label in spans if start < end and not params.deletes_bracket(label)]

    def restore(self, quote: _Quote) -> None:
        """Make a deleted quotation mark count."""
        self.copies[quote.index] += 1
        for other in self.quotes:
            other.position += other.index >= quote.index


def _restore_quotes(gold: _Side, test: _Side) -> None:
    """Restore each quotation mark that one side deleted while the other side, at the same position, did not.

    Where several stand side by side, one of them may be restored twice, as in evalb.c.
    """
    for test_quote in test.quotes:
        position = test_quote.position
        for gold_quote in gold.quotes:
            if gold_quote.position == position and gold_quote.is_deleted != test_quote.is_deleted:
                if gold_quote.is_deleted:
                    gold.restore(gold_quote)
                else:
                    test.restore(test_quote)


def _mismatch(gold: _Side, test: _Side, params: Params) -> str:
    """Return the reason why two sides cannot be compared; "" if they can."""
    if gold.n_counted != test.n_counted:
        return f"{gold.n_counted} words count in gold, {test.n_counted} in test"
    for gold_word, test_word in zip(gold.counted(gold.words), test.counted(test.words), strict=True):
        if not params.same_word(gold_word, test_word):
            return f"the word {shown(gold_word)} in gold is {shown(test_word)} in test"
    return ""


def _match(gold: list[Span], test: list[Span], params: Params) -> tuple[dict[str, PRF], dict[tuple[str, str], int]]:
    """Pair brackets of equal span and label, one to one, in pre-order; then pair the remaining brackets of equal span.

    RETURNS (dict of str to PRF, dict of (str, str) to int): As `labels` and `confusions` of `SentenceScore`.
    """
    matched, n_gold, n_test = Counter[str](), Counter[str](), Counter[str]()
    waiting: dict[tuple[int, int], list[str]] = defaultdict(list)
    missed: dict[tuple[int, int], list[str]] = defaultdict(list)
    for start, end, label in test:
        waiting[start, end].append(label)
    for start, end, label in gold:
        n_gold[label] += 1
        rivals = waiting[start, end]
        for i, rival in enumerate(rivals):
            if not params.labeled or params.same_label(label, rival):
                del rivals[i]
                matched[label] += 1
                n_test[label] += 1
                break
        else:
            missed[start, end].append(label)
    n_test.update(label for rivals in waiting.values() for label in rivals)
    scores = {label: PRF(matched[label], n_gold[label], n_test[label]) for label in n_gold | n_test}
    return scores, Counter(
        pair for words, labels in missed.items() for pair in zip(labels, waiting[words], strict=False)
    )


def _count_crossing(gold: list[Span], test: list[Span], n_words: int) -> int:
    """Count the test brackets that cross a gold bracket: they overlap, but neither contains the other."""
    first_start = list(range(n_words + 1))  # start of the longest gold bracket that ends here
    last_end = list(range(n_words + 1))  # end of the longest gold bracket that starts here
    for start, end, _ in gold:
        first_start[end] = min(first_start[end], start)
        last_end[start] = max(last_end[start], end)
    return sum(
        min(first_start[start + 1 : end], default=start) < start or max(last_end[start + 1 : end], default=end) > end
        for start, end, _ in test
    )
