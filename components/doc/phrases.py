"""Phrases and clauses of Docs as Spans and as tables: `doc._.phrases("NP")` and `doc._.clauses`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

from spacy.tokens import Doc, Span, Token

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.doc.pipe_registry import find_pipe
from spacy_lpcfg.components.doc.sentences import sent_ids_of, sentence_bounds
from spacy_lpcfg.components.doc.tree_group import head_rules_of, key_of
from spacy_lpcfg.components.doc.tree_matcher import IndexedDocs
from spacy_lpcfg.queries import TreeNode, clauses, phrases
from spacy_lpcfg.trees.transforms import ROOT_LABELS, basic_category


class Phrase(Span):
    """A constituent as a Span, with its label.

    probability (float or None): Posterior probability of its bracket, from 0 to 1; None if unknown.
    head (Token): The head word, found by the head rules of the language.
    depth (int): Number of brackets around it.
    sentence (int): Number of its sentence in the Doc, from 1.
    sent_id (str): ID of its sentence; "" if it has none.
    """

    probability: float | None
    head: Token
    depth: int
    sentence: int
    sent_id: str

    columns: ClassVar[tuple[str, ...]] = (
        *("sentence", "sent_id", "start", "end", "label", "probability", "start_char", "end_char", "text"),
        *("head", "depth"),
    )

    def as_record(self) -> dict[str, Any]:
        """Return a dict of the values of all `columns` by name; Spans and Tokens are replaced by their texts."""
        record = {name: getattr(self, "label_" if name == "label" else name) for name in self.columns}
        return {name: value.text if isinstance(value, (Span, Token)) else value for name, value in record.items()}


class ClausePhrase(Phrase):
    """A clause as a Span, with the attributes of `spacy_lpcfg.queries.Clause`.

    verb (Token): Its main verb.
    subject (Phrase or None): Its subject; None if it has none.
    is_finite (bool): Whether its verb is finite.
    is_subordinate (bool): Whether it is a subordinate clause.
    is_relative (bool): Whether it is a relative clause.
    """

    verb: Token
    subject: Phrase | None
    is_finite: bool
    is_subordinate: bool
    is_relative: bool

    columns = (*Phrase.columns, "verb", "subject", "is_finite", "is_subordinate", "is_relative")


AnyPhrase = TypeVar("AnyPhrase", bound=Phrase)


class Phrases(tuple[AnyPhrase, ...]):
    """A tuple of phrases in text order; a phrase comes before the phrases that it contains."""

    def as_table(self) -> list[dict[str, Any]]:
        """Return a list with a dict for each phrase (`as_record`), for example for `pandas.DataFrame`."""
        return [phrase.as_record() for phrase in self]


def doc_phrases(doclike: Doc | Span, label: str, *, maximal: bool = False) -> Phrases[Phrase]:
    """Return the constituents with a label: `doc._.phrases("NP")`.

    doclike (Doc or Span): A Doc with trees; or a constituent of one, such as a sentence.
    label (str): A label such as "NP", or several with | between them.
    maximal (bool): Whether to leave out constituents inside another constituent with one of these labels.
    RETURNS (Phrases): The constituents in text order; empty if there are none.
    RAISES (ValueError): If the Doc has no trees, the Span is not a constituent, or the model that parsed the Doc is
        loaded and lacks the label.
    """
    docs = _PhrasesOf(doclike)
    nodes = phrases(docs.index, label, maximal=maximal)
    there = {basic_category(node.label) for node in nodes}
    if missing := [part for part in label.split("|") if part not in there]:
        _check_labels(doclike.doc, missing)
    return Phrases(docs.phrase(Phrase, node) for node in nodes)


def doc_clauses(doclike: Doc | Span) -> Phrases[ClausePhrase]:
    """Return the clauses of a Doc or constituent in text order: `doc._.clauses`.

    RETURNS (Phrases): The clauses; empty if there are none.
    RAISES (ValueError): If the Doc has no trees, or the Span is not a constituent.
    """
    docs = _PhrasesOf(doclike)
    phrases_of_clauses = []
    for clause_nodes in clauses(docs.index):
        clause = docs.phrase(ClausePhrase, clause_nodes.node)
        clause.verb = docs.span(clause_nodes.verb)[0]
        clause.subject = None if clause_nodes.subject is None else docs.phrase(Phrase, clause_nodes.subject)
        clause.is_finite, clause.is_subordinate = clause_nodes.is_finite, clause_nodes.is_subordinate
        clause.is_relative = clause_nodes.is_relative
        phrases_of_clauses.append(clause)
    return Phrases(phrases_of_clauses)


class _PhrasesOf(IndexedDocs):
    """An index of the trees of a Doc or Span that converts their nodes to phrases."""

    def __init__(self, doclike: Doc | Span) -> None:
        doc = doclike.doc if isinstance(doclike, Span) else doclike
        super().__init__([doclike], head_rules_of(doc))
        self._starts = [start for start, _ in sentence_bounds(doc)]
        self._sent_ids = sent_ids_of(doc) or [""] * len(self._starts)

    def phrase(self, kind: type[AnyPhrase], node: TreeNode) -> AnyPhrase:
        span = self.span(node)
        phrase = kind(span.doc, span.start, span.end, span.label)
        phrase.probability = node.probability
        phrase.head = self.span(node.head)[0]
        phrase.depth = sum(above.label not in ROOT_LABELS for above in node.ancestors())
        phrase.sentence = bisect_right(self._starts, span.start)
        phrase.sent_id = self._sent_ids[phrase.sentence - 1]
        return phrase


def _check_labels(doc: Doc, labels: Iterable[str]) -> None:
    """Check labels against the labels of the model that parsed the Doc, if the model is loaded.

    RAISES (ValueError): If the model does not have a label.
    """
    known = getattr(find_pipe(doc, key_of(doc)), "labels", ())
    unknown = [label for label in labels if label not in known]
    if known and unknown:
        raise ValueError(f"Expected a label of the model's trees, one of {', '.join(known)}, got {shown(unknown[0])}.")
