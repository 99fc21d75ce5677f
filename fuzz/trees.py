"""Targets that take values of Python: trees and grammars of NLTK, constraints on trees, and patterns of trees."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fuzz.choices import Choices
from fuzz.contract import Target, expect
from spacy_lpcfg.chart import Parser
from spacy_lpcfg.grammar import grammar_from_pcfg, pcfg_text
from spacy_lpcfg.isbn import IncrementalParser
from spacy_lpcfg.parsing.constraints import ANY, Constraints
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import UNCONSTRAINED
from spacy_lpcfg.queries import PatternError, TreeIndex, TreePattern
from spacy_lpcfg.trees import Tree, from_nltk, to_nltk

LABELS = [ANY, "NP", "S", "VP", "no such label"]
WORDS = ["The", "ferry", "was", "late", ".", "xyzzy"]

# Trees of NLTK -----------------------------------------------------------------------------------


def nltk_case(choices: Choices, depth: int = 5) -> Any:
    """Make a tree as [label, child, ...], where anything may stand in place of labels and children."""
    if depth == 0 or choices.number(0, 3) == 3:
        return choices.one_of(["word", "", None, 7, 0.5, True, {}, ["list of strings"]])
    if choices.number(0, 3) == 3:
        return ["NN", "word"]
    children = choices.some(lambda: nltk_case(choices, depth - 1), 3)
    return [choices.one_of(["NP", "S", "", 3, None]), *children]


def check_nltk(case: Any) -> None:
    """Expect the same tree back, or a ValueError that says what was expected."""
    from nltk.tree import Tree as NltkTree

    def build(value: Any) -> Any:
        return NltkTree(value[0], list(map(build, value[1:]))) if isinstance(value, list) else value

    theirs = build(case)
    try:
        tree = from_nltk(theirs)
    except ValueError as error:
        expect("Expected" in str(error), f"what was expected? {error!r}")
        return
    expect(to_nltk(tree) == theirs, "another tree")


# Constraints -------------------------------------------------------------------------------------


def constraints_case(choices: Choices) -> dict[str, Any]:
    """Make words, and spans of which some are none of the sentence."""
    words = [choices.one_of(WORDS) for _ in range(choices.number(1, 6))]

    def span() -> list[Any]:
        return [choices.number(-1, len(words)), choices.number(0, len(words) + 1)]

    def labelled() -> list[Any]:
        return [*span(), choices.one_of(LABELS)]

    spans = {name: choices.some(labelled, 3) for name in ("required", "forbidden")}
    return {"words": words, **spans, "whole": choices.some(span, 2)}


@cache
def _parsers() -> list[Any]:
    from fuzz import models

    return [Parser(models.KINDS["em"].make()), IncrementalParser(models.KINDS["isbn"].make(), search=models.BEAM)]


def check_constraints(case: dict[str, Any]) -> None:
    """Expect a tree that satisfies constraints or says that it does not, or an error on spans outside of a sentence."""
    words, n = case["words"], len(case["words"])
    names = ("required", "forbidden", "whole")
    constraints = Constraints(*(tuple(map(tuple, case[name])) for name in names))
    fits = all(0 <= span[0] < span[1] <= n for name in names for span in case[name])
    for parser in _parsers():
        try:
            parse = parser.parse(Query(words, constraints=constraints))
        except ValueError as error:
            expect(not fits and "Expected constraints on spans within" in str(error), f"refused: {error}")
            continue
        expect(fits, "spans that are none of the sentence were taken")
        expect(parse.tree.words == words, "a tree of other words")
        expect(bool(np.all((parse.span_scores >= 0) & (parse.span_scores <= 1))), "scores that are no probabilities")
        expect(constraints.allow(parse.spans) == (parse.status != UNCONSTRAINED), f"a wrong status {parse.status}")
        kept = constraints.within(parser.posteriors(Query(words, constraints=constraints)).brackets)
        expect(all(0 <= p <= 1 for p in kept.values()), "brackets of no probability")


# Patterns ----------------------------------------------------------------------------------------

PIECES = ["NP", "/N(.)/#1%v", "__=x", "@a", "=x", "~x", "<", " >>", "$++", "<2", ",+(!a)", "!", "?", "|", "&", "(", ")"]
TREE = Tree("S", [Tree("NP", [Tree("NN", word="a")]), Tree("VP", word="a")])


def pattern_case(choices: Choices) -> str:
    """Join pieces of patterns, and any text."""
    return "".join(choices.one_of(PIECES) for _ in range(choices.number(1, 9))) + choices.text(2)


def check_pattern(case: str) -> None:
    """Expect the same nodes in both ways of asking, or an error with the column."""
    index = TreeIndex.from_trees([TREE, TREE])
    try:
        pattern = TreePattern(case)
    except PatternError as error:
        expect(
            error.message.startswith("Expected ") and 1 <= error.column <= len(case) + 1, f"what, and where? {error!r}"
        )
        return
    found = [match.node.number for match in index.search(pattern)]
    expect(sorted({*found}) == index.nodes(pattern).tolist(), "other nodes")


# Grammars of NLTK --------------------------------------------------------------------------------

PRODUCTIONS = [
    "S -> A B [1.0]",
    "S -> A S [0.5]",
    "| A B [.5]",
    "A -> 'a' [1]",
    'B -> "b" [1.0]',
    "R -> S [1.0]\n",
    "A",
]


def pcfg_case(choices: Choices) -> str:
    """Join productions, one a line or not, and any text."""
    return "".join(choices.one_of([*PRODUCTIONS, "\n", "\n"]) for _ in range(choices.number(1, 12))) + choices.text(2)


def check_pcfg(case: str) -> None:
    """Expect a grammar that parses its words and has the text of the same grammar, or an error of one line."""
    try:
        grammar = grammar_from_pcfg(case)
    except ModelError as error:
        expect("\n" not in str(error), f"several lines: {error}")
        return
    parse = Parser(grammar).parse(["a", "b"])
    expect(parse.tree.words == ["a", "b"], "a tree of other words")
    expect(grammar_from_pcfg(pcfg_text(grammar)).n_rules == grammar.n_rules, "another grammar is read back")


TARGETS = {
    "pcfg": Target(pcfg_case, check_pcfg),
    "patterns": Target(pattern_case, check_pattern),
    "exchange": Target(nltk_case, check_nltk),
    "constraints": Target(constraints_case, check_constraints),
}
