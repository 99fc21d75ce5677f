"""Interactive correction of parsed trees: the state behind the page of `spacy-lpcfg correct`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from spacy.tokens import Doc

from spacy_lpcfg.components.doc.pictures import sentences
from spacy_lpcfg.components.doc.sentences import sentence_bounds
from spacy_lpcfg.components.serve.corrected_trees import CorrectedTrees
from spacy_lpcfg.components.serve.decisions import NO_DECISIONS, DecidedTree, Decisions, decided_tree, decisions_for
from spacy_lpcfg.evaluation.doubt import most_in_doubt
from spacy_lpcfg.pictures.drawing import is_right_to_left
from spacy_lpcfg.trees.transforms import ROOT_LABELS

if TYPE_CHECKING:
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.parsing.evidence import EvidenceSource

_SURE = 0.5  # bits of entropy; the likeliest of two trees then has a probability of 0.89

State = Literal["untouched", "sure", "changed", "saved"]


@dataclass(frozen=True)
class OpenSentence:
    """A sentence to correct.

    position (int): The number of the sentence among the sentences of the text that have words, from 0.
    text (str): The sentence as it stands in the Doc.
    words (list of str): The words as they stand in the text.
    entropy (float or None): The entropy of the distribution over its trees, in bits; None or nan if it is not known.
    evidence (EvidenceSource or None): The evidence for `Query`, if it is computed from vectors of the pipeline.
    """

    position: int
    text: str
    words: list[str]
    entropy: float | None
    evidence: EvidenceSource | None


class Corrections:
    """The sentences of Docs, with the user's decisions about their trees.

    component (ParsingPipe): The parser, which chooses the rest of a tree under the decisions.
    docs (iterable of Doc): Docs that the component has parsed.
    trees (CorrectedTrees): The saved trees, and given trees to begin with instead of the parser's.
    by_doubt (bool): Whether the most uncertain sentences come first, as `most_in_doubt` ranks them, with near
        duplicates and sentences of unknown entropy last; False for the order of the text.
    RAISES (ValueError): If the file of `trees` has a tree over other words.
    """

    def __init__(
        self, component: ParsingPipe, docs: Iterable[Doc], trees: CorrectedTrees, *, by_doubt: bool = True
    ) -> None:
        self.component, self.trees = component, trees
        in_text = [*_open_sentences(component, docs)]
        trees.take_saved([component.spell(sentence.words) for sentence in in_text])
        self.sentences = _by_doubt(in_text) if by_doubt else in_text
        self._starts: dict[int, Decisions] = {}  # that lead to the tree that was saved or given
        self._drafts: dict[int, Decisions] = {}

    @property
    def first_open(self) -> int:
        """The index in `sentences` of the first sentence that has not been saved; 0 if all have."""
        return next((i for i, sentence in enumerate(self.sentences) if sentence.position not in self.trees.saved), 0)

    @property
    def labels(self) -> list[str]:
        """The labels of brackets in the model and in the given trees, sorted, without those of artificial roots."""
        given = {label for tree in self.trees.given.values() for _, _, label in tree.spans()}
        return [label for label in sorted({*self.component.labels, *given}) if label not in ROOT_LABELS]

    @property
    def tags(self) -> list[str]:
        """The tags of words in the model and in the given trees, sorted, punctuation last."""
        known = self.component.learned.tags if self.component.learned is not None else ()
        tags = {*known, *(tag for tree in self.trees.given.values() for tag in tree.tags)}
        return sorted(tags, key=lambda tag: (not tag.isalpha(), tag))  # punctuation last

    def state(self, number: int) -> State:
        """Return the state of a sentence.

        number (int): The index of the sentence in `sentences`.
        RETURNS (str): One of the following, the first that applies.
            "changed": It has decisions that are not saved.
            "saved": Its tree is saved.
            "sure": The entropy of its trees is at most half a bit.
            "untouched": It has neither decisions nor a saved tree.
        """
        sentence = self.sentences[number]
        if sentence.position in self._drafts:
            return "changed"
        if sentence.position in self.trees.saved:
            return "saved"
        return "sure" if sentence.entropy is not None and sentence.entropy <= _SURE else "untouched"

    def opened(self, number: int) -> dict[str, Any]:
        """Return the tree of a sentence under its current decisions, and these decisions.

        number (int): The index of the sentence in `sentences`.
        RETURNS (dict): As from `keep`, with "required", "forbidden" and "assigned" (tags by position).
        RAISES (ValueError): If there is no such sentence.
        """
        sentence = self._sentence(number)
        decisions = self._drafts.get(sentence.position) or self._start(sentence)
        return {
            **self._shown(number, self._decided(sentence, decisions)),
            "required": decisions.required,
            "forbidden": decisions.forbidden,
            "assigned": decisions.tags,
        }

    def keep(self, number: int, decisions: Decisions) -> dict[str, Any]:
        """Parse a sentence under decisions, and remember them as unsaved changes.

        number (int): The index of the sentence in `sentences`.
        decisions (Decisions): The brackets that its tree must and must not have, and the tags of words.
        RETURNS (dict): "text", "words", "direction" ("ltr" or "rtl"), "tags", "brackets" (lists of start, end, label
            and score) and "state", for the page's script.
        RAISES (ValueError): If there is no such sentence, or as in `decided_tree`.
        """
        sentence = self._sentence(number)
        decided = self._decided(sentence, decisions)
        if decisions == self._start(sentence):
            self._drafts.pop(sentence.position, None)
        else:
            self._drafts[sentence.position] = decisions
        return self._shown(number, decided)

    def save(self, number: int, decisions: Decisions = NO_DECISIONS) -> dict[str, Any]:
        """Parse a sentence under decisions, and save its tree to the file; arguments and result as for `keep`.

        RAISES (ValueError): As in `keep` and `CorrectedTrees.save`.
        RAISES (OSError): As in `CorrectedTrees.save`.
        """
        sentence = self._sentence(number)
        decided = self._decided(sentence, decisions)
        self.trees.save(sentence.position, decided.tree)
        self._starts[sentence.position] = decisions
        self._drafts.pop(sentence.position, None)
        return self._shown(number, decided)

    def _sentence(self, number: int) -> OpenSentence:
        if not 0 <= number < len(self.sentences):
            raise ValueError(f"Expected one of {len(self.sentences)} sentences, got number {number}.")
        return self.sentences[number]

    def _decided(self, sentence: OpenSentence, decisions: Decisions) -> DecidedTree:
        return decided_tree(self.component, sentence.words, decisions, sentence.evidence)

    def _start(self, sentence: OpenSentence) -> Decisions:
        """Return the decisions that reproduce the saved or given tree of a sentence; `NO_DECISIONS` if it has none."""
        position, tree = sentence.position, self.trees.get(sentence.position)
        if position not in self._starts:
            self._starts[position] = NO_DECISIONS
            if tree:
                self._starts[position] = decisions_for(self.component, sentence.words, tree, sentence.evidence)
        return self._starts[position]

    def _shown(self, number: int, decided: DecidedTree) -> dict[str, Any]:
        """Return a sentence and its tree as a dict for the page's script."""
        sentence = self.sentences[number]
        return {
            "text": sentence.text,
            "words": sentence.words,
            "direction": "rtl" if is_right_to_left(sentence.words) else "ltr",
            "tags": decided.tree.tags,
            "brackets": [[*bracket, decided.scores.get(bracket)] for bracket in decided.brackets],
            "state": self.state(number),
        }


def _open_sentences(component: ParsingPipe, docs: Iterable[Doc]) -> Iterator[OpenSentence]:
    """Yield the sentences of Docs, except for sentences without words."""
    position = 0
    for doc in docs:
        entropies, (evidence_of,) = _entropies(component, doc), component.evidence_of([doc])
        for sentence in sentences(doc, component.spans_key):
            evidence = evidence_of and evidence_of(sentence.positions, component.spell(sentence.words))
            yield OpenSentence(position, sentence.text, sentence.words, entropies[sentence.number], evidence)
            position += 1


def _entropies(component: ParsingPipe, doc: Doc) -> list[float | None]:
    """Return the entropy of each sentence of a Doc, in bits; None if the model cannot compute it."""
    try:
        return component.entropies(doc)
    except ValueError:  # a spectral grammar, for example, has none
        return [None] * len(sentence_bounds(doc))


def _by_doubt(sentences: Sequence[OpenSentence]) -> list[OpenSentence]:
    first = most_in_doubt([sentence.words for sentence in sentences], [sentence.entropy for sentence in sentences])
    return [sentences[i] for i in (*first, *sorted({*range(len(sentences))}.difference(first)))]
