"""Read the trees of a Doc from `doc.spans`; `write.py` says how they are stored."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.doc.pipe_registry import find_pipe
from spacy_lpcfg.components.doc.sentences import (
    given_tags_of,
    sentence_bounds,
    sentence_sources,
    texts_of,
    words_of,
    write_tags,
)
from spacy_lpcfg.components.doc.tree_group import (
    FORMAT,
    KEY,
    PER_TOKEN,
    Attributes,
    attributes,
    group_at,
    has_trees_at,
)
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.transforms import escape_tokens

_APART = (
    "doc.spans[{!r}] has no tree of {}: Doc.from_docs put the Doc together from some with trees and some without. "
    "Parse it again, or parse each Doc before."
)
Bracket = tuple[int, int, str]
"""Start, end and label of a constituent."""


def trees(doc: Doc, key: str = KEY) -> list[Tree | None]:
    """Return the trees of a Doc, one for each sentence; None for a sentence without words.

    doc (Doc): A Doc with trees under `key`.
    key (str): Key of `doc.spans`.
    RETURNS (list of Tree or None): The trees, with words in treebank spelling (`escape_tokens`).
    RAISES (ValueError): If the Doc is not annotated, or if the spans make no tree.
    """
    sentences = [sentence_tree(doc, start, end, key) for start, end in sentence_bounds(doc)]
    return [sentence.tree() if sentence.positions else None for sentence in sentences]


def rooted_trees(doc: Doc, key: str = KEY) -> list[Tree | None]:
    """Return the trees of a Doc below the artificial root of their treebank, such as TOP, if it had one.

    Each tree also has its `source`: the ID and the text of the sentence. Arguments and errors as for `trees`.
    """
    root = check_trees(doc, key).root
    rooted = [Tree(root, [tree]) if tree and root else tree for tree in trees(doc, key)]
    return [tree and tree.with_source(source) for tree, source in zip(rooted, sentence_sources(doc), strict=True)]


@dataclass(frozen=True)
class SentenceTree:
    """The tree of one sentence as a list of brackets; positions count words of the sentence, not tokens of the Doc.

    doc (Doc): The Doc.
    key (str): Key of `doc.spans`.
    positions (tuple of int): Token position in the Doc of each word.
    tags (tuple of str): The tag of each word.
    spellings (tuple of str): The treebank's spelling of each word; "" if `escape_tokens` makes the same from the text.
    brackets (tuple of (start, end, label)): The brackets in pre-order, half-open.
    scores, tag_scores (tuple of float, or None): Posterior probabilities of the brackets, and of the words' tags.
    """

    doc: Doc
    key: str
    positions: tuple[int, ...]
    tags: tuple[str, ...]
    spellings: tuple[str, ...]
    brackets: tuple[Bracket, ...]
    scores: tuple[float, ...] | None
    tag_scores: tuple[float, ...] | None

    @cached_property
    def spelled(self) -> list[str]:
        usual = escape_tokens(texts_of(self.doc, self.positions))
        return [spelling or word for spelling, word in zip(self.spellings, usual, strict=True)]

    @cached_property
    def chains(self) -> dict[tuple[int, int], list[int]]:
        """For each constituent, as (start, end), the indices of the brackets over exactly these words, outermost first.

        Constituents are in pre-order. The whole sentence and each word are constituents; they have [] if no bracket is
        over exactly these words.
        """
        indices: dict[tuple[int, int], list[int]] = {(0, len(self.positions)): []}
        for index, (start, end, _) in enumerate(self.brackets):
            indices.setdefault((start, end), []).append(index)
        for start in range(len(self.positions)):
            indices.setdefault((start, start + 1), [])
        return dict(sorted(indices.items(), key=lambda item: (item[0][0], -item[0][1])))

    @cached_property
    def parents(self) -> dict[tuple[int, int], tuple[int, int] | None]:
        """For each constituent, as (start, end), its parent; None for the root. Constituents are in pre-order.

        RAISES (ValueError): If brackets cross.
        """
        parents: dict[tuple[int, int], tuple[int, int] | None] = {}
        above: list[tuple[int, int]] = []
        for start, end in self.chains:
            while above and above[-1][1] <= start:
                above.pop()
            if above and above[-1][1] < end:
                raise ValueError(f"The spans over words {above[-1]} and {(start, end)} cross.")
            parents[start, end] = above[-1] if above else None
            above.append((start, end))
        return parents

    @property
    def tree_probability(self) -> float | None:
        """P(tree | words) of the whole tree; None if unknown, or if sentence boundaries have changed since parsing."""
        probabilities = check_trees(self.doc, self.key).tree_probabilities
        starts = self.doc.to_array("SENT_START")[1:] == 1
        if probabilities is None or len(probabilities) != 1 + np.count_nonzero(starts):  # sentences have changed since
            return None
        probability = float(probabilities[np.count_nonzero(starts[: self.positions[0]])])
        return None if isnan(probability) else probability

    def unparsed(self) -> Doc:
        """Return the sentence as a new Doc, with the tags that it had before it was parsed."""
        first, end = self.positions[0], self.positions[-1] + 1
        alone = self.doc[first:end].as_doc()
        write_tags(alone, given_tags_of(self.doc, self.key)[first:end])
        return alone

    def posteriors(self) -> dict[Bracket, float]:
        """Parse the sentence again, and return the posterior probability of each possible bracket.

        RETURNS (dict of (start, end, label) to float): The probabilities; {} if the sentence has no words.
        RAISES (ValueError): If the component that wrote the tree no longer exists.
        """
        pipe = find_pipe(self.doc, self.key)
        if pipe is None:
            raise ValueError(
                f"The component that writes doc.spans[{self.key!r}] is not there to be asked: keep its pipeline, "
                "which shares the Doc's vocabulary, as long as you ask for alternatives."
            )
        posteriors = pipe.posteriors(self.unparsed())[0]
        return posteriors.brackets if posteriors else {}

    def span(self, start: int, end: int, label: str) -> Span:
        """Return the Span of the Doc over the words [start, end), with a label."""
        return Span(self.doc, self.positions[start], self.positions[end - 1] + 1, label)

    def tree(self, start: int = 0, end: int | None = None) -> Tree:
        """Return the tree over the words [start, end), which must be a constituent; by default the whole tree."""
        end = len(self.positions) if end is None else end
        inside = [(i - start, j - start, label) for i, j, label in self.brackets if start <= i and j <= end]
        if not self.chains[start, end] and end - start > 1:
            inside.insert(0, (0, end - start, ""))
        return Tree.from_spans(self.spelled[start:end], self.tags[start:end], inside)


def sentence_tree(doc: Doc, start: int, end: int, key: str) -> SentenceTree:
    """Return the tree of the sentence at tokens [start, end), as stored in `doc.spans[key]`.

    RAISES (ValueError): If the sentence has no tree, or as in `check_trees`.
    """
    attrs, group = check_trees(doc, key, start, end), group_at(doc, key, start, end)
    words = words_of(doc, start, end)
    if words and not has_trees_at(doc, key, words[0]):
        raise ValueError(_APART.format(key, shown(doc[start:end].text)))
    starts = _Starts(group)
    first, last = bisect_left(starts, start), bisect_left(starts, end)
    spans = [group[i] for i in range(first, last)]
    tags, spellings, scores, tag_scores = attrs.tags, attrs.spellings, attrs.scores, attrs.tag_scores
    return SentenceTree(
        doc,
        key,
        tuple(words),
        tuple(doc[i].tag_ if tags is None else tags[i] for i in words),
        tuple("" if spellings is None else spellings[i] for i in words),
        tuple((bisect_left(words, span.start), bisect_left(words, span.end), span.label_) for span in spans),
        None if scores is None else tuple(float(score) for score in scores[first:last]),
        None if tag_scores is None else tuple(float(tag_scores[i]) for i in words),
    )


class _Starts(Sequence[int]):
    """A sequence of the start positions of a group's spans, in increasing order, for bisection."""

    def __init__(self, group: SpanGroup) -> None:
        self.group = group

    def __len__(self) -> int:
        return SpanGroup.__len__(self.group)

    def __getitem__(self, index: Any) -> Any:
        return SpanGroup.__getitem__(self.group, index).start


