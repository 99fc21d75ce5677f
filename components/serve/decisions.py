"""The decisions of a person about the tree of a sentence, and the parse under these decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from spacy_lpcfg.parsing.constraints import ANY, Constraints, crosses, find_crossing
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.transforms import ROOT_LABELS
from spacy_lpcfg.trees.tree import Span

if TYPE_CHECKING:
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.parsing.evidence import EvidenceSource
    from spacy_lpcfg.parsing.result import Parse

_MAX_LABELS = 20  # of brackets over the same words
_MOST_ROUNDS = 20  # of parses that find what else the parser would add to a tree


@dataclass(frozen=True)
class Decisions:
    """The brackets and tags that a person has chosen for a sentence; positions count words from 0.

    required (tuple of (start, end, label)): Brackets that the tree must have.
    forbidden (tuple of (start, end, label)): Brackets that the tree must not have.
    tags (mapping of int to str): The tags of words, by their positions.
    """

    required: tuple[Span, ...] = ()
    forbidden: tuple[Span, ...] = ()
    tags: Mapping[int, str] = field(default_factory=dict)


NO_DECISIONS = Decisions()


class DecidedTree(NamedTuple):
    """The tree of a sentence under decisions.

    tree (Tree): The tree.
    brackets (list of (start, end, label)): Its brackets, without the artificial root.
    scores (dict of (start, end, label) to float): The posterior probability of each bracket of the parser's tree.
    """

    tree: Tree
    brackets: list[Span]
    scores: dict[Span, float]


def decided_tree(
    component: ParsingPipe, words: Sequence[str], decisions: Decisions, evidence: EvidenceSource | None = None
) -> DecidedTree:
    """Parse a sentence so that its tree agrees with decisions.

    If the parser finds no such tree, the brackets of its tree are edited: conflicting ones are dropped, required ones
    are added.

    component (ParsingPipe): The parser.
    words (sequence of str): The words as in text.
    decisions (Decisions): The brackets that the tree must and must not have, and the tags of words.
    evidence (EvidenceSource or None): The evidence for `Query`; None to let the model compute it.
    RAISES (ValueError): If brackets cross, are not within the sentence, or are both required and forbidden, if there
        are more than `_MAX_LABELS` over the same words, or if a tag is for a word that does not exist.
    """
    required, forbidden = (tuple(dict.fromkeys(brackets)) for brackets in (decisions.required, decisions.forbidden))
    constraints = Constraints(required, forbidden)
    constraints.check(len(words))
    _check_is_tree(required)
    _check_agree(required, forbidden)
    parse, brackets = _parse(component, words, constraints, decisions.tags, evidence)
    tags = [decisions.tags.get(i, tag) for i, tag in enumerate(parse.tags)]
    is_one = len(words) == 1 or any(end - start == len(words) for start, end, _ in brackets)
    top = [] if is_one else [(0, len(words), "")]
    scores = dict(zip(parse.spans, parse.span_scores.tolist(), strict=True))
    return DecidedTree(Tree.from_spans(parse.tree.words, tags, [*top, *brackets]), brackets, scores)


def decisions_for(
    component: ParsingPipe, words: Sequence[str], tree: Tree, evidence: EvidenceSource | None = None
) -> Decisions:
    """Return decisions under which the parser makes a given tree.

    The brackets and tags of the tree are required. Brackets that the parser adds are forbidden, one parse after
    another; after `_MOST_ROUNDS` parses some may remain.

    component, words, evidence: As for `decided_tree`.
    tree (Tree): The tree.
    """
    required = tuple(span for span in tree.spans() if span[2] not in ROOT_LABELS)
    decisions = Decisions(required, (), dict(enumerate(tree.tags)))
    for _ in range(_MOST_ROUNDS):
        brackets = decided_tree(component, words, decisions, evidence).brackets
        additional = [bracket for bracket in brackets if bracket not in required]
        if not additional:
            break
        decisions = Decisions(required, (*decisions.forbidden, *additional), decisions.tags)
    return decisions


def _parse(
    component: ParsingPipe,
    words: Sequence[str],
    constraints: Constraints,
    tags: Mapping[int, str],
    evidence: EvidenceSource | None,
) -> tuple[Parse, list[Span]]:
    """Parse a sentence under constraints; return the parse, and its brackets without the artificial root.

    The brackets are edited if no parse satisfies the constraints.

    tags (mapping of int to str): The tags of words, by their positions.
    RAISES (ValueError): If a tag is for a word that does not exist.
    """
    if not all(0 <= i < len(words) for i in tags):
        raise ValueError(f"Expected tags of the {len(words)} words of the sentence, got those of {sorted(tags)}.")
    given = [tags.get(i) for i in range(len(words))]
    whole = tuple({span[:2]: None for span in constraints.required})
    weaker = Constraints((), constraints.forbidden, whole)
    has_unknown = not {label for _, _, label in constraints.required}.issubset(component.labels)
    for tried in (weaker,) if has_unknown else (constraints, weaker):
        query = component.query(words, given, constraints=tried, evidence=evidence)
        parse = component.ready_parser().parse(query)
        brackets = [span for span in parse.spans if span[2] not in ROOT_LABELS]
        if constraints.allow(brackets):
            return parse, brackets
    return parse, _as_decided(brackets, constraints.required, {*constraints.forbidden})


def _check_is_tree(brackets: Sequence[Span]) -> None:
    """Check that brackets can be in one tree.

    RAISES (ValueError): If brackets cross, or there are more than `_MAX_LABELS` over the same words.
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
    """Edit the brackets of a tree to satisfy decisions: drop brackets that conflict, and add the required ones."""
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
