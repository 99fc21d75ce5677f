"""Conversion of dependencies to constraints on constituents, and parsing under these constraints.

Gold dependencies determine where most phrases of a sentence begin and end. A parser that is constrained by them, and is
given the tags too, finds trees that are close to gold ones (compare Kong, Rush and Smith 2015, "Transforming
dependencies into phrase structures").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from spacy_lpcfg.parallel import in_order
from spacy_lpcfg.parsing.constraints import ANY, Constraints
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.parsing.protocol import SentenceParser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import PARSED
from spacy_lpcfg.trees.dependency_sentences import DependencySentence, subtree_spans
from spacy_lpcfg.trees.transforms import escape_tokens
from spacy_lpcfg.trees.tree import Span, Tree

_LOOSE = frozenset(
    ("conj", "reparandum", "parataxis", "list", "dislocated", "discourse", "vocative", "orphan", "goeswith", "dep")
)
"""Relations of dependents that a treebank may attach higher than to the phrase of their head."""
_NOMINAL = frozenset(("nsubj", "obj", "iobj", "obl", "nmod", "conj", "appos"))
_CLAUSAL = frozenset(("ccomp", "acl", "advcl", "csubj"))
_SUBJECTS = frozenset(("nsubj", "csubj", "expl"))
_NOUNS = frozenset(("NOUN", "PROPN"))
_BEFORE_NOUN_PHRASES = frozenset(("case", "cc", "advmod", "mark", "punct"))


def dependency_constraints(sentence: DependencySentence) -> Constraints:
    """Return the constraints on the constituents of an English sentence that follow from its dependencies.

    No bracket may cross a subtree, except for subtrees that are not contiguous. Required are the noun phrases,
    prepositional phrases, subordinate clauses and verb phrases that relations of Universal Dependencies determine.
    Nothing is required for a head with a dependent, such as a conjunct, that the Penn Treebank may attach higher.

    sentence (DependencySentence): The sentence, with relations of Universal Dependencies, and with tags of the Penn
        Treebank, from which prepositions are recognized.
    RETURNS (Constraints): Constraints on spans of the words of the sentence.
    """
    spans, children = subtree_spans(sentence), sentence.children()
    required: list[Span] = []
    for word, (span, below) in enumerate(zip(spans, children, strict=True)):
        if span is None or any(_base(sentence.relations[child]) in _LOOSE for child in below):
            continue
        relation, part = _base(sentence.relations[word]), sentence.parts_of_speech[word]
        if part in _NOUNS and relation in _NOMINAL:
            required += _noun_phrase(sentence, below, span, spans)
        elif part == "VERB":
            is_marked = any(sentence.relations[child] == "mark" for child in below)
            if relation in _CLAUSAL or (relation == "xcomp" and is_marked):
                required += _clause(sentence, below, span, spans)
            required += _verb_phrase(sentence, word, below, span)
    whole = dict.fromkeys(span for span in spans if span is not None and span[1] - span[0] > 1)
    return Constraints(required=tuple(dict.fromkeys(required)), whole=tuple(whole))


def _base(relation: str) -> str:
    return relation.partition(":")[0]


def _edge(
    sentence: DependencySentence,
    below: Sequence[int],
    span: tuple[int, int],
    spans: Sequence[tuple[int, int] | None],
    relations: frozenset[str],
) -> int:
    """Return the index of the first word of a subtree after its leftmost dependents with the given relations."""
    start = span[0]
    for child in below:
        if _base(sentence.relations[child]) not in relations:
            break
        first, end = spans[child] or (child, child + 1)
        if first > start + 1:
            break
        start = max(start, end)
    return start


def _noun_phrase(
    sentence: DependencySentence,
    below: Sequence[int],
    span: tuple[int, int],
    spans: Sequence[tuple[int, int] | None],
) -> Iterator[Span]:
    start, end = _edge(sentence, below, span, spans, _BEFORE_NOUN_PHRASES), span[1]
    is_question = any((tag or "").startswith("W") for tag in sentence.tags[start:end][:2])
    if end - start > 1:
        yield start, end, ANY if is_question else "NP"
    first = next((child for child in below if _base(sentence.relations[child]) not in ("cc", "punct")), end)
    if first < start and sentence.relations[first] == "case" and sentence.tags[first] in ("IN", "TO"):
        yield first, end, ANY if is_question else "PP"


def _clause(
    sentence: DependencySentence,
    below: Sequence[int],
    span: tuple[int, int],
    spans: Sequence[tuple[int, int] | None],
) -> Iterator[Span]:
    start = _edge(sentence, below, span, spans, frozenset(("cc", "punct")))
    if span[1] - start > 1:
        yield start, span[1], ANY


def _verb_phrase(
    sentence: DependencySentence, verb: int, below: Sequence[int], span: tuple[int, int]
) -> Iterator[Span]:
    subjects = [child for child in below if child < verb and _base(sentence.relations[child]) in _SUBJECTS]
    if not subjects:
        return
    subject = max(subjects)
    between = [child for child in below if subject < child < verb]
    if any(_base(sentence.relations[child]) not in ("aux", "punct") for child in between):
        return
    start = next((child for child in between if _base(sentence.relations[child]) == "aux"), verb)
    if span[1] > verb + 1:
        yield start, span[1], "VP"


class DependencyAnnotator:
    """Annotator that parses sentences into trees that respect known dependencies.

    model (ParsingModel): The model. The trees have its spelling of words, and its tags.
    parser (SentenceParser): A parser of this model. It chooses the tag of a word whose given tag the model lacks.
    """

    def __init__(self, model: ParsingModel, parser: SentenceParser) -> None:
        self._words = model.words
        self._tags = frozenset(model.tags)
        self._parser = parser

    def trees(self, sentences: Iterable[DependencySentence], *, n_jobs: int = 1) -> Iterator[Tree | None]:
        """Yield the tree of each sentence; None where the model has no tree that respects the dependencies.

        If no tree has the required brackets, they may have any label; if there is still no tree, they are dropped, and
        only brackets that cross a subtree are ruled out. Trees of fall-backs, such as back-off rules, do not count.

        sentences (iterable of DependencySentence): The sentences.
        n_jobs (int): Number of threads, as in joblib: -1 for one per CPU.
        """
        yield from in_order(self._tree, ((sentence,) for sentence in sentences), n_jobs=n_jobs, prefer="threads")

    def _tree(self, sentence: DependencySentence) -> Tree | None:
        forms = ["_".join(word.split()) for word in sentence.words]  # no word of a tree has blanks
        words = escape_tokens(forms, known=self._words)
        tags = [tag if tag in self._tags else None for tag in sentence.tags]  # trees get no tag that is foreign to them
        constraints = dependency_constraints(sentence)
        unlabelled = tuple(dict.fromkeys((start, end, ANY) for start, end, _ in constraints.required))
        ladder = (
            constraints,
            Constraints(required=unlabelled, whole=constraints.whole),
            Constraints(whole=constraints.whole),
        )
        for rung in ladder:
            parse = self._parser.parse(Query(words, tags, constraints=rung))
            if parse.status == PARSED:
                return parse.tree.with_source(sentence.source)
        return None
