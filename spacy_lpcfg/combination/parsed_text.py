"""Trees that a model gives to raw text, for others to learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from spacy_lpcfg.chart.ensemble import parser_of as chart_parser_of
from spacy_lpcfg.chart.parser import Settings
from spacy_lpcfg.combination.combined import Combined, Learned, known_words
from spacy_lpcfg.combination.parser import CombinedParser
from spacy_lpcfg.grammar.ensemble import Ensemble
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.isbn.parser import BeamSettings
from spacy_lpcfg.parsing.result import PARSED, Parse
from spacy_lpcfg.trees.transforms import escape_tokens
from spacy_lpcfg.trees.tree import Tree


class ScoredTree(NamedTuple):
    """A tree with the treebank's root label, and the mean posterior of its brackets."""

    tree: Tree
    certainty: float


def parse_text(
    learned: Learned, text: Iterable[Sequence[str]], most_words: int, *, n_jobs: int = 1
) -> Iterator[ScoredTree]:
    """The trees of those sentences that a model can parse.

    Those of a combination are the nearest of its first grammar, so that students have no rules to learn that the
    treebank lacks.

    text (iterable of sequence of str): sentences as words; most_words (int): of a sentence that is not left out.
    n_jobs (int): threads, as of joblib.
    """
    parse, known, root_label = _parse_by(learned), known_words(learned), learned.root_label
    kept = (escape_tokens(words, known=known) for words in text if 1 < len(words) <= most_words)
    for found in Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(map(delayed(parse), kept)):
        if found is not None and found.status == PARSED and len(found.spans):
            yield ScoredTree(Tree(root_label, (found.tree,)), float(found.span_scores.mean()))


def _parse_by(learned: Learned) -> Callable[[Sequence[str]], Parse | None]:
    """How a model parses text: faster than a user would have it, as there is much of it."""
    if not isinstance(learned, Combined):
        return chart_parser_of(learned, settings=_FAST).parse
    parser = CombinedParser(learned, settings=_FAST, beam_settings=_NARROW)
    has_grammar = any(isinstance(member, Grammar | Ensemble) for member in learned.members)
    return parser.nearest if has_grammar else parser.parse


def most_certain(parsed: Sequence[ScoredTree], share: float) -> list[ScoredTree]:
    """The share of trees that are the most certain, at least one, in the order they came."""
    order = np.argsort([-each.certainty for each in parsed], kind="stable")
    return [parsed[i] for i in np.sort(order[: max(1, round(share * len(parsed)))])]


_FAST = Settings(
    threshold=1e-4,
    edge_threshold=5e-5,
    beam=2e-3,
    tag_threshold=3e-3,
    boundary_threshold=0.005,
    cascade=1e-3,
)
_NARROW = BeamSettings(beam=10)
