"""Scorers of trees on Docs, labelled (EVALB) and unlabelled, with the names of scores that spaCy's commands print."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example

from spacy_lpcfg.bracketing.tags import is_punctuation
from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.doc.sentences import sentence_bounds, words_of
from spacy_lpcfg.components.doc.tree_group import KEY
from spacy_lpcfg.evaluation.evalb import COLLINS, PRF, Params, evaluate
from spacy_lpcfg.evaluation.unlabelled import SCORES, UnlabelledScore, score_brackets, unlabelled_totals
from spacy_lpcfg.trees import Tree

_NAMES = ("p", "r", "f")


def make_constituency_scorer(params: Path | None = None) -> Callable[..., dict[str, Any]]:
    """Create the scorer `spacy-lpcfg.constituency_scorer.v1`, which computes EVALB scores.

    params (path or None): An EVALB parameter file; None for the settings of COLLINS.prm.
    RETURNS (callable): `score_constituents` with these settings; it can be pickled.
    """
    loaded = COLLINS if params is None else Params.from_file(params)
    return partial(score_constituents, params=loaded)


def score_constituents(
    examples: Iterable[Example],
    *,
    spans_key: str = KEY,
    gold_key: str | None = None,
    params: Params = COLLINS,
    **_: Any,
) -> dict[str, Any]:
    """Score predicted trees against gold trees by EVALB.

    Tokens and sentences of the two Docs may differ, but not the text. Words are split where the other Doc has a token
    boundary; sentences are joined where the other Doc has a single sentence.

    examples (iterable of Example): Examples; those whose reference lacks trees are skipped.
    spans_key (str): Key of the predicted trees in `Doc.spans`.
    gold_key (str or None): Key of the gold trees; None for `spans_key`.
    params (Params): Settings of EVALB.
    RETURNS (dict): Fractions from 0 to 1, None if no reference has trees; and two numbers.
        evalb_p, evalb_r, evalb_f: Labelled precision, recall and F1.
        complete_match: Fraction of sentences with all brackets right.
        tag_acc: Fraction of tags that are right.
        spans_<key>_p, spans_<key>_r, spans_<key>_f: The same as evalb_p, evalb_r, evalb_f.
        spans_<key>_per_type: A dict of "p", "r" and "f" for each label.
        evalb_n_sentences: Number of sentences.
        evalb_n_error: Number of sentences that could not be scored (see `evaluate`).
    RAISES (ValueError): If the Docs of an Example differ in more than tokens and white space.
    """
    pairs = _all_pairs(examples, gold_key or spans_key, spans_key)
    evaluation = evaluate([gold for gold, _ in pairs], [test for _, test in pairs], params)
    totals = evaluation.scores()
    scores: dict[str, Any] = {
        name: totals[name] / 100 if pairs else None
        for name in ("evalb_p", "evalb_r", "evalb_f", "complete_match", "tag_acc")
    }
    scores.update({f"spans_{spans_key}_{name}": scores[f"evalb_{name}"] for name in _NAMES})
    scores[f"spans_{spans_key}_per_type"] = (
        {label: _fractions(prf) for label, prf in evaluation.per_label().items()} if pairs else None
    )
    scores["evalb_n_sentences"] = totals["n_sentences"]
    scores["evalb_n_error"] = totals["n_error"]
    return scores


def _fractions(prf: PRF) -> dict[str, float]:
    return dict(zip(_NAMES, (prf.precision / 100, prf.recall / 100, prf.fmeasure / 100), strict=True))


def make_bracket_scorer(gold_key: str = KEY) -> Callable[..., dict[str, Any]]:
    """Create the scorer `spacy-lpcfg.bracket_scorer.v1`, which computes unlabelled F1.

    gold_key (str): Key of the gold trees in `Doc.spans`.
    RETURNS (callable): `score_unlabelled` with this key; it can be pickled.
    """
    return partial(score_unlabelled, gold_key=gold_key)


def score_unlabelled(
    examples: Iterable[Example], *, spans_key: str = "brackets", gold_key: str = KEY, **_: Any
) -> dict[str, Any]:
    """Compute unlabelled precision, recall and F1 of predicted brackets against gold trees.

    Labels and punctuation (by the gold tags) are ignored. Tokens and sentences may differ: see `score_constituents`.

    examples (iterable of Example): Examples; those without gold trees are skipped.
    spans_key (str): Key of the predicted brackets in `Doc.spans`.
    gold_key (str): Key of the gold trees.
    RETURNS (dict): Fractions from 0 to 1, None if no sentence counts; and a number.
        brackets_f: F1 over all brackets except brackets of whole sentences.
        brackets_f_with_sentence: F1 over all brackets, including brackets of whole sentences.
        brackets_sentence_f, brackets_sentence_f_with_sentence: The same two, as the mean of the F1 of each sentence.
        spans_<key>_p, spans_<key>_r, spans_<key>_f: Precision, recall and F1, without brackets of whole sentences.
        brackets_n_sentences: Number of sentences that count, which have two or more words besides punctuation.
    RAISES (ValueError): If the Docs of an Example differ in more than tokens and white space.
    """
    totals = unlabelled_totals(_unlabelled(*pair) for pair in _all_pairs(examples, gold_key, spans_key))
    values: dict[str, Any] = {f"brackets_{name}": value for name, value in totals.as_dict().items()}
    scores = {name: value / 100 for name, value in values.items() if not name.endswith(SCORES[0])}
    scores.update({f"spans_{spans_key}_{name}": value for name, value in _fractions(totals.inner).items()})
    known = scores if totals.n_sentences else dict.fromkeys(scores)
    return {**known, f"brackets_{SCORES[0]}": totals.n_sentences}


def _unlabelled(golds: Sequence[Tree], tests: Sequence[Tree]) -> UnlabelledScore:
    """Score the sentences of a stretch of text as one sentence."""
    tags = [tag for tree in golds for tag in tree.tags]
    words = [word for tree in golds for word in tree.words]
    keep = [not is_punctuation(tag, word) for tag, word in zip(tags, words, strict=True)]
    return score_brackets(_brackets(golds), _brackets(tests), keep)


def _brackets(forest: Sequence[Tree]) -> Iterator[tuple[int, int]]:
    for offset, tree in zip(accumulate(map(len, forest), initial=0), forest, strict=False):
        yield from ((offset + start, offset + end) for start, end, _ in tree.spans())


def _all_pairs(examples: Iterable[Example], gold_key: str, test_key: str) -> list[tuple[list[Tree], list[Tree]]]:
    return [pair for eg in examples if gold_key in eg.reference.spans for pair in _pairs(eg, gold_key, test_key)]


def _pairs(eg: Example, gold_key: str, test_key: str) -> Iterator[tuple[list[Tree], list[Tree]]]:
    """Yield the gold and predicted trees of each shortest stretch of text that has whole sentences on both sides."""
    gold, test = _Side(eg.reference, gold_key), _Side(eg.predicted, test_key)
    if gold.text != test.text:
        raise ValueError(
            f"The Docs of an Example have different text: {eg.reference.text[:50]!r} and "
            f"{eg.predicted.text[:50]!r}. They may differ in tokens and white space only."
        )
    cuts = sorted({*gold.word_ends, *test.word_ends})
    ends = {*gold.sentence_ends} & {*test.sentence_ends}
    yield from zip(gold.stretches(cuts, ends), test.stretches(cuts, ends), strict=True)


class _Side:
    """The trees of one of the two Docs of an Example, with character positions in its text without white space."""

    def __init__(self, doc: Doc, key: str) -> None:
        positions = [i for bounds in sentence_bounds(doc) for i in words_of(doc, *bounds)]
        words = ["".join(doc[i].text.split()) for i in positions]
        self.trees = [tree for tree in trees(doc, key) if tree is not None]
        self.text = "".join(words)
        self.word_ends = list(accumulate(map(len, words)))
        self.sentence_ends = [self.word_ends[n - 1] for n in accumulate(map(len, self.trees))]

    def stretches(self, cuts: list[int], ends: set[int]) -> Iterator[list[Tree]]:
        """Yield the trees of each stretch of text between sentence ends of both sides, with words cut into pieces.

        cuts (list of int): The characters after which a word of either side ends.
        ends (set of int): The characters after which a sentence of both sides ends.
        """
        pieces = [self.text[start:end] for start, end in pairwise([0, *cuts])]
        firsts = [bisect_right(cuts, end) for end in [0, *self.word_ends]]
        words = (pieces[first:last] for first, last in pairwise(firsts))
        forest: list[Tree] = []
        for tree, end in zip(self.trees, self.sentence_ends, strict=True):
            forest += _cut(tree, words)
            if end in ends:
                yield forest
                forest = []


def _cut(tree: Tree, words: Iterator[list[str]]) -> list[Tree]:
    """Replace each word of a tree by leaves for its pieces; return [tree], or its children if it has no label.

    words (iterator of list of str): The pieces of each word.
    """

    def build(node: Tree, below: list[list[Tree]]) -> list[Tree]:
        if node.is_leaf:
            return [Tree(node.label, word=piece) for piece in next(words)]
        children = [child for pieces in below for child in pieces]
        return [Tree(node.label, children)] if node.label else children

    return tree.fold(build)
