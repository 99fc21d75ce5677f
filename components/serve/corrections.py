"""Interactive correction of parsed trees, the model behind `spacy-lpcfg serve --correct`."""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from math import isnan
from os import PathLike
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc

from spacy_lpcfg.components.doc.pictures import sentences
from spacy_lpcfg.components.symbol_tags import symbol_tags
from spacy_lpcfg.parsing.constraints import ANY, Constraints, crosses, find_crossing
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.storage.owned_file import OwnedFile
from spacy_lpcfg.trees import Tree, read_trees
from spacy_lpcfg.trees.brackets import bracket_lines
from spacy_lpcfg.trees.transforms import ROOT_LABELS, unescape_token
from spacy_lpcfg.trees.tree import Span

if TYPE_CHECKING:
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.parsing.result import Parse

_MAX_LABELS = 20  # of brackets over the same words


@dataclass(frozen=True)
class OpenSentence:
    """A sentence to correct.

    position (int): The number of the sentence in the text, from 0.
    text (str): The sentence as it stands in the Doc.
    words (list of str): The words as they stand in the text.
    entropy (float): The entropy of its trees, in bits; -1 if it is not known.
    """

    position: int
    text: str
    words: list[str]
    entropy: float


class Corrections:
    """The sentences of Docs, those with the greatest entropy of their trees first, and the trees that were saved.

    component (ParsingPipe): Parses what is not decided yet.
    docs (iterable of Doc): Parsed by it.
    output (path): The file of the trees, in the order of the Docs, written whenever one is saved. It belongs to this
        object until `close`.
    resume (bool): Whether to go on with a file that is there, with trees of some of these sentences.
    RAISES (ValueError): If the file exists and `resume` is false, if it has a tree over other words, or if another
        process corrects trees in it.
    """

    def __init__(
        self, component: ParsingPipe, docs: Iterable[Doc], output: str | PathLike[str], *, resume: bool = False
    ) -> None:
        self.component, self.output = component, output
        self._file = OwnedFile(output, resume=resume)
        open_sentences: list[OpenSentence] = []
        for doc in docs:
            entropies = _entropies(component, doc)
            open_sentences += [
                OpenSentence(len(open_sentences) + i, sentence.text, sentence.words, entropies[sentence.number])
                for i, sentence in enumerate(sentences(doc, component.spans_key))
            ]
        self.sentences = sorted(open_sentences, key=lambda sentence: -sentence.entropy)
        self.saved = self._saved_before() if self._file.path.exists() else {}
        self._decisions: dict[int, tuple[Sequence[Span], Sequence[Span]]] = {}

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    @property
    def first_open(self) -> int:
        """The number of the first sentence that has not been saved; 0 if all have."""
        return next((i for i, sentence in enumerate(self.sentences) if sentence.position not in self.saved), 0)

    def opened(self, number: int) -> dict[str, Any]:
        """Return the tree of a sentence as saved, or else as parsed, with the decisions that lead to it.

        number (int): The number of the sentence in `sentences`.
        RAISES (ValueError): If there is no such sentence.
        """
        self._check(number)
        position = self.sentences[number].position
        if position in self.saved and position not in self._decisions:
            self._decisions[position] = self._decisions_for(number, self.saved[position])
        required, forbidden = self._decisions.get(position, ((), ()))
        return {**self.parsed(number, required, forbidden), "required": [*required], "forbidden": [*forbidden]}

    def parsed(self, number: int, required: Sequence[Span] = (), forbidden: Sequence[Span] = ()) -> dict[str, Any]:
        """Parse a sentence under the decisions of the page.

        number (int): The number of the sentence in `sentences`.
        required, forbidden (sequence of (start, end, label)): Brackets that it has, and that it does not have.
        RAISES (ValueError): If there is no such sentence, or brackets cross, are not within it, or are both required
            and forbidden.
        """
        parse, brackets = self._decided(number, required, forbidden)
        scores = dict(zip(parse.spans, parse.span_scores.tolist(), strict=True))
        return {
            "text": self.sentences[number].text,
            "words": self.sentences[number].words,
            "tags": parse.tags,
            "brackets": [[*bracket, scores.get(bracket)] for bracket in brackets],
            "isSaved": self.sentences[number].position in self.saved,
            "nSaved": len(self.saved),
        }

    def save(self, number: int, required: Sequence[Span] = (), forbidden: Sequence[Span] = ()) -> dict[str, Any]:
        """Save a tree: write it and all trees that were saved before; arguments as for `parsed`.

        RAISES (ValueError): As `parsed`, and if the file is not as this object left it. (OSError): If it cannot be
            written. Then the tree does not count as saved.
        """
        parse, brackets = self._decided(number, required, forbidden)
        words = parse.tree.words
        is_one = len(words) == 1 or any(end - start == len(words) for start, end, _ in brackets)
        top = [] if is_one else [(0, len(words), "")]
        tree = Tree.from_spans(words, parse.tags, [*top, *brackets])
        position = self.sentences[number].position
        saved = {**self.saved, position: tree}
        self._write([saved[i] for i in sorted(saved)])
        self.saved, self._decisions[position] = saved, (required, forbidden)
        return self.parsed(number, required, forbidden)

    def _decided(self, number: int, required: Sequence[Span], forbidden: Sequence[Span]) -> tuple[Parse, list[Span]]:
        """Parse a sentence under decisions; return also the brackets below the root, edited if no parse obeys them."""
        self._check(number)
        parser = self.component.ready_parser()
        words = self.sentences[number].words
        constraints = Constraints(tuple(dict.fromkeys(required)), tuple(dict.fromkeys(forbidden)))
        constraints.check(len(words))
        _check_is_tree(constraints.required)
        _check_agree(required, forbidden)
        tags = symbol_tags(words, self.component.known_words, self.component.vocab.lang)
        for tried in (
            constraints,
            Constraints((), constraints.forbidden, tuple({span[:2]: None for span in required})),
        ):
            parse = parser.parse(Query(self.component.spell(words), tags, constraints=tried))
            brackets = [span for span in parse.spans if span[2] not in ROOT_LABELS]
            if constraints.allow(brackets):
                return parse, brackets
        return parse, _as_decided(brackets, constraints.required, {*forbidden})

    def _check(self, number: int) -> None:
        if not 0 <= number < len(self.sentences):
            raise ValueError(f"Expected one of {len(self.sentences)} sentences, got number {number}.")

    def _write(self, trees: Sequence[Tree]) -> None:
        data = "".join(f"{line}\n" for line in bracket_lines(trees)).encode("utf-8")
        self._file.write(gzip.compress(data, mtime=0) if self._file.path.suffix == ".gz" else data)

    def _saved_before(self) -> dict[int, Tree]:
        """Read the trees in the file, by the positions of their sentences, which must have the same words."""
        spell = self.component.spell
        places: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for sentence in sorted(self.sentences, key=lambda sentence: -sentence.position):
            places[_plain(spell(sentence.words))].append(sentence.position)
        saved: dict[int, Tree] = {}
        for tree in read_trees(self.output):
            if not places[_plain(tree.words)]:
                self.close()
                raise ValueError(
                    f"{self.output} has a tree over {' '.join(tree.words)!r}, which is no sentence to correct: resume "
                    "a file that was made of the same text."
                )
            saved[places[_plain(tree.words)].pop()] = tree
        return saved

    def _decisions_for(self, number: int, tree: Tree) -> tuple[list[Span], list[Span]]:
        """Return decisions by which the parser produces a tree: its brackets are required, additional ones
        forbidden.
        """
        required = [span for span in tree.spans() if span[2] not in ROOT_LABELS]
        forbidden: list[Span] = []
        for _ in range(_MOST_ROUNDS):
            _, brackets = self._decided(number, required, forbidden)
            besides = [bracket for bracket in brackets if bracket not in required]
            if not besides:
                break
            forbidden += besides
        return required, forbidden


