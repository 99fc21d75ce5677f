"""Patterns are read as Tregex reads them, and mistakes told with their column."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from paths import ROOT

from spacy_lpcfg.queries import PatternError, TreeIndex, TreePattern
from spacy_lpcfg.queries.pattern import _CONVERSES as CONVERSES
from spacy_lpcfg.queries.pattern import MAX_NESTING, MAX_NODES, SYMBOLS
from spacy_lpcfg.trees import parse_trees

TREES = list(parse_trees("(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (PRP it))))\n(A (B b))"))

WRONG = [
    ("", 1, "a node such as"),
    ("NP <", 5, "a node such as"),
    ("NP < (PP", 9, "or ) for the ( of column 6, got the end"),
    ("NP < [PP]", 6, "a node such as"),
    ("NP [< PP", 9, "or ] for the [ of column 4"),
    ("NP )", 4, "the end of the pattern, got ')'"),
    ("NP PP", 4, "got 'PP'"),
    ("NP <0 PP", 4, "a number from 1"),
    ("NP !< PP=x", 10, "no name below a negation"),
    ("NP=x < PP=x", 11, "a name that no other node has"),
    ("NP < =x", 7, "the name of a node before"),
    ("NP [< A=x | < =x]", 16, "the name of a node before"),
    ("NP < ~x", 7, "the name of a node before"),
    ("NP=", 4, "a name after ="),
    ("NP < /(/", 6, "a regular expression (missing )"),
    ("/(?:a{999}){999}/", 1, "its counted repeats make it longer than 1,000,000 characters"),
    ("/a(b)/#2%x", 8, "a group of the 1"),
    ("NP#1%x", 4, "a group of the 0"),
    ("!/(a)/#1%x", 8, "a group of the 0"),
    ("/(a)/#1 x", 9, "% and a variable"),
    ("NP <+ (A < B) C", 10, "for the ( of column 7"),
    ("NP <... A", 9, "{ after <..."),
    ("NP <... { A", 12, "; or }"),
    ("NP !?< PP", 5, "a relation such as"),
    ("NP\n  $$ PP", 7, "a node such as"),
    ("1 < 2", 1, "a node such as"),
    ("(" * 50 + "NP", MAX_NESTING + 1, "at most 40 brackets"),
    ("NP " + "!" * 50 + "< PP", MAX_NESTING + 4, "at most 40 brackets and negations"),
    ("NP" + " < PP" * MAX_NODES, 1 + 5 * MAX_NODES, "at most 64 nodes"),
]


@pytest.mark.parametrize(("text", "column", "message"), WRONG)
def test_pattern_errors_say_what_was_expected_and_where(text, column, message):
    with pytest.raises(PatternError, match=re.escape(message)) as caught:
        TreePattern(text)
    assert (caught.value.column, caught.value.pattern) == (column, text)
    first, *rest = str(caught.value).split(" at column ")[-1].splitlines()
    line, caret = rest
    assert first == f"{column}:"
    place = len(caret) - 1
    assert caret == " " * place + "^"
    assert line[place : place + 1] == re.sub(r"\s", " ", text)[column - 1 : column]


ALIKE = """
A < B < C / A [< B & < C]
A < (B) $ C / (A < (B)) $ C
A < B | < C & < D / A [< B | [< C < D]]
A<,B / A <1 B
A<-1B / A <- B
A>`B / A >-1 B
A <<` B / A <<- B
A $.. B $,, C $. D $, E / A $++ B $-- C $+ D $- E
A !!< B / A ![!< B]
A <+[!@B] C / A <+(!@B) C
A <+/b/ C / A <+(/b/) C
A <... {} / A !<1 __
A=x < =x / A=y < =y
@A|B / @/^(A|B)$/
"""


@pytest.mark.parametrize("patterns", ALIKE.strip().splitlines())
def test_pattern_has_other_ways_to_be_written(patterns):
    one, other = patterns.split(" / ")
    assert _shape(one) == _shape(other) or _found(one) == _found(other)


def _shape(text: str) -> list:
    """Return the parts of a pattern, conjunctions as one."""

    def of_part(part) -> list:
        below = [each for inner in part.parts for each in of_part(inner)]
        return below if part.kind == "all" else [(part.kind, part.relation, part.test, below)]

    return [of_part(root) for root in TreePattern(text).roots]


def _found(text: str) -> list[int]:
    return TreeIndex.from_trees(TREES).nodes(text).tolist()


def test_pattern_knows_the_symbols_of_the_documentation():
    documented = (
        "<< >> < > <<< $ .. . ,, , <<, <<- >>, >>- <, >, <- >- <` >` <: >: <<: >>: $++ $-- $+ $- $.. $,, $. $, <+"
    )
    documented += " >+ .+ ,+ <<# >># <# ># == <= :"
    assert {*documented.split()} <= {*SYMBOLS}
    assert {*SYMBOLS} - {*documented.split()} == {"<<`", ">>`"}
    assert all(CONVERSES[CONVERSES[symbol]] == symbol for symbol in CONVERSES)


def test_pattern_symbols_are_in_the_table_of_the_page():
    """Relations to nodes above A are named by those to nodes below."""
    page = (ROOT / "docs" / "search.md").read_text("utf-8")
    table = page[page.index("| A to B |") : page.index("## What differs")]
    named = {code.strip().removesuffix("(C)") for pair in re.findall(r"``(.+?)``|`([^`]+)`", table) for code in pair}
    assert {symbol for symbol in SYMBOLS if not {symbol, symbol.replace(">", "<")} & named} == set()


@given(st.text("NP <>$.,:=!?@|&#%~()[]{};_/1-+`x", max_size=30) | st.text(max_size=10))
@example("NP\x00")
@example("\ud800 < A")
@example("/" + "(" * 3000 + "/")
@example("NP <99999999999 B")
@example("/a{1,99999999999999999999}/")
def test_pattern_of_any_text_is_one_or_an_error(text):
    try:
        pattern = TreePattern(text)
    except PatternError as error:
        columns = [error.column]
    else:
        columns = []
        list(TreeIndex.from_trees(TREES).search(pattern))
    assert all(1 <= column <= len(text) + 1 for column in columns)
