"""Trees of a file, corrected one after the other: what `spacy-lpcfg serve --correct` shows and writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from math import isnan
from os import PathLike
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc

from spacy_lpcfg.components.pictures import sentences
from spacy_lpcfg.parsing.constraints import ANY, Constraints, crosses, find_crossing
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree, write_trees
from spacy_lpcfg.trees.transforms import ROOT_LABELS
from spacy_lpcfg.trees.tree import Span

if TYPE_CHECKING:
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.parsing.result import Parse

_MAX_LABELS = 20  # of brackets over the same words


@dataclass(frozen=True)
class OpenSentence:
    """A sentence to correct.

    place (int): Among those of its file.
    text (str): As it stands in the Doc.
    words (list of str): As they stand in the text.
    entropy (float): Of its trees, in bits; -1 where it is not known.
    """

    place: int
    text: str
    words: list[str]
    entropy: float


class Corrections:
    """The sentences of Docs, those with the greatest entropy of their trees first, and the trees that were saved.

    component (ParsingPipe): Parses what is not decided yet.
    docs (iterable of Doc): Parsed by it.
    output (path): Where trees are written, in the order of the Docs, whenever one is saved.
    """

    def __init__(self, component: ParsingPipe, docs: Iterable[Doc], output: str | PathLike[str]) -> None:
        self.component, self.output = component, output
        found: list[OpenSentence] = []
        for doc in docs:
            entropies = _entropies(component, doc)
            found += [
                OpenSentence(len(found) + i, each.text, each.words, entropies[each.number])
                for i, each in enumerate(sentences(doc, component.spans_key))
            ]
        self.sentences = sorted(found, key=lambda each: -each.entropy)
        self.saved: dict[int, Tree] = {}

    def parsed(self, number: int, required: Sequence[Span] = (), forbidden: Sequence[Span] = ()) -> dict[str, Any]:
        """The tree of a sentence with what was decided, as the page has it.

        number (int): Of `sentences`.
        required, forbidden (sequence of (start, end, label)): Brackets that it has, and that it does not have.
        RAISES (ValueError): If there is no such sentence, or brackets cross or are not within it.
        """
        parse, brackets = self._decided(number, required, forbidden)
        scores = dict(zip(parse.spans, parse.span_scores.tolist(), strict=True))
        return {
            "text": self.sentences[number].text,
            "words": self.sentences[number].words,
            "tags": parse.tags,
            "brackets": [[*bracket, scores.get(bracket)] for bracket in brackets],
            "isSaved": self.sentences[number].place in self.saved,
            "nSaved": len(self.saved),
        }

    def save(self, number: int, required: Sequence[Span] = (), forbidden: Sequence[Span] = ()) -> dict[str, Any]:
        """Write the tree, and all that were saved before; arguments and errors as those of `parsed`."""
        parse, brackets = self._decided(number, required, forbidden)
        words, root = parse.tree.words, self.component.root_label
        is_one = len(words) == 1 or any(end - start == len(words) for start, end, _ in brackets)
        top = [] if is_one and not root else [(0, len(words), root)]
        tree = Tree.from_spans(words, parse.tags, [*top, *brackets])
        self.saved[self.sentences[number].place] = tree
        write_trees(self.output, [self.saved[place] for place in sorted(self.saved)])
        return self.parsed(number, required, forbidden)

    def _decided(self, number: int, required: Sequence[Span], forbidden: Sequence[Span]) -> tuple[Parse, list[Span]]:
        if not 0 <= number < len(self.sentences):
            raise ValueError(f"Expected one of {len(self.sentences)} sentences, got number {number}.")
        parser = self.component.ready_parser()
        words = self.sentences[number].words
        constraints = Constraints(tuple(dict.fromkeys(required)), tuple(dict.fromkeys(forbidden)))
        constraints.check(len(words))
        _check_is_tree(constraints.required)
        for each in (constraints, Constraints((), constraints.forbidden, tuple({span[:2]: None for span in required}))):
            parse = parser.parser.parse(Query(parser.spell(words), constraints=each))
            own = [span for span in parse.spans if span[2] not in ROOT_LABELS]
            if constraints.allow(own):
                return parse, own
        return parse, _as_decided(own, constraints.required, {*forbidden})


def _entropies(component: ParsingPipe, doc: Doc) -> list[float]:
    """Of each sentence; -1 where the model does not know it."""
    try:
        found = component.entropies(doc)
    except ValueError:  # a spectral grammar, for example, has none
        return [-1.0] * len(doc)
    return [-1.0 if each is None or isnan(each) else each for each in found]


def _check_is_tree(brackets: Sequence[Span]) -> None:
    """RAISES (ValueError): If brackets cross, or there are too many over the same words."""
    if crossing := find_crossing(bracket[:2] for bracket in brackets):
        raise ValueError(f"Expected brackets that do not cross, got ones over {crossing[0]} and {crossing[1]}.")
    for (start, end), n in Counter(bracket[:2] for bracket in brackets).items():
        if n > _MAX_LABELS:
            raise ValueError(f"Expected at most {_MAX_LABELS} brackets over words {start} to {end}, got {n:,}.")


def _as_decided(own: Sequence[Span], required: Sequence[Span], forbidden: Set[Span]) -> list[Span]:
    """Brackets of a tree that is not as it was decided, made so: what is in the way is left out."""
    spans = {span[:2] for span in required}
    fit = [
        span
        for span in own
        if span not in forbidden
        and (*span[:2], ANY) not in forbidden
        and not any(crosses(*span[:2], *other) for other in spans)
    ]
    taken = {*fit}
    missing = [span for span in required if span not in taken]
    return sorted([*missing, *fit], key=lambda span: (span[0], -span[1]))