_MOST_ROUNDS = 20  # of parses that find what else the parser would add to a saved tree


def _plain(words: Sequence[str]) -> tuple[str, ...]:
    """Return words as in text, whatever their treebank spelling."""
    return tuple(map(unescape_token, words))


def _entropies(component: ParsingPipe, doc: Doc) -> list[float]:
    """Return the entropy of each sentence; -1 if the model cannot compute it."""
    try:
        entropies = component.entropies(doc)
    except ValueError:  # a spectral grammar, for example, has none
        return [-1.0] * len(doc)
    return [-1.0 if entropy is None or isnan(entropy) else entropy for entropy in entropies]


def _check_is_tree(brackets: Sequence[Span]) -> None:
    """Check that brackets form a tree.

    RAISES (ValueError): If brackets cross, or there are too many over the same words.
    """
    if crossing := find_crossing(bracket[:2] for bracket in brackets):
        raise ValueError(f"Expected brackets that do not cross, got ones over {crossing[0]} and {crossing[1]}.")
    for (start, end), n in Counter(bracket[:2] for bracket in brackets).items():
        if n > _MAX_LABELS:
            raise ValueError(f"Expected at most {_MAX_LABELS} brackets over words {start} to {end}, got {n:,}.")


def _check_agree(required: Sequence[Span], forbidden: Sequence[Span]) -> None:
    """Raise ValueError if a bracket is both required and forbidden."""
    refused = {*forbidden}
    if both := [bracket for bracket in required if bracket in refused]:
        start, end, label = both[0]
        raise ValueError(
            f"Expected a bracket to be required or forbidden, got both for {label} over words {start} to {end}: take "
            "one of the two back."
        )


def _as_decided(brackets: Sequence[Span], required: Sequence[Span], forbidden: Set[Span]) -> list[Span]:
    """Edit brackets of a tree to satisfy decisions: add required ones, drop those that conflict."""
    spans = {span[:2] for span in required}
    fit = [
        span
        for span in brackets
        if span not in forbidden
        and (*span[:2], ANY) not in forbidden
        and not any(crosses(*span[:2], *other) for other in spans)
    ]
    taken = {*fit}
    missing = [span for span in required if span not in taken]
    return sorted([*missing, *fit], key=lambda span: (span[0], -span[1]))
