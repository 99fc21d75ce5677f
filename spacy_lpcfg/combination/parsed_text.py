"""Trees that a model gives to raw text, for others to learn from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from spacy_lpcfg.chart.settings import ChartSettings
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.parsing.result import PARSED
from spacy_lpcfg.trees.transforms import escape_tokens
from spacy_lpcfg.trees.tree import Tree


class ScoredTree(NamedTuple):
    """A tree with the treebank's root label, and the mean posterior of its brackets."""

    tree: Tree
    certainty: float


def parse_text(
    learned: ParsingModel, text: Iterable[Sequence[str]], max_words: int, *, n_jobs: int = 1
) -> Iterator[ScoredTree]:
    """Yield the trees of the sentences over which a model has a tree.

    The trees of a combination are trees of its first grammar, so that students learn no rules that the treebank lacks.

    text (iterable of sequence of str): Sentences as words.
    max_words (int): Longer sentences are left out, as are those of one word.
    n_jobs (int): Threads, as in joblib.
    """
    parse = learned.parser(**learned.usable(chart=_FAST, search=_NARROW)).forest_mbr
    known, root_label = learned.words, learned.root_label
    sentences = (escape_tokens(words, known=known) for words in text if 1 < len(words) <= max_words)
    for parsed in Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(map(delayed(parse), sentences)):
        if parsed.status == PARSED and len(parsed.spans):
            yield ScoredTree(Tree(root_label, (parsed.tree,)), float(parsed.span_scores.mean()))


def most_certain(parsed: Sequence[ScoredTree], share: float) -> list[ScoredTree]:
    """Return the share of trees that are the most certain, at least one, in the order they came."""
    order = np.argsort([-sentence.certainty for sentence in parsed], kind="stable")
    return [parsed[i] for i in np.sort(order[: max(1, round(share * len(parsed)))])]


_FAST = ChartSettings(
    threshold=1e-4,
    edge_threshold=5e-5,
    beam=2e-3,
    tag_threshold=3e-3,
    boundary_threshold=0.005,
    cascade=1e-3,
)
_NARROW = BeamSettings(beam=10)
