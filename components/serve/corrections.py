"""Interactive correction of parsed trees, the model behind `spacy-lpcfg correct`."""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import isnan
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from spacy.tokens import Doc

from spacy_lpcfg.components.doc.pictures import sentences
from spacy_lpcfg.components.symbol_tags import symbol_tags
from spacy_lpcfg.evaluation.doubt import most_in_doubt
from spacy_lpcfg.parsing.constraints import ANY, Constraints, crosses, find_crossing
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.pictures.drawing import is_right_to_left
from spacy_lpcfg.storage.owned_file import OwnedFile
from spacy_lpcfg.trees import Tree, read_trees
from spacy_lpcfg.trees.brackets import bracket_lines
from spacy_lpcfg.trees.transforms import ROOT_LABELS, unescape_token
from spacy_lpcfg.trees.tree import Span

if TYPE_CHECKING:
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.parsing.result import Parse

_MAX_LABELS = 20  # of brackets over the same words
_SURE = 0.5  # bits of entropy; the likeliest of two trees then has a probability of 0.89

Order = Literal["doubt", "text"]
State = Literal["untouched", "sure", "changed", "saved"]


@dataclass(frozen=True)
class Decisions:
    """The brackets and tags that a person has chosen for a sentence.

    required, forbidden (tuple of (start, end, label)): Brackets that its tree has, and that it does not have.
    tags (dict of int to str): The tags of words, by their positions.
    """

    required: tuple[Span, ...] = ()
    forbidden: tuple[Span, ...] = ()
    tags: Mapping[int, str] = field(default_factory=dict)


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
    """The sentences of Docs, the most doubtful first, with what was decided of them, and the trees that were saved.

    component (ParsingPipe): Parses what is not decided yet.
    docs (iterable of Doc): Parsed by it.
    output (path): The file of the trees, in the order of the Docs, written whenever one is saved. It belongs to this
        object until `close`.
    resume (bool): Whether to go on with a file that is there, with trees of some of these sentences.
    order (str): "doubt" for the order of `most_in_doubt`, with near duplicates and sentences without an entropy last;
        "text" for that of the Docs.
    trees (sequence of Tree or None): The trees that the sentences begin with; None to begin with those of the parser.
        With trees, the file has all of them, corrected as far as they are saved.
    RAISES (ValueError): If the file exists and `resume` is false, if it has a tree over other words, or if another
        process corrects trees in it.
    """

    def __init__(
        self,
        component: ParsingPipe,
        docs: Iterable[Doc],
        output: str | PathLike[str],
        *,
        resume: bool = False,
        order: Order = "doubt",
        trees: Sequence[Tree] | None = None,
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
        self.sentences = _in_order(open_sentences, order)
        self.given = dict(enumerate(trees or ()))
        self.saved = self._saved_before() if self._file.path.exists() else {}
        self._starts: dict[int, Decisions] = {}  # that lead to the tree that was saved or given
        self._drafts: dict[int, Decisions] = {}

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    @property
    def first_open(self) -> int:
        """The number of the first sentence that has not been saved; 0 if all have."""
        return next((i for i, sentence in enumerate(self.sentences) if sentence.position not in self.saved), 0)

    @property
    def labels(self) -> list[str]:
        """The labels of brackets that the model or the given trees have."""
        given = {label for tree in self.given.values() for _, _, label in tree.spans()}
        return [label for label in sorted({*self.component.labels, *given}) if label not in ROOT_LABELS]

    @property
    def tags(self) -> list[str]:
        """The tags of words that the model or the given trees have."""
        own = self.component.learned.tags if self.component.learned is not None else ()
        tags = {*own, *(tag for tree in self.given.values() for tag in tree.tags)}
        return sorted(tags, key=lambda tag: (not tag.isalpha(), tag))  # punctuation last

    def state(self, number: int) -> State:
        """Return the state of a sentence: changed since it was opened first or saved, saved, or else untouched.

        An untouched sentence is "sure" if the entropy of its trees is at most half a bit.
        """
        sentence = self.sentences[number]
        if sentence.position in self._drafts:
            return "changed"
        if sentence.position in self.saved:
            return "saved"
        return "sure" if 0 <= sentence.entropy <= _SURE else "untouched"

    def opened(self, number: int) -> dict[str, Any]:
        """Return the tree of a sentence as it was left, with the decisions that lead to it.

        number (int): The number of the sentence in `sentences`.
        RAISES (ValueError): If there is no such sentence.
        """
        self._check(number)
        decisions = self._drafts.get(self.sentences[number].position) or self._start(number)
        return {
            **self.parsed(number, decisions),
            "required": decisions.required,
            "forbidden": decisions.forbidden,
            "assigned": decisions.tags,
        }

    def keep(self, number: int, decisions: Decisions) -> dict[str, Any]:
        """Parse a sentence under decisions, and keep them until it is opened again; arguments as for `parsed`."""
        self._decided(number, decisions)
        position = self.sentences[number].position
        if decisions == self._start(number):
            self._drafts.pop(position, None)
        else:
            self._drafts[position] = decisions
        return self.parsed(number, decisions)

    def parsed(self, number: int, decisions: Decisions | None = None) -> dict[str, Any]:
        """Parse a sentence under the decisions of the page.

        number (int): The number of the sentence in `sentences`.
        decisions (Decisions or None): What its tree has and does not have.
        RAISES (ValueError): If there is no such sentence, if brackets cross, are not within it, or are both required
            and forbidden, or if a tag is of no word.
        """
        tree, brackets, scores = self._decided(number, decisions or Decisions())
        return {
            "text": self.sentences[number].text,
            "words": self.sentences[number].words,
            "direction": "rtl" if is_right_to_left(self.sentences[number].words) else "ltr",
            "tags": tree.tags,
            "brackets": [[*bracket, scores.get(bracket)] for bracket in brackets],
            "state": self.state(number),
        }

    def save(self, number: int, decisions: Decisions | None = None) -> dict[str, Any]:
        """Save a tree: write it and all trees that were saved before; arguments as for `parsed`.

        RAISES (ValueError): As `parsed`, and if the file is not as this object left it. (OSError): If it cannot be
            written. Then the tree does not count as saved.
        """
        decisions = decisions or Decisions()
        tree, _, _ = self._decided(number, decisions)
        position = self.sentences[number].position
        saved = {**self.saved, position: tree}
        self._write([tree for _, tree in sorted({**self.given, **saved}.items())])
        self.saved, self._starts[position] = saved, decisions
        self._drafts.pop(position, None)
        return self.parsed(number, decisions)

    def _start(self, number: int) -> Decisions:
        """Return the decisions that lead to the tree that was saved or given; none without one."""
        position = self.sentences[number].position
        tree = self.saved.get(position) or self.given.get(position)
        if position not in self._starts:
            self._starts[position] = self._decisions_for(number, tree) if tree else Decisions()
        return self._starts[position]

    def _decided(self, number: int, decisions: Decisions) -> tuple[Tree, list[Span], dict[Span, float]]:
        """Return the tree of a sentence under decisions, its brackets below the root, and their probabilities."""
        self._check(number)
        required, forbidden = (tuple(dict.fromkeys(each)) for each in (decisions.required, decisions.forbidden))
        constraints = Constraints(required, forbidden)
        constraints.check(len(self.sentences[number].words))
        _check_is_tree(required)
        _check_agree(required, forbidden)
        parse, brackets = self._parse(number, constraints, decisions.tags)
        tags = [decisions.tags.get(i, tag) for i, tag in enumerate(parse.tags)]
        words = parse.tree.words
        is_one = len(words) == 1 or any(end - start == len(words) for start, end, _ in brackets)
        top = [] if is_one else [(0, len(words), "")]
        scores = dict(zip(parse.spans, parse.span_scores.tolist(), strict=True))
        return Tree.from_spans(words, tags, [*top, *brackets]), brackets, scores

    def _parse(self, number: int, constraints: Constraints, tags: Mapping[int, str]) -> tuple[Parse, list[Span]]:
        """Parse a sentence; return also the brackets below the root, edited if no parse satisfies the constraints."""
        words, component = self.sentences[number].words, self.component
        if not all(0 <= i < len(words) for i in tags):
            raise ValueError(f"Expected tags of the {len(words)} words of the sentence, got those of {sorted(tags)}.")
        symbols = symbol_tags(words, component.known_words, component.vocab.lang) or [None] * len(words)
        given = [tags.get(i, tag) for i, tag in enumerate(symbols)]
        whole = tuple({span[:2]: None for span in constraints.required})
        weaker = Constraints((), constraints.forbidden, whole)
        has_unknown = not {label for _, _, label in constraints.required}.issubset(component.labels)
        for tried in (weaker,) if has_unknown else (constraints, weaker):
            parse = component.ready_parser().parse(Query(component.spell(words), given, constraints=tried))
            brackets = [span for span in parse.spans if span[2] not in ROOT_LABELS]
            if constraints.allow(brackets):
                return parse, brackets
        return parse, _as_decided(brackets, constraints.required, {*constraints.forbidden})

    def _check(self, number: int) -> None:
        if not 0 <= number < len(self.sentences):
            raise ValueError(f"Expected one of {len(self.sentences)} sentences, got number {number}.")

    def _write(self, trees: Sequence[Tree]) -> None:
        data = "".join(f"{line}\n" for line in bracket_lines(trees)).encode("utf-8")
        self._file.write(gzip.compress(data, mtime=0) if self._file.path.suffix == ".gz" else data)

    def _saved_before(self) -> dict[int, Tree]:
        """Read the trees in the file, by the positions of their sentences, which must have the same words.

        Trees that are as they were given do not count.
        """
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
        return {position: tree for position, tree in saved.items() if tree != self.given.get(position)}

    def _decisions_for(self, number: int, tree: Tree) -> Decisions:
        """Return decisions by which the parser produces a tree: its brackets are required, additional ones
        forbidden.
        """
        required = tuple(span for span in tree.spans() if span[2] not in ROOT_LABELS)
        decisions = Decisions(required, (), dict(enumerate(tree.tags)))
        for _ in range(_MOST_ROUNDS):
            _, brackets, _ = self._decided(number, decisions)
            besides = [bracket for bracket in brackets if bracket not in required]
            if not besides:
                break
            decisions = Decisions(required, (*decisions.forbidden, *besides), decisions.tags)
        return decisions


_MOST_ROUNDS = 20  # of parses that find what else the parser would add to a saved tree


def _in_order(sentences: Sequence[OpenSentence], order: Order) -> list[OpenSentence]:
    if order == "text":
        return list(sentences)
    first = most_in_doubt([each.words for each in sentences], [each.entropy for each in sentences])
    return [sentences[i] for i in (*first, *sorted({*range(len(sentences))}.difference(first)))]


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