def check_trees(doc: Doc, key: str, start: int = 0, end: int = 0) -> Attributes:
    """Return the attributes of a Doc's trees, after checking that they fit the Doc.

    key (str): Key of the trees in `doc.spans`.
    start, end (int): Tokens that are checked for changes since parsing, see `follow`.
    RAISES (ValueError): If the Doc has no trees under the key, or they have another format or do not fit its tokens.
    """
    if key not in doc.spans:
        raise ValueError(
            f"This Doc has no constituents: doc.spans has the keys {sorted(doc.spans)}, but not "
            f"{key!r}. Run a pipeline with a component that sets it, such as 'lpcfg_parser'; in place of a Doc that "
            "`span.as_doc()` made, use the span: `span._.constituency`."
        )
    attrs = attributes(doc, key, start, end)
    if attrs.format not in (None, FORMAT):
        raise ValueError(
            f"doc.spans[{key!r}] has format {shown(attrs.format)}, but this version reads "
            f"{FORMAT}: upgrade spacy-lpcfg, or parse the text again."
        )
    lengths = {"scores": len(group_at(doc, key, start, end)), **dict.fromkeys(PER_TOKEN, len(doc))}
    for name, length in lengths.items():
        values = getattr(attrs, name)
        if values is not None and len(values) != length:
            raise ValueError(
                f"doc.spans[{key!r}] needs {length} {name}, but its attrs have "
                f"{len(values)}: spans or tokens changed after parsing. Change "
                f"attrs[{name!r}] with them, or remove it."
            )
    return attrs
